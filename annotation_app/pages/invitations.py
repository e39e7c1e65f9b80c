"""The page behind an invitation's link: for whom it is, a password to choose, or why the link does not work."""

from typing import Any

from django import forms
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.pages.shell import render_page
from annotation_app.services.invitations import accept_invitation, open_invitation

BACKEND = "annotation_app.sign_ins.People"
TEMPLATE = "annotation_app/invitation.html"
WHAT_TO_DO = {
    "invitation_used": gettext_lazy(
        "If it was you, sign in with your user name and that password. If it was not, tell the person who invited you "
        "at once."
    ),
    "invitation_expired": gettext_lazy("Ask the person who invited you for a new link."),
}


class InvitationForm(forms.Form):
    password = forms.CharField(label=gettext_lazy("Password"), strip=False)
    again = forms.CharField(label=gettext_lazy("The same again"), strip=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("password") != data.get("again"):
            self.add_error("again", _("The two do not match."))
        return data


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Choose a password; the link works once."""
    try:
        opened = open_invitation(secret=secret)
        form = InvitationForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and _is_accepted(request, secret, form):
            return redirect("home")
    except Absent:
        return _dead_link(request)
    except Refused as fault:
        return _refused(request, fault.reason, str(WHAT_TO_DO[fault.code]), fault.status)
    context = {"form": form, "username": opened.username, "valid_until": opened.valid_until}
    return render_page(request, TEMPLATE, context, status=422 if form.errors else 200)


def _is_accepted(request: HttpRequest, secret: str, form: InvitationForm) -> bool:
    try:
        user = accept_invitation(secret=secret, password=form.cleaned_data["password"])
    except Invalid as fault:
        for error in fault.errors:
            form.add_error("password", error["message"])
        return False
    login(request, user, backend=BACKEND)
    return True


def _dead_link(request: HttpRequest) -> HttpResponse:
    what_to_do = _(
        "It may be incomplete, replaced by a newer one, or withdrawn. Copy it again as a whole; if that does not help, "
        "ask the person who invited you for a new link."
    )
    return _refused(request, _("This link does not work."), what_to_do, 404)


def _refused(request: HttpRequest, reason: str, what_to_do: str, status: int) -> HttpResponse:
    context = {"reason": reason, "what_to_do": what_to_do}
    return render_page(request, TEMPLATE, context, status=status)
