"""Agreement reports: asked for by a member who may learn agreement, computed by a job, stored with the data's hash."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from adjudication.agreement.fields import field_specs
from adjudication.agreement.report import CodedPair, ReportSettings, build_report
from adjudication.models import AgreementReport
from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership, Study
from annotation_app.record_schema import label_mapping
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.forms import schema_of
from annotation_app.services.task_strata import strata_of
from blinding import clock, jobs
from blinding.events import record_event
from blinding.models import Job
from blinding.policy import Disclosure, Phase, Role

KIND = "agreement_report"

# Final, pre-adjudication, primary codes of main batches; a record taken out is there with its reason, to be counted.
_PAIRS = """
SELECT o.blinded_output_id, t.code, ba.number, ma.alias, mb.alias, a.position, b.position, ra.submitted_at, rb.submitted_at,
       ca.rule_version, cb.rule_version, ra.payload::text, rb.payload::text, c.code, t.positive_control, t.classes::text,
       CASE WHEN t.voided_at IS NOT NULL THEN 'task_voided' WHEN o.excluded_at IS NOT NULL THEN 'excluded'
            WHEN a.voided_at IS NOT NULL THEN a.void_reason WHEN b.voided_at IS NOT NULL THEN b.void_reason END
  FROM annotation_app_assignment a
  JOIN annotation_app_assignment b ON b.output_id = a.output_id AND b.slot = 'B' AND b.final_at IS NOT NULL
  JOIN annotation_app_record ra ON ra.assignment_id = a.id AND ra.version = a.version
  JOIN annotation_app_record rb ON rb.assignment_id = b.id AND rb.version = b.version
  JOIN annotation_app_codebook ca ON ca.id = ra.codebook_id
  JOIN annotation_app_codebook cb ON cb.id = rb.codebook_id
  JOIN annotation_app_membership ma ON ma.id = a.member_id
  JOIN annotation_app_membership mb ON mb.id = b.member_id
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
  JOIN annotation_app_batch ba ON ba.id = o.batch_id
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
 WHERE a.study_id = %s AND a.slot = 'A' AND a.final_at IS NOT NULL AND NOT a.calibration
 ORDER BY o.blinded_output_id, a.record_id, b.record_id
"""


def request_report(*, membership: Membership) -> AgreementReport:
    """Queue a report on what is final now. Raises Absent for who never may, Refused where it is not open yet."""
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    if not membership.may_learn(Disclosure.AGREEMENT):
        raise Refused("Agreement is shown once coding is closed.", code="not_yet")
    with transaction.atomic():
        report = AgreementReport.objects.create(study_id=membership.study_id, asked_by=membership.pk)
        jobs.enqueue(KIND, study=membership.study_id, subject=report.pk)
        record_event("report_requested", study=membership.study_id, actor=membership.pk, subject=report.pk)
    return report


def compute_report(job: Job, progress: jobs.Progress) -> None:
    """Compute and store the report a job names."""
    report = AgreementReport.objects.select_related("study").get(pk=job.subject)
    study = report.study
    pairs, digest = load_pairs(study)
    settings = ReportSettings.from_protocol(study.protocol)
    result = build_report(pairs, specs_of(study), _scope(study, digest), settings, progress)
    with transaction.atomic():
        progress.fence()
        report.result, report.data_hash, report.ready_at = result, digest, clock.now()
        report.save(update_fields=["result", "data_hash", "ready_at"])
        record_event(
            "report_ready", study=study.pk, actor=None, subject=report.pk, facts={"data_hash": digest}
        )


def specs_of(study: Study) -> list[Any]:
    """Return which fields are reported, at which level, under which name."""
    schema, book = schema_of(study), current_codebook(study)
    words = label_mapping(book.document, schema)
    labels = {path: entry["label"] for path, entry in words.items()}
    return field_specs(
        schema, study.protocol, labels, {path: entry["options"] for path, entry in words.items()}
    )


def load_pairs(study: Study) -> tuple[list[CodedPair], str]:
    """Return all pairs of final primary records and the SHA-256 of the rows they were made from.

    Before the lock coders are numbered instead of named: the project author is not to learn who coded what.
    """
    names = _Names(hidden=study.phase in (Phase.CODING, Phase.REVIEW))
    digest, pairs, strata = hashlib.sha256(), [], strata_of(study)
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [study.pk])
        for row in cursor:
            digest.update(repr(row).encode())
            pairs.append(_pair(row, names, strata.get(row[1], {})))
    return pairs, digest.hexdigest()


def _pair(row: tuple[Any, ...], names: "_Names", strata: Mapping[str, str]) -> CodedPair:
    coder_a, coder_b = names.of("A", row[3]), names.of("B", row[4])
    payload_a, payload_b, classes = (json.loads(row[i]) for i in (11, 12, 15))
    return CodedPair(
        output_id=row[0],
        task_id=row[1],
        batch=str(row[2]),
        coder_a=coder_a,
        coder_b=coder_b,
        position_a=row[5],
        position_b=row[6],
        submitted_a=row[7],
        submitted_b=row[8],
        rule_version_a=row[9],
        rule_version_b=row[10],
        payload_a=payload_a,
        payload_b=payload_b,
        proposed_cluster=row[13],
        positive_control=row[14],
        classes=tuple(classes),
        excluded=row[16],
        strata=strata,
    )


class _Names:
    """Pseudonyms as they are, or numbered in the order of appearance."""

    def __init__(self, *, hidden: bool) -> None:
        self._hidden = hidden
        self._numbers: dict[str, dict[str, str]] = {"A": {}, "B": {}}

    def of(self, slot: str, alias: str) -> str:
        if not self._hidden:
            return alias
        known = self._numbers[slot]
        return known.setdefault(alias, f"{slot}{len(known) + 1}")


def _scope(study: Study, digest: str) -> dict[str, Any]:
    return {
        "study": study.slug,
        "phase": study.phase,
        "schema_hash": study.schema_hash,
        "protocol_hash": study.protocol_hash,
        "codebook_version": current_codebook(study).version,
        "data_hash": digest,
        "computed_at": clock.now().isoformat(),
    }


def reports_of(*, membership: Membership) -> list[AgreementReport]:
    """Return the study's reports, newest first, for who may learn agreement. Raises Absent or Refused."""
    _require_reader(membership)
    return list(AgreementReport.objects.visible_to(membership).defer("result").order_by("-asked_at"))


def report_of(*, membership: Membership, uid: UUID) -> AgreementReport:
    """Return one report. Raises Absent or Refused."""
    _require_reader(membership)
    report = AgreementReport.objects.visible_to(membership).filter(pk=uid).first()
    if report is None:
        raise Absent
    return report


def _require_reader(membership: Membership) -> None:
    if membership.role not in (Role.PROJECT_AUTHOR, Role.ADMIN, Role.MONITOR):
        raise Absent
    if not membership.may_learn(Disclosure.AGREEMENT):
        raise Refused("Agreement is shown once coding is closed.", code="not_yet")
