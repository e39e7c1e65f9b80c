"""The coder's item: page, draft, record, skip, recognised. Built from the projection of one's own assignment."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation_app.api.assignments import draft_kept, json_object
from annotation_app.errors import Invalid, Refused
from annotation_app.models import Assignment, Membership
from annotation_app.pages.forms_shown import codebook_shown, form_shown
from annotation_app.pages.posted import json_body, text_in, whole_in
from annotation_app.pages.reading import reading, warning_before
from annotation_app.pages.shell import member_page, only_for, render_page
from annotation_app.projections import AssignmentView, submitted_fields
from annotation_app.services.assignments import next_assignment, own_assignment, skip_assignment
from annotation_app.services.exposures import opt_out, recognise
from annotation_app.services.guesses import are_guesses_coming, guesses_due
from annotation_app.services.proposals import is_shown_later, proposal_of
from annotation_app.services.records import Submission, report_erratum, submit_record
from blinding import clock, entropy
from blinding.policy import CODERS, Role

BESIDE = (
    "csrfmiddlewaretoken",
    "submission_id",
    "base_version",
    "draft_version",
    "active_seconds",
    "idle_seconds",
    "do",
)


@require_GET
@member_page
def annotate(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The next item, or what comes instead of one."""
    try:
        item = next_assignment(membership=membership)
    except Refused as fault:
        if fault.code == "practice_first":
            return redirect("practice", membership.study.slug)
        if fault.code != "not_coding":
            raise
        early = membership.study.phase in ("setup", "training")
        return _nothing(request, membership, "early" if early else "closed")
    if item is None:
        return _nothing(request, membership, "done" if _total(membership) else _why_empty(membership))
    return _page(request, membership, item)


