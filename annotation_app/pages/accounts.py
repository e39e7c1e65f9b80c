"""Signing in and out, invitations, one's own account: password, token, data."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from knox.models import AuthToken

from annotation_app.errors import Invalid, TooOften
from annotation_app.models import Membership
from annotation_app.pages.labels import ROLES
from annotation_app.pages.shell import render_page, signed_in
from annotation_app.services.demonstration import shown_sign_ins
from annotation_app.services.members import accept_invitation, set_password
from annotation_app.services.personal_data import personal_data
from annotation_app.services.sign_in import authenticated, fits


class SignInForm(forms.Form):
    username = forms.CharField(label=gettext_lazy("User name"))
    password = forms.CharField(label=gettext_lazy("Password"), strip=False)


class InvitationForm(forms.Form):
    password = forms.CharField(label=gettext_lazy("Password"), strip=False)
    again = forms.CharField(label=gettext_lazy("The same again"), strip=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("password") != data.get("again"):
            self.add_error("again", _("The two do not match."))
        return data


class PasswordForm(forms.Form):
    old_password = forms.CharField(label=gettext_lazy("Present password"), strip=False)
    new_password = forms.CharField(label=gettext_lazy("New password"), strip=False)

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        self.user = user

    def clean_old_password(self) -> str:
        if not fits(self.user, self.cleaned_data["old_password"]):
            raise ValidationError(_("This is not your present password."))
        return str(self.cleaned_data["old_password"])

    def clean_new_password(self) -> str:
        validate_password(self.cleaned_data["new_password"], self.user)
        return str(self.cleaned_data["new_password"])


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    target = _safe(request, request.POST.get("next") or request.GET.get("next") or "")
    form = SignInForm(request.POST or None)
    pause: TooOften | None = None
    if request.method == "POST":
        try:
            user = authenticated(request, **form.cleaned_data) if form.is_valid() else None
        except TooOften as fault:
            user, pause = None, fault
        if user is not None:
            login(request, user)
            return _onward(request, target or "/")
        if not form.errors:
            form.add_error(None, pause.reason if pause else _("Name and password do not fit together."))
    elif request.user.is_authenticated:
        return redirect(target or "/")
    context = {
        "form": form,
        "next": target,
        "sign_ins": shown_sign_ins(),
        "pause": pause.reason if pause else "",
    }
    status = pause.status if pause else 422 if form.errors else 200
    response = render_page(request, "annotation_app/sign_in.html", context, here="sign-in", status=status)
    for name, value in (pause.headers if pause else {}).items():
        response.headers[name] = value
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    response = redirect("sign-in")
    response.headers["Clear-Site-Data"] = '"storage"'
    return response


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Choose a password; the link works once."""
    form = InvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = accept_invitation(secret=secret, password=form.cleaned_data["password"])
        except Invalid as fault:
            for error in fault.errors:
                form.add_error("password", error["message"])
        else:
            login(request, user, backend="annotation_app.sign_ins.People")
            return redirect("home")
    return render_page(
        request,
        "annotation_app/invitation.html",
        {"form": form, "username": ""},
        status=422 if form.errors else 200,
    )


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@signed_in
def account(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    act = request.POST.get("do", "")
    if act == "data":
        body = json.dumps(personal_data(user), indent=2, default=str)
        return HttpResponse(
            body,
            content_type="application/json",
            headers={"Content-Disposition": 'attachment; filename="my-data.json"'},
        )
    form = PasswordForm(user, request.POST if act == "password" else None)
    if act == "password" and form.is_valid():
        set_password(user, form.cleaned_data["new_password"])
        update_session_auth_hash(request, user)
        messages.success(request, _("The password is changed. Tokens made before do not work any more."))
        return redirect("account")
    token = _new_token(user) if act == "token" else ""
    context = {"memberships": _memberships(user), "password_form": form, "token": token}
    return render_page(
        request, "annotation_app/account.html", context, here="account", status=422 if form.errors else 200
    )


def _new_token(user: User) -> str:
    AuthToken.objects.filter(user=user).delete()
    return str(AuthToken.objects.create(user=user)[1])


def _memberships(user: User) -> list[dict[str, str]]:
    rows = Membership.objects.current().filter(user=user).select_related("study").order_by("study__title")
    return [
        {"slug": m.study.slug, "title": m.study.title, "role_label": str(ROLES[m.role]), "alias": m.alias}
        for m in rows
    ]


def _safe(request: HttpRequest, target: str) -> str:
    allowed = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if allowed else ""


def _onward(request: HttpRequest, target: str) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return redirect(target)
