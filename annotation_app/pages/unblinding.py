"""The ceremony of unblinding: the project author asks, the admin answers, a job opens the seals."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.unblinding_shown import unblinding_shown
from annotation_app.services.unblinding import (
    approve_unblinding,
    open_request,
    refuse_request,
    request_unblinding,
    requests_of,
    withdraw_request,
)
from blinding.models import UnblindingRequest
from blinding.policy import Role


class RequestForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=2000)
    password = forms.CharField(label=gettext_lazy("Your password"), strip=False)
    passphrase = forms.CharField(label=gettext_lazy("Your passphrase"), strip=False)


class ApprovalForm(forms.Form):
    password = forms.CharField(label=gettext_lazy("Your password"), strip=False)
    passphrase = forms.CharField(label=gettext_lazy("Your passphrase"), strip=False)
    confirmed = forms.BooleanField(label=gettext_lazy("Read and approved"))


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@member_page
def unblinding(request: HttpRequest, membership: Membership) -> HttpResponse:
    requests = requests_of(membership=membership)
    if request.method == "POST":
        act = _ACTS.get((Role(membership.role), request.POST.get("do", "")))
        if act is None:
            raise Absent
        return act(request, membership)
    if request.headers.get("HX-Request"):
        return _progress(request, membership, requests)
    return _page(request, membership, None)


def _ask(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = RequestForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    given = form.cleaned_data
    try:
        request_unblinding(
            membership=membership,
            reason=given["reason"],
            passphrase=given["passphrase"],
            password=given["password"],
        )
    except (Invalid, Refused) as fault:
        if open_request(membership.study_id) is not None:
            raise
        return _page(request, membership, form, status=show_fault(form, fault))
    messages.success(request, _("Asked for. The admin has 24 hours to answer."))
    return redirect("unblinding", membership.study.slug)


def _approve(request: HttpRequest, membership: Membership) -> HttpResponse:
    uid = _waiting(membership).pk
    form = ApprovalForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    given = form.cleaned_data
    try:
        approve_unblinding(
            membership=membership,
            uid=uid,
            passphrase=given["passphrase"],
            password=given["password"],
        )
    except Refused as fault:
        if fault.code == "not_waiting":
            raise
        return _page(request, membership, form, status=show_fault(form, fault))
    return redirect("unblinding", membership.study.slug)


def _withdraw(request: HttpRequest, membership: Membership) -> HttpResponse:
    withdraw_request(membership=membership, uid=_waiting(membership).pk)
    messages.success(request, _("The request is taken back; both layers are around the key again."))
    return redirect("unblinding", membership.study.slug)


def _refuse(request: HttpRequest, membership: Membership) -> HttpResponse:
    reason = text_in(request.POST, "reason")
    try:
        refuse_request(membership=membership, uid=_waiting(membership).pk, reason=reason)
    except Invalid as fault:
        messages.error(request, str(fault))
    else:
        messages.success(request, _("Refused. Both layers are around the key again."))
    return redirect("unblinding", membership.study.slug)


def _waiting(membership: Membership) -> UnblindingRequest:
    found = open_request(membership.study_id)
    if found is None:
        raise Refused(_("There is no request to answer."), code="not_waiting")
    return found


def _progress(
    request: HttpRequest, membership: Membership, requests: list[UnblindingRequest]
) -> HttpResponse:
    """The steps of a running job; once it has ended, the whole page again."""
    shown = unblinding_shown(membership, requests)
    if not shown["job"]["live"]:
        return HttpResponseClientRefresh()
    template = "annotation_app/unblinding.html#progress"
    return render_page(request, template, {"unblinding": shown}, membership=membership)


def _page(
    request: HttpRequest, membership: Membership, form: forms.Form | None, *, status: int = 200
) -> HttpResponse:
    form = form or (RequestForm() if membership.role == Role.PROJECT_AUTHOR else ApprovalForm())
    shown = unblinding_shown(membership, requests_of(membership=membership))
    context: dict[str, Any] = {"unblinding": shown, "form": form}
    return render_page(
        request,
        "annotation_app/unblinding.html",
        context,
        membership=membership,
        here="unblinding",
        status=status,
    )


_ACTS = {
    (Role.PROJECT_AUTHOR, "request"): _ask,
    (Role.PROJECT_AUTHOR, "withdraw"): _withdraw,
    (Role.ADMIN, "approve"): _approve,
    (Role.ADMIN, "refuse"): _refuse,
}
