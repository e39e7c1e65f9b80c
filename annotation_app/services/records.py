"""Submitting a record: once per submission id, on the version it builds on, inside the grace period.

Two statements: one reads what the answers are judged by, the other stores them if all of that still holds. Locks: the
study row FOR SHARE, then the assignment FOR UPDATE; a change of phase takes them in the same order.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Erratum, Membership
from annotation_app.record_schema import FieldError, Payload, RecordContext, read_fields
from annotation_app.services.assignments import require_coder, require_coding
from annotation_app.services.contexts import new_cluster_in
from annotation_app.services.forms import form_of
from annotation_app.services.members import require_declaration
from annotation_app.services.statements import Statement
from blinding import clock, entropy
from blinding.events import record_event
from blinding.policy import Phase

ATTEMPTS = 3


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


class _Item(NamedTuple):
    """A served item as a submission finds it."""

    phase: str
    codebook: UUID
    calibration: bool
    version: int
    record_id: UUID
    voided: bool
    held: bool
    final: bool
    revisable_until: datetime | None
    task: UUID
    positive_control: bool
    classes: str
    proposed_cluster: str | None
    clusters: list[str]
    own_clusters: list[str]
    known_version: int | None
    known_at: datetime | None

    @property
    def context(self) -> RecordContext:
        return RecordContext(
            clusters=tuple(self.clusters),
            proposed_cluster=self.proposed_cluster,
            positive_control=self.positive_control,
            classes=tuple(json.loads(self.classes)),
            own_new_clusters=tuple(self.own_clusters),
        )


_READ = Statement("""
SELECT s.phase, a.codebook_id, a.calibration, a.version, a.record_id,
       a.voided_at IS NOT NULL, a.held_at IS NOT NULL, a.final_at IS NOT NULL, a.revisable_until,
       t.id, t.positive_control, t.classes, c.code,
       ARRAY(SELECT x.code FROM annotation_app_cluster x
              WHERE x.task_id = t.id AND x.batch = o.batch_id ORDER BY length(x.code), x.code),
       ARRAY(SELECT n.code FROM annotation_app_owncluster n
              WHERE n.member_id = a.member_id AND n.task_id = t.id ORDER BY length(n.code), n.code),
       r.version, r.submitted_at
  FROM annotation_app_assignment a
  JOIN annotation_app_study s ON s.id = a.study_id
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
  LEFT JOIN annotation_app_record r ON r.assignment_id = a.id AND r.submission_id = %(submission)s
 WHERE a.id = %(uid)s AND a.member_id = %(member)s AND a.served_at IS NOT NULL