@require_http_methods(["GET", "POST"])
@member_page
@only_for(*CODERS)
def item(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """One of the coder's own items: to code, to revise, or to read once it is final."""
    if request.method == "POST":
        return _submit(request, membership, uid)
    found = own_assignment(membership=membership, uid=uid)
    return (
        _page(request, membership, found)
        if _is_open(found, membership)
        else _read_only(request, membership, found)
    )


@require_http_methods(["PUT", "POST"])
@member_page
@only_for(*CODERS)
def draft(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Keep what was typed; the answer is the draft's new version."""
    body = json_body(request)
    return JsonResponse(draft_kept(membership, uid, body, json_object(body.get("fields"), "fields")))


@require_POST
@member_page
def skip(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Put an item at the end, or give it to somebody else."""
    if request.POST.get("how") == "opt_out":
        opt_out(membership=membership, uid=uid)
    else:
        skip_assignment(membership=membership, uid=uid)
    return _onward(request, reverse("annotate", args=[membership.study.slug]))


@require_POST
@member_page
@only_for(*CODERS, Role.ADJUDICATOR)
def recognised(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    how = request.POST.get("how", "")
    recognise(membership=membership, uid=uid, how=how, what=text_in(request.POST, "what"))
    if membership.role == Role.ADJUDICATOR:
        return _onward(request, reverse("cases", args=[membership.study.slug]))
    if how == "hunch":
        return _onward(request, reverse("annotate-item", args=[membership.study.slug, uid]))
    return _onward(request, reverse("annotate", args=[membership.study.slug]))


def _submit(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    if request.POST.get("do") == "erratum":
        return _erratum(request, membership, uid)
    try:
        submit_record(membership=membership, uid=uid, submission=_submission(request))
    except Invalid as fault:
        found = own_assignment(membership=membership, uid=uid)
        return _page(request, membership, found, typed=typed_in(request), fault=fault)
    return _onward(request, reverse("annotate", args=[membership.study.slug]))


def _onward(request: HttpRequest, address: str) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


def _erratum(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    try:
        report_erratum(membership=membership, uid=uid, text=text_in(request.POST, "erratum"))
    except Invalid as fault:
        return _read_only(
            request, membership, own_assignment(membership=membership, uid=uid), error=str(fault)
        )
    return redirect("annotate-item", membership.study.slug, uid)


def _submission(request: HttpRequest) -> Submission:
    posted = request.POST
    return Submission(
        fields=typed_in(request),
        submission_id=text_in(posted, "submission_id", 64) or None,
        base_version=whole_in(posted, "base_version"),
        active_seconds=whole_in(posted, "active_seconds"),
        idle_seconds=whole_in(posted, "idle_seconds"),
    )


def typed_in(request: HttpRequest) -> dict[str, Any]:
    """The posted answers by name: boxes that can be ticked together as a list, everything else as text."""
    fields: dict[str, Any] = {}
    for name, values in request.POST.lists():
        if name not in BESIDE:
            fields[name] = values[-1] if len(values) == 1 else values
    return fields


def _is_open(found: Assignment, membership: Membership) -> bool:
    over = found.revisable_until is not None and clock.now() >= found.revisable_until
    coding = membership.study.phase == ("training" if found.calibration else "coding") or (
        found.slot == "audit" and membership.study.phase == "review"
    )
    return (
        coding and found.final_at is None and found.voided_at is None and found.held_at is None and not over
    )


def _page(
    request: HttpRequest,
    membership: Membership,
    found: Assignment,
    typed: dict[str, Any] | None = None,
    fault: Invalid | None = None,
) -> HttpResponse:
    view = AssignmentView.of(found, membership)
    values = typed if typed is not None else _values(found, membership, view)
    form = form_shown(view.form, values, fault.errors if fault else [])
    context = {
        "item": _shown(found, membership, view, values, request),
        "form": form,
        "codebook": codebook_shown(membership, found, view.form),
    }
    partial = fault is not None and request.headers.get("HX-Request")
    template = "annotation_app/annotate.html#coding" if partial else "annotation_app/annotate.html"
    return render_page(
        request, template, context, membership=membership, here="annotate", status=422 if fault else 200
    )


def _values(found: Assignment, membership: Membership, view: AssignmentView) -> dict[str, Any]:
    if view.draft["version"]:
        return dict(view.draft["fields"])
    return submitted_fields(found, membership) if found.version else {}


def _shown(
    found: Assignment,
    membership: Membership,
    view: AssignmentView,
    values: dict[str, Any],
    request: HttpRequest,
) -> dict[str, Any]:
    draft = getattr(found, "draft", None)
    left = (
        (found.revisable_until - clock.now()).total_seconds()
        if found.version and found.revisable_until
        else 0
    )
    return {
        **reading(view, found.output.html),
        "warning": warning_before(found.output.task, membership.study.protocol),
        "uncovered": bool(view.draft["version"] or found.version or request.method == "POST"),
        "done": membership.calibration_submitted if found.calibration else membership.main_submitted,
        "calibration": found.calibration,
        "proposed_cluster": view.proposed_cluster or proposal_of(membership, found, values),
        "proposed_later": is_shown_later(membership),
        "submission_id": request.POST.get("submission_id") or str(entropy.uuid("submission", found.pk)),
        "base_version": found.version,
        "next_version": found.version + 1,
        "draft_version": view.draft["version"],
        "saved_at": draft.saved_at if draft else None,
        "active_seconds": draft.active_seconds if draft else 0,
        "idle_seconds": draft.idle_seconds if draft else 0,
        "submitted_at": found.submitted_at,
        "revisable_until": found.revisable_until,
        "revisable_seconds": max(0, int(left)),
    }


def _read_only(
    request: HttpRequest, membership: Membership, found: Assignment, error: str = ""
) -> HttpResponse:
    if not found.version:
        raise Refused(_("This item was taken out of your list."), code="voided")
    view = AssignmentView.of(found, membership)
    values = submitted_fields(found, membership)
    context = {
        "item": _shown(found, membership, view, values, request),
        "codebook": codebook_shown(membership, found, view.form),
        "answers": form_shown(view.form, values, [])["answers"],
        "reason": _("This record is final.")
        if found.final_at
        else _("This record can no longer be changed."),
        "errata": [
            {"text": e.text, "reported_at": e.reported_at} for e in found.errata.order_by("reported_at")
        ],
        "may_report": found.final_at is not None and membership.study.is_writable,
        "erratum_error": error,
    }
    return render_page(
        request,
        "annotation_app/record_read_only.html",
        context,
        membership=membership,
        status=422 if error else 200,
    )


def _nothing(request: HttpRequest, membership: Membership, reason: str) -> HttpResponse:
    grace = membership.study.protocol["grace_minutes"]
    context = {
        "reason": reason,
        "total": _total(membership),
        "grace_minutes": grace,
        "closing_later": reason == "done" and are_guesses_coming(membership=membership),
        "closing_due": reason == "done" and guesses_due(membership=membership) > 0,
    }
    return render_page(
        request, "annotation_app/annotate_done.html", context, membership=membership, here="annotate"
    )


def _why_empty(membership: Membership) -> str:
    """Say why a list holds nothing: no batch came yet, or everything in it was left to others."""
    met = Assignment.objects.visible_to(membership).filter(calibration=membership.study.phase == "training")
    return "left" if met.exists() else "empty"


def _total(membership: Membership) -> int:
    return membership.calibration_total if membership.study.phase == "training" else membership.main_total
