"""The evidence of the blind: what was committed to at each release, receipts of outside timestamps, the policy's lines."""

from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.shell import member_page, only_for, render_page
from annotation_app.services.bundles.policy import Evidence, PolicyLine
from annotation_app.services.commitments import (
    READERS,
    RECEIPT_MAX,
    CommitmentRow,
    attach_receipt,
    commitments_of,
)
from annotation_app.services.evidence import policy_of
from blinding.policy import KEY_HOLDERS


class ReceiptForm(forms.Form):
    """The receipt of an outside timestamp for one batch."""

    batch = forms.UUIDField(label=gettext_lazy("Batch"))
    digest = forms.CharField(label=gettext_lazy("Digest that was stamped"), required=False, max_length=80)
    file = forms.FileField(label=gettext_lazy("Receipt"))


@require_http_methods(["GET", "POST"])
@member_page
@only_for(*READERS)
def evidence(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method != "POST":
        return _page(request, membership, ReceiptForm())
    if membership.role not in KEY_HOLDERS:
        raise Absent
    form = ReceiptForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    try:
        _attach(membership, form.cleaned_data)
    except (Invalid, Refused) as fault:
        return _page(request, membership, form, status=show_fault(form, fault))
    messages.success(request, _("The receipt is attached."))
    return redirect("evidence", membership.study.slug)


def _attach(membership: Membership, given: dict[str, Any]) -> None:
    receipt = given["file"].read(RECEIPT_MAX + 1)
    attach_receipt(membership=membership, batch=given["batch"], receipt=receipt, digest=given["digest"])


def _page(
    request: HttpRequest, membership: Membership, form: ReceiptForm, *, status: int = 200
) -> HttpResponse:
    rows = commitments_of(membership=membership)
    lines = policy_of(membership=membership)
    context = {
        "commitments": [_commitment(row, membership.study.slug) for row in rows],
        "waiting": [{"value": str(row.batch), "label": row.name} for row in rows if row.receipt_at is None],
        "may_attach": membership.role in KEY_HOLDERS,
        "form": form,
        "policy": [_line(line) for line in lines],
    }
    template = "annotation_app/evidence.html"
    return render_page(request, template, context, membership=membership, here="evidence", status=status)


def _commitment(row: CommitmentRow, slug: str) -> dict[str, Any]:
    return asdict(row) | {"url": reverse("batch-commitment", args=[slug, row.batch])}


def _line(line: PolicyLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "value": str(line.value).lower() if isinstance(line.value, bool) else line.value,
        "claim": line.claim,
        "kept": line.kept,
        "evidence": [_shown(item) for item in line.evidence],
    }


def _shown(item: Evidence) -> dict[str, Any]:
    return {"what": item.what, "count": item.count, "hash": item.hash or item.test or item.event}