""")

# All of a submission, or nothing where the item is not as it was read any more. The phase, finality and what else the
# rules of the database say of a record is left to them, and so is a new cluster's name that another window has taken.
# Everything builds on `record`, so that its rule meets the assignment as it was.
_STORE = Statement("""
WITH study AS (
    SELECT id FROM annotation_app_study WHERE id = %(study)s FOR SHARE
), item AS (
    SELECT a.* FROM study JOIN annotation_app_assignment a ON a.study_id = study.id
     WHERE a.id = %(uid)s AND a.member_id = %(member)s AND a.version = %(base)s AND a.held_at IS NULL
       AND (a.revisable_until IS NULL OR a.revisable_until > %(now)s)
       FOR UPDATE OF a
), record AS (
    INSERT INTO annotation_app_record (id, assignment_id, version, submission_id, payload, flagged, flag_reason,
                                       codebook_id, submitted_at, active_seconds, idle_seconds)
    SELECT %(record)s, id, version + 1, %(submission)s, %(payload)s::jsonb, %(flagged)s, %(flag_reason)s,
           codebook_id, %(now)s, %(active)s, %(idle)s FROM item
    RETURNING assignment_id, version
), changed AS (
    UPDATE annotation_app_assignment a
       SET version = record.version, submitted_at = %(now)s, revisable_until = coalesce(a.revisable_until, %(until)s)
      FROM record WHERE a.id = record.assignment_id
    RETURNING a.id, a.study_id, a.member_id, a.record_id, a.version, a.revisable_until, a.calibration, a.position
), no_draft AS (
    DELETE FROM annotation_app_draft d USING changed WHERE d.assignment_id = changed.id
), counted AS (
    UPDATE annotation_app_membership m
       SET main_submitted = m.main_submitted + (NOT changed.calibration)::int,
           calibration_submitted = m.calibration_submitted + changed.calibration::int
      FROM changed WHERE m.id = changed.member_id AND changed.version = 1 AND changed.position IS NOT NULL
), named AS (
    INSERT INTO annotation_app_owncluster (id, member_id, task_id, code)
    SELECT %(own_cluster)s::uuid, member_id, %(task)s, %(new_code)s FROM changed WHERE %(own_cluster)s::uuid IS NOT NULL
), logged AS (
    INSERT INTO blinding_event (id, study, kind, actor, subject, facts, happened_at)
    SELECT %(event)s, study_id, 'record_submitted', member_id, id, jsonb_build_object('version', version), %(now)s FROM changed
)
SELECT record_id, version, revisable_until FROM changed
""")


def submit_record(*, membership: Membership, uid: UUID, submission: Submission) -> Receipt:
    """Store a submission as the next version of the record of assignment `uid` and return its receipt.

    A known submission id gives the same receipt again. Raises Absent, for who has no list of items too, Refused (with
    the current version) for another base, after the grace period or on a closed item, Invalid with status 422 for
    fields that break the schema or a rule.
    """
    for _attempt in range(ATTEMPTS):
        item = _read_item(membership, uid, submission.submission_id)
        if item.known_version is not None and item.known_at is not None:
            return Receipt(
                item.record_id, item.known_version, item.known_at, item.revisable_until, replayed=True
            )
        membership.study.phase = item.phase
        require_coding(membership)
        _require_open(item)
        _require_base(item, submission.base_version or 0)
        payload = _read_payload(membership, item, submission.fields)
        if (receipt := _stored(membership, uid, item, payload, submission)) is not None:
            return receipt
    raise Refused(
        _("This item is being changed from elsewhere. Reload to see it."), code="closed", version=item.version
    )


def report_erratum(*, membership: Membership, uid: UUID, text: str) -> None:
    """Note a mistake in a record that is final already; the record stays."""
    require_coder(membership)
    if not text.strip():
        raise Invalid.at("text", "required", _("Say what is wrong and what would be right."))
    with transaction.atomic():
        item = Assignment.objects.visible_to(membership).filter(pk=uid, submitted_at__isnull=False).first()
        if item is None:
            raise Absent
        if item.final_at is None:
            raise Refused(_("You can still change this record itself."), code="revisable")
        if not membership.study.is_writable:
            raise Refused(_("The data are locked; tell the project author."), code="locked")
        Erratum.objects.create(assignment=item, text=text.strip(), reported_at=clock.now())
        record_event("erratum_reported", study=membership.study_id, actor=membership.pk, subject=item.pk)


def finalise_due_records() -> int:
    """Make final, in one statement, every record whose grace period is over; return how many."""
    now = clock.now()
    due = Assignment.objects.filter(
        submitted_at__isnull=False, final_at=None, voided_at=None, revisable_until__lte=now
    )
    return due.exclude(slot="adjudicator").update(final_at=now)


def _read_item(membership: Membership, uid: UUID, submission_id: str | None) -> _Item:
    require_coder(membership)
    require_declaration(membership)
    row = _READ.first(uid=uid, member=membership.pk, submission=submission_id)
    if row is None:
        raise Absent
    return _Item(*row)


def _require_open(item: _Item) -> None:
    if item.voided:
        raise Refused(_("This item was taken out of your list."), code="voided", version=item.version)
    if item.held:
        raise Refused(_("This item is on hold. Go on with the next one."), code="held", version=item.version)
    over = item.revisable_until is not None and clock.now() >= item.revisable_until
    if item.final or over:
        raise Refused(
            _(
                "The time to change this record is over. If it is wrong, report a correction from “My records”."
            ),
            code="final",
            version=item.version,
        )
    if item.calibration and item.phase != Phase.TRAINING:
        raise Refused(
            _("Training is over; this item stays as it is."), code="not_coding", version=item.version
        )


def _require_base(item: _Item, base: int) -> None:
    if base != item.version:
        raise Refused(
            _(
                "This item was submitted from another window meanwhile. What you typed is kept; compare and submit again."
            ),
            code="version_conflict",
            version=item.version,
        )


def _read_payload(membership: Membership, item: _Item, fields: dict[str, Any]) -> Payload:
    read = read_fields(form_of(membership.study, item.codebook), fields, item.context)
    if isinstance(read, list):
        raise Invalid([_error(e) for e in read], status=422)
    return read


def _error(error: FieldError) -> dict[str, str]:
    return {"field": error.field, "rule": error.rule, "message": error.message}


def _stored(
    membership: Membership, uid: UUID, item: _Item, payload: Payload, submission: Submission
) -> Receipt | None:
    """Store the next version; None where the item was changed since it was read, so that one has to look again."""
    now = clock.now()
    code = new_cluster_in(payload.values)
    is_new = code is not None and code not in item.own_clusters
    try:
        row = _STORE.first(
            study=membership.study_id,
            uid=uid,
            member=membership.pk,
            base=item.version,
            now=now,
            until=now + timedelta(minutes=float(membership.study.protocol["grace_minutes"])),
            record=entropy.uuid("id", "record"),
            submission=submission.submission_id or entropy.uuid("submission", uid).hex,
            payload=json.dumps(payload.values),
            flagged=payload.flagged,
            flag_reason=payload.flag_reason,
            active=max(0, submission.active_seconds),
            idle=max(0, submission.idle_seconds),
            task=item.task,
            own_cluster=entropy.uuid("id", "own_cluster") if is_new else None,
            new_code=code,
            event=entropy.uuid("id", "event"),
        )
    except IntegrityError:
        return None
    return Receipt(row[0], row[1], now, row[2]) if row is not None else None
