"""Comparing pairs of final records: a periodic task's work, never a coder's request."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from adjudication.comparison import NewClusters, disputed_fields
from adjudication.models import Case, Comparison
from annotation_app.models import Assignment, Record, RecordOverlay, Study
from annotation_app.services.contexts import new_cluster_in
from annotation_app.services.forms import schema_of
from blinding import clock, entropy
from blinding.events import record_event
from blinding.policy import Phase

PAGE = 500

_PAIRS = """
  FROM annotation_app_assignment a
  JOIN annotation_app_assignment b ON b.output_id = a.output_id AND b.slot = 'B'
       AND b.final_at IS NOT NULL AND b.voided_at IS NULL
  JOIN annotation_app_record ra ON ra.assignment_id = a.id AND ra.version = a.version
  JOIN annotation_app_record rb ON rb.assignment_id = b.id AND rb.version = b.version
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
 WHERE a.study_id = %(study)s AND a.slot = 'A' AND a.final_at IS NOT NULL AND a.voided_at IS NULL AND NOT a.calibration
   AND o.frozen_at IS NULL AND o.excluded_at IS NULL AND t.voided_at IS NULL
"""
_NOT_YET = """
   AND NOT EXISTS (SELECT 1 FROM adjudication_comparison c WHERE c.record_a_id = ra.id AND c.record_b_id = rb.id)
"""
_UNCOMPARED = f"{_PAIRS}{_NOT_YET}"


@dataclass(frozen=True)
class Pair:
    """Two final record versions of one output."""

    output: UUID
    assignment_a: UUID
    assignment_b: UUID
    record_a: UUID
    record_b: UUID
    payload_a: dict[str, Any]
    payload_b: dict[str, Any]
    flagged: bool


def compare_final_pairs() -> int:
    """Compare every pair of final records not yet compared, in all studies; return how many. Safe to run twice at once."""
    studies = Study.objects.filter(phase__in=[Phase.CODING, Phase.REVIEW]).values_list("pk", flat=True)
    return sum(compare_study(pk) for pk in studies)


def compare_study(study_id: UUID) -> int:
    """Compare a study's new final pairs, page by page, each page in one transaction; return how many."""
    done = 0
    while compared := _compare_page(study_id):
        done += compared
    return done


def count_pairs(study: Study, *, uncompared: bool = False) -> int:
    """Return how many outputs have two final records (that were not compared yet)."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {_UNCOMPARED if uncompared else _PAIRS}", {"study": study.pk})
        return int(cursor.fetchone()[0])


def _compare_page(study_id: UUID) -> int:
    with transaction.atomic():
        with connection.cursor() as cursor:  # one comparer per study; the other finds nothing left
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", [f"compare {study_id}"])
            cursor.execute("SELECT phase FROM annotation_app_study WHERE id = %s FOR SHARE", [study_id])
            if cursor.fetchone()[0] not in (Phase.CODING, Phase.REVIEW):
                return 0
        study = Study.objects.get(pk=study_id)
        pairs = _uncompared(study_id)
        for pair in sorted(
            pairs, key=lambda pair: pair.output
        ):  # never in the order in which they lie on the disk
            _compare(study, pair)
    return len(pairs)


def _uncompared(study_id: UUID) -> list[Pair]:
    columns = "o.id, a.id, b.id, ra.id, rb.id, ra.payload::text, rb.payload::text, ra.flagged OR rb.flagged"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} {_UNCOMPARED} LIMIT {PAGE}", {"study": study_id})
        rows = cursor.fetchall()
    return [
        Pair(output, a, b, record_a, record_b, json.loads(payload_a), json.loads(payload_b), flagged)
        for output, a, b, record_a, record_b, payload_a, payload_b, flagged in rows
    ]


def _compare(study: Study, pair: Pair) -> None:
    now = clock.now()
    disputed = disputed_fields(
        schema_of(study), pair.payload_a, pair.payload_b, study.protocol, new_cluster_members(pair)
    )
    comparison = Comparison.objects.create(
        study=study,
        output_id=pair.output,
        record_a_id=pair.record_a,
        record_b_id=pair.record_b,
        disputed=disputed,
        flagged=pair.flagged,
        compared_at=now,
    )
    routed = pair.flagged and study.protocol["disagreement"]["route_flagged"]
    required = bool(disputed) or pair.flagged
    for assignment in (pair.assignment_a, pair.assignment_b):
        RecordOverlay.objects.update_or_create(
            assignment_id=assignment,
            defaults={
                "adjudication_required": required,
                "adjudicator_id": "",
                "adjudicated_value": None,
                "changed_at": now,
            },
        )
    if disputed or routed:
        _open_case(study, comparison, Case.Origin.DISPUTE if disputed else Case.Origin.FLAG, now)
    elif _is_sham(study, pair.output):
        _open_case(study, comparison, Case.Origin.SHAM, now)


def new_cluster_members(pair: Pair) -> NewClusters | None:
    """Return which outputs of the task, of those both have coded, each coder keeps in this output's new cluster.

    None unless both put the output into a new cluster of their own.
    """
    codes = [new_cluster_in(p) for p in (pair.payload_a, pair.payload_b)]
    if None in codes:
        return None
    items = Assignment.objects.in_bulk([pair.assignment_a, pair.assignment_b])
    coded = [_places(items[a]) for a in (pair.assignment_a, pair.assignment_b)]
    both = coded[0].keys() & coded[1].keys()
    first, second = (
        frozenset(str(o) for o in both if places[o] == code)
        for places, code in zip(coded, codes, strict=True)
    )
    return first, second


def _places(item: Assignment) -> dict[UUID, str | None]:
    """Return the new cluster, if any, of every output of the item's task that its coder has made final."""
    records = Record.objects.final().filter(
        assignment__member=item.member_id, assignment__output__task=item.output.task_id
    )
    return {
        output: new_cluster_in(payload)
        for output, payload in records.values_list("assignment__output", "payload")
    }


def _is_sham(study: Study, output: UUID) -> bool:
    share = float(study.protocol["adjudication"]["sham_share"])
    return entropy.below(1_000_000, "sham", output) < share * 1_000_000


def _open_case(study: Study, comparison: Comparison, origin: str, now: datetime) -> None:
    case = Case.objects.create(
        study=study,
        output_id=comparison.output_id,
        comparison=comparison,
        origin=origin,
        a_is_left=entropy.below(2, "sides", comparison.output_id) == 0,
        place=entropy.below(2**62, "case place", comparison.output_id),
        opened_at=now,
    )
    record_event("case_opened", study=study.pk, actor=None, subject=case.pk)


def withdraw_pair(*, output: UUID, reason: str) -> None:
    """Take an output's case back after an exposure, a void or a recall; a decision made on it leaves the figures."""
    now = clock.now()
    for case in Case.objects.select_for_update().filter(
        output=output, state__in=[Case.State.OPEN, Case.State.DECIDED]
    ):
        case.state, case.closed_at, case.closed_because = Case.State.WITHDRAWN, now, reason
        case.save(update_fields=["state", "closed_at", "closed_because"])
        record_event(
            "case_withdrawn", study=case.study_id, actor=None, subject=case.pk, facts={"reason": reason}
        )
    left = Assignment.objects.filter(output=output, slot__in=["A", "B"])
    RecordOverlay.objects.filter(assignment__in=left).update(
        adjudication_required=False, adjudicator_id="", adjudicated_value=None, changed_at=now
    )
