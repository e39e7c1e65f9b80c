"""The study's key: the project author adds the second half, both holders may change their passphrase."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.keys import (
    add_second_half,
    change_passphrase,
    key_is_complete,
    recover_passphrase,
)
from blinding.policy import KEY_HOLDERS, Phase, Role

PROOFS = {"change": "old", "recover": "code"}  # by act: what shows that the half is one's own


class PassphraseForm(forms.Form):
    """A new passphrase, typed twice."""

    passphrase = forms.CharField(label=gettext_lazy("Passphrase"), strip=False)
    passphrase_again = forms.CharField(label=gettext_lazy("The same again"), strip=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("passphrase") != data.get("passphrase_again"):
            self.add_error("passphrase_again", _("The two do not match."))
        return data


class RenewalForm(forms.Form):
    """A new passphrase for who has the present one, or the code of the recovery sheet."""

    old = forms.CharField(label=gettext_lazy("Present passphrase"), required=False, strip=False)
    code = forms.CharField(label=gettext_lazy("Code on the recovery sheet"), required=False)
    new = forms.CharField(label=gettext_lazy("New passphrase"), strip=False)
    new_again = forms.CharField(label=gettext_lazy("The same again"), strip=False)
    partner = forms.CharField(
        label=gettext_lazy("Passphrase of the project author"), required=False, strip=False
    )

    def __init__(self, data: Any = None, *, proof: str) -> None:
        super().__init__(data, auto_id=f"id_{proof}_%s")
        self.fields[proof].required = True
        self.proof = proof

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("new") != data.get("new_again"):
            self.add_error("new_again", _("The two do not match."))
        return data


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@member_page
def key(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role not in KEY_HOLDERS:
        raise Absent
    act = request.POST.get("do", "")
    if act == "add":
        return _add(request, membership)
    if act in PROOFS:
        return _renew(request, membership, RenewalForm(request.POST, proof=PROOFS[act]))
    return _page(request, membership)


def recovery_sheet_page(
    request: HttpRequest, membership: Membership, *, sheet: str, half_label: str
) -> HttpResponse:
    """Show a recovery sheet, this once: it is in this answer and nowhere else."""
    context = {"recovery_sheet": sheet, "half_label": half_label}
    return render_page(request, "annotation_app/recovery_sheet.html", context, membership=membership)


def _add(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = PassphraseForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form=form, status=422)
    try:
        sheet = add_second_half(membership=membership, passphrase=form.cleaned_data["passphrase"])
    except Invalid as fault:
        return _page(request, membership, form=form, status=show_fault(form, fault))
    half = _("the project author’s, around the admin’s")
    return recovery_sheet_page(request, membership, sheet=sheet, half_label=half)


def _renew(request: HttpRequest, membership: Membership, form: RenewalForm) -> HttpResponse:
    if not form.is_valid():
        return _page(request, membership, renewal=form, status=422)
    given = form.cleaned_data
    new, partner = given["new"], given["partner"] or None
    try:
        if form.proof == "old":
            change_passphrase(membership=membership, old=given["old"], new=new, partner=partner)
        else:
            recover_passphrase(membership=membership, code=given["code"], new=new, partner=partner)
    except (Invalid, Refused) as fault:
        if not _shown(membership)["may_change"]:
            raise
        status = show_fault(form, fault, names={"passphrase": "new"})
        return _page(request, membership, renewal=form, status=status)
    messages.success(request, _("Your passphrase is changed. The recovery sheet stays valid."))
    return redirect("key", membership.study.slug)


def _page(
    request: HttpRequest,
    membership: Membership,
    *,
    form: PassphraseForm | None = None,
    renewal: RenewalForm | None = None,
    status: int = 200,
) -> HttpResponse:
    renewals = {proof: RenewalForm(proof=proof) for proof in PROOFS.values()}
    if renewal is not None:
        renewals[renewal.proof] = renewal
    context = {
        "key": _shown(membership),
        "form": form or PassphraseForm(),
        "change_form": renewals["old"],
        "recover_form": renewals["code"],
    }
    return render_page(
        request, "annotation_app/key.html", context, membership=membership, here="key", status=status
    )


def _shown(membership: Membership) -> dict[str, Any]:
    early = membership.study.phase in (Phase.SETUP, Phase.TRAINING)
    layered = key_is_complete(membership)
    is_author = membership.role == Role.PROJECT_AUTHOR
    complete = layered or not early  # during an unblinding the outer layer is off for a while
    return {
        "turn": "" if complete else str(Role.PROJECT_AUTHOR),
        "complete": complete,
        "may_add": is_author and not complete,
        "may_change": layered or not is_author,
        "partner_needed": layered and not is_author,
    }
