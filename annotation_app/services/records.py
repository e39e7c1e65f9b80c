"""Submitting a record: once per submission id, on the version it builds on, inside the grace period.

Locks: the study row FOR SHARE, then the assignment FOR UPDATE; a change of phase takes them in the same order.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from annotation_app import signals
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Draft, Erratum, Membership, OwnCluster, Record, Study
from annotation_app.record_schema import FieldError, Payload, read_fields
from annotation_app.services.assignments import require_coding
from annotation_app.services.contexts import context_of, new_cluster_in
from annotation_app.services.forms import form_of
from blinding import clock, entropy
from blinding.events import record_event


@dataclass(frozen=True)
class Receipt:
    """What a coder gets: never the record itself."""

    record_id: UUID
    version: int
    submitted_at: datetime
    revisable_until: datetime | None
    replayed: bool = False


@dataclass(frozen=True)
class Submission:
    """What was sent. `base_version` 0 or None: nothing was submitted before."""

    fields: dict[str, Any]
    submission_id: str | None = None
    base_version: int | None = None
    active_seconds: int = 0
    idle_seconds: int = 0


def submit_record(*, membership: Membership, uid: UUID, submission: Submission) -> Receipt:
    """Store a submission as the next version of the record of assignment `uid` and return its receipt.

    A known submission id gives the same receipt again. Raises Absent, Refused (with the current version) for another
    base, after the grace period or on a closed item, Invalid with status 422 for fields that break the schema or a rule.
    """
    require_coding(membership)
    with transaction.atomic():
        item = _locked(membership, uid)
        if (known := _replayed(item, submission.submission_id)) is not None:
            return known
        _require_open(item)
        _require_base(item, submission.base_version or 0)
        payload = _read(membership.study, item, submission.fields)
        return _store(membership, item, payload, submission)


def report_erratum(*, membership: Membership, uid: UUID, text: str) -> None:
    """Note a mistake in a record that is final already; the record stays."""
    if not text.strip():
        raise Invalid.at("text", "required", "Say what is wrong and what would be right.")
    with transaction.atomic():
        item = Assignment.objects.visible_to(membership).filter(pk=uid, submitted_at__isnull=False).first()
        if item is None:
            raise Absent
        if item.final_at is None:
            raise Refused("You can still change this record itself.", code="revisable")
        if not membership.study.is_writable:
            raise Refused("The data are locked; tell the project author.", code="locked")
        Erratum.objects.create(assignment=item, text=text.strip(), reported_at=clock.now())
        record_event("erratum_reported", study=membership.study_id, actor=membership.pk, subject=item.pk)


def finalise_due_records() -> int:
    """Make final, in one statement, every record whose grace period is over; return how many."""
    now = clock.now()
    due = Assignment.objects.filter(submitted_at__isnull=False, final_at=None, voided_at=None, revisable_until__lte=now)
    return due.exclude(slot="adjudicator").update(final_at=now)


def _locked(membership: Membership, uid: UUID) -> Assignment:
    with connection.cursor() as cursor:
        cursor.execute("SELECT phase FROM annotation_app_study WHERE id = %s FOR SHARE", [membership.study_id])
        membership.study.phase = cursor.fetchone()[0]
    require_coding(membership)
    item = (
        Assignment.objects.visible_to(membership)
        .filter(pk=uid, served_at__isnull=False)
        .select_related("output__task", "output__cluster")
        .defer("output__text", "output__html")
        .select_for_update(of=["self"])
        .first()
    )
    if item is None:
        raise Absent
    return item


def _replayed(item: Assignment, submission_id: str | None) -> Receipt | None:
    if submission_id is None or not item.version:
        return None
    known = item.records.filter(submission_id=submission_id).first()
    if known is None:
        return None
    return Receipt(item.record_id, known.version, known.submitted_at, item.revisable_until, replayed=True)


def _require_open(item: Assignment) -> None:
    if item.voided_at is not None:
        raise Refused("This item was taken out of your list.", code="voided", version=item.version)
    if item.held_at is not None:
        raise Refused("This item is on hold. Go on with the next one.", code="held", version=item.version)
    over = item.revisable_until is not None and clock.now() >= item.revisable_until
    if item.final_at is not None or over:
        raise Refused(
            "The time to change this record is over. If it is wrong, report a correction from “My records”.",
            code="final",
            version=item.version,
        )


def _require_base(item: Assignment, base: int) -> None:
    if base != item.version:
        raise Refused(
            "This item was submitted from another window meanwhile. What you typed is kept; compare and submit again.",
            code="version_conflict",
            version=item.version,
        )


def _read(study: Study, item: Assignment, fields: dict[str, Any]) -> Payload:
    form = form_of(study, item.codebook_id)  # type: ignore[arg-type]
    read = read_fields(form, fields, context_of(item))
    if isinstance(read, list):
        raise Invalid([_error(e) for e in read], status=422)
    return read


def _error(error: FieldError) -> dict[str, str]:
    return {"field": error.field, "rule": error.rule, "message": error.message}


def _store(membership: Membership, item: Assignment, payload: Payload, submission: Submission) -> Receipt:
    now = clock.now()
    first = item.version == 0
    until = item.revisable_until or now + timedelta(minutes=float(membership.study.protocol["grace_minutes"]))
    try:
        Record.objects.create(
            assignment=item,
            version=item.version + 1,
            submission_id=submission.submission_id or entropy.uuid("submission", item.pk).hex,
            payload=payload.values,
            flagged=payload.flagged,
            flag_reason=payload.flag_reason,
            codebook_id=item.codebook_id,
            submitted_at=now,
            active_seconds=max(0, submission.active_seconds),
            idle_seconds=max(0, submission.idle_seconds),
        )
    except IntegrityError as fault:  # a rule of the database: the phase or the item changed under us
        raise Refused("This item is closed.", code="closed", version=item.version) from fault
    Assignment.objects.filter(pk=item.pk).update(version=item.version + 1, submitted_at=now, revisable_until=until)
    Draft.objects.filter(pk=item.pk).delete()
    if (code := new_cluster_in(payload.values)) is not None:
        OwnCluster.objects.get_or_create(member=membership, task_id=item.output.task_id, code=code)
    if first and item.position is not None:
        counter = "calibration_submitted" if item.calibration else "main_submitted"
        Membership.objects.filter(pk=membership.pk).update(**{counter: F(counter) + 1})
    item.version, item.submitted_at, item.revisable_until = item.version + 1, now, until
    record_event("record_submitted", study=membership.study_id, actor=membership.pk, subject=item.pk, facts={"version": item.version})
    signals.record_submitted.send(sender=Assignment, assignment=item)
    return Receipt(item.record_id, item.version, now, until)
