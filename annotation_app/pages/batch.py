"""One batch: its check, the review of what was found, its release, its commitment."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Batch, Finding, Membership
from annotation_app.pages.batch_shown import batch_shown, finding_shown, job_shown, release_shown
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, only_for, render_page
from annotation_app.projections import BatchView
from annotation_app.services.batches.own_terms import add_term, preview_term, remove_term
from annotation_app.services.batches.release import discard_batch, release_batch
from annotation_app.services.batches.review import decide_finding, findings_of
from annotation_app.services.batches.upload import batch_of
from annotation_app.services.commitments import manifest_bytes
from blinding.policy import Role
from blinding.redaction.spans import MASK


class ReleaseForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=2000)
    confirmed = forms.BooleanField(label=gettext_lazy("The list of terms"))


OWN_ID = "own-%s"  # the page has another form with a reason


class OwnTermForm(forms.Form):
    """A term that the redaction missed."""

    term = forms.CharField(label=gettext_lazy("Term to mask"), max_length=200)
    reason = forms.CharField(label=gettext_lazy("Reason to mask it"), max_length=500)


@require_http_methods(["GET", "POST"])
@member_page
def batch(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    if request.method == "POST":
        return _discard(request, membership, uid)
    return _page(request, membership, uid, ReleaseForm())


@require_GET
@member_page
def progress(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """The bar of a running job; once it has ended, the whole page again."""
    found = BatchView.of(batch_of(membership=membership, uid=uid))
    if not request.headers.get("HX-Request"):
        return redirect("batch", membership.study.slug, uid)
    job = job_shown(found)
    if not job["live"]:
        return HttpResponseClientRefresh()
    context = {"batch": {"uid": found.uid, "job": job}}
    return render_page(request, "annotation_app/batch.html#progress", context, membership=membership)


@require_POST
@member_page
@only_for(Role.ADMIN)
def finding(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Mask a term, or keep it; look for one of one's own, add it, take it out again."""
    if (act := request.POST.get("do", "")) in ("preview", "add", "remove"):
        return _own_term(request, membership, uid, act)
    accepted = request.POST.get("accepted", "")
    if accepted not in ("true", "false"):
        raise Invalid.at("accepted", "unknown", _("Say whether the term is masked."))
    decided = decide_finding(
        membership=membership,
        uid=uid,
        term=text_in(request.POST, "term"),
        kind=text_in(request.POST, "kind") or None,
        accepted=accepted == "true",
    )
    if not request.headers.get("HX-Request"):
        return redirect("batch", membership.study.slug, uid)
    context = {"batch": {"uid": uid}, "finding": finding_shown(decided)}
    return render_page(request, "annotation_app/batch.html#term", context, membership=membership)


@require_POST
@member_page
def release(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    found = batch_of(membership=membership, uid=uid)
    form = ReleaseForm(request.POST)
    form.fields["reason"].required = found.arms_warning
    if not form.is_valid():
        return _page(request, membership, uid, form, status=422)
    try:
        release_batch(membership=membership, uid=uid, reason=form.cleaned_data["reason"])
    except Refused as fault:
        if found.status != Batch.Status.IN_REVIEW:
            raise
        return _page(request, membership, uid, form, status=show_fault(form, fault))
    return redirect("batch", membership.study.slug, uid)


@require_GET
@member_page
def commitment(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """The bytes whose SHA-256 is the commitment's digest: what to have time-stamped."""
    manifest = manifest_bytes(membership=membership, batch=uid)
    headers = {"Content-Disposition": f'attachment; filename="commitment-{uid}.json"'}
    return HttpResponse(manifest, content_type="application/json", headers=headers)


def _own_term(request: HttpRequest, membership: Membership, uid: UUID, act: str) -> HttpResponse:
    if act == "remove":
        remove_term(membership=membership, uid=uid, term=text_in(request.POST, "term"))
        if request.headers.get("HX-Request"):
            return HttpResponseClientRefresh()
        return redirect("batch", membership.study.slug, uid)
    own = OwnTermForm(request.POST, auto_id=OWN_ID)
    own.fields["reason"].required = act == "add"
    if not own.is_valid():
        return _page(request, membership, uid, ReleaseForm(), own=own, status=422)
    term = own.cleaned_data["term"]
    try:
        if act == "preview":
            found = preview_term(membership=membership, uid=uid, term=term)
            return _page(request, membership, uid, ReleaseForm(), own=own, preview=found)
        add_term(membership=membership, uid=uid, term=term, reason=own.cleaned_data["reason"])
    except Invalid as fault:
        return _page(request, membership, uid, ReleaseForm(), own=own, status=show_fault(own, fault))
    messages.success(request, _("“%(term)s” is in the list and will be masked.") % {"term": term})
    return redirect("batch", membership.study.slug, uid)


def _discard(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    batch_of(membership=membership, uid=uid)
    if request.POST.get("do") != "discard":
        raise Absent
    discard_batch(membership=membership, uid=uid)
    messages.success(request, _("The batch is discarded; its ids can be used again."))
    return redirect("batches", membership.study.slug)


def _page(
    request: HttpRequest,
    membership: Membership,
    uid: UUID,
    form: ReleaseForm,
    *,
    own: OwnTermForm | None = None,
    preview: Finding | None = None,
    status: int = 200,
) -> HttpResponse:
    found = batch_of(membership=membership, uid=uid)
    findings = findings_of(membership=membership, uid=uid)
    context: dict[str, Any] = {
        "batch": batch_shown(BatchView.of(found), membership.study.slug, len(findings)),
        "findings": [finding_shown(one) for one in findings],
        "own": own or OwnTermForm(auto_id=OWN_ID),
        "preview": finding_shown(preview) if preview else None,
        "mask": MASK,
        "release": release_shown(found, membership.study) | {"form": form},
    }
    return render_page(
        request, "annotation_app/batch.html", context, membership=membership, here="batches", status=status
    )
