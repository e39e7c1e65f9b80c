"""What a bundle has beside the main records: every version of every record, incidents, errata. In keyset pages."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from django.db import connection

from annotation_app.models import Erratum, Study
from annotation_app.services.bundles.writer import as_line, as_lines
from annotation_app.services.exports import record_columns, record_names, record_of
from blinding.policy import Phase

PAGE = 2000
FIRST = "00000000-0000-0000-0000-000000000000"

_UTC = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"

# Where a record is now; the first that fits. Calibration is in no export.
_STANDING = """
  CASE WHEN r.version <> a.version THEN 'replaced' WHEN a.voided_at IS NOT NULL THEN 'voided: ' || a.void_reason
       WHEN a.final_at IS NULL THEN 'not_final' WHEN t.voided_at IS NOT NULL THEN 'task_voided'
       WHEN o.excluded_at IS NOT NULL THEN 'excluded'
       WHEN EXISTS (SELECT 1 FROM blinding_exposure e WHERE e.output = a.output_id AND e.member = a.member_id
                       AND e.before_final AND e.how <> 'hunch') THEN 'exposed'
       ELSE 'main' END
"""

_VERSIONS = f"""
SELECT a.record_id, r.version, o.blinded_output_id, t.task_id, m.alias, m.role, a.slot, a.position, b.version, b.rule_version,
       {_UTC.format("r.submitted_at")}, a.final_at IS NOT NULL AND r.version = a.version, {_STANDING},
       r.flagged, r.flag_reason, r.active_seconds, r.idle_seconds, r.payload::text
  FROM annotation_app_assignment a
  JOIN annotation_app_record r ON r.assignment_id = a.id
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
  JOIN annotation_app_membership m ON m.id = a.member_id
  JOIN annotation_app_codebook b ON b.id = r.codebook_id
 WHERE a.study_id = %(study)s AND NOT a.calibration AND (a.record_id, r.version) > (%(after)s, %(version)s)
 ORDER BY a.record_id, r.version LIMIT %(page)s
"""  # noqa: S608  constants
_VERSION_KEYS = (
    "record_id", "version", "blinded_output_id", "task_id", "annotator_id", "annotator_role", "slot", "position",
    "codebook_version", "rule_version", "submitted_at", "final", "standing", "flagged", "flag_reason", "active_seconds",
    "idle_seconds", "payload",
)  # fmt: skip

# A record that was set apart carries the blind version under which it was made, and says that the source was visible.
_INCIDENTS = """
  FROM blinding_exposure e
  JOIN annotation_app_output o ON o.id = e.output
  JOIN annotation_app_batch ba ON ba.id = o.batch_id AND ba.purpose = 'main'
  JOIN annotation_app_task t ON t.id = o.task_id
  JOIN annotation_app_membership m ON m.id = e.member
  LEFT JOIN annotation_app_assignment a ON a.id = e.assignment
  LEFT JOIN annotation_app_record r ON r.assignment_id = a.id AND r.version = a.version
  LEFT JOIN annotation_app_codebook b ON b.id = r.codebook_id
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
  LEFT JOIN annotation_app_recordoverlay v ON v.assignment_id = a.id
  CROSS JOIN (SELECT true AS seen) x
  LEFT JOIN LATERAL (SELECT n.version_before FROM blinding_amendment n
                      WHERE n.output = o.id AND n.amended_at >= r.submitted_at ORDER BY n.number LIMIT 1) n ON true
 WHERE e.study = %(study)s AND e.id > %(after)s
"""


def version_lines(study: Study) -> Iterator[bytes]:
    """Yield `record_versions.jsonl`: each version that was ever submitted, and how the record stands."""
    after, version = FIRST, 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_VERSIONS, {"study": study.pk, "after": after, "version": version, "page": PAGE})
            rows = cursor.fetchall()
        if not rows:
            return
        yield b"".join(
            as_line(dict(zip(_VERSION_KEYS, (*row[:-1], orjson.Fragment(row[-1])), strict=True)))
            for row in rows
        )
        after, version = rows[-1][0], rows[-1][1]


def incident_lines(study: Study) -> Iterator[bytes]:
    """Yield `incidents.jsonl`, after `incident.schema.json`; what coders said of a source is null until the unblinding."""
    names, opened = record_names(study), study.phase == Phase.UNBLINDED
    head = (
        f"e.id, o.blinded_output_id, t.task_id, m.alias, m.role, e.how, e.what, {_UTC.format('e.exposed_at')}, e.before_final,"
        " r.id IS NOT NULL, n.version_before"
    )
    query = f"SELECT {head}, {record_columns(names)} {_INCIDENTS} ORDER BY e.id LIMIT %(page)s"
    after = FIRST
    while True:
        with connection.cursor() as cursor:
            cursor.execute(query, {"study": study.pk, "after": after, "page": PAGE})
            rows = cursor.fetchall()
        if not rows:
            return
        yield b"".join(as_line(_incident(names, row, opened)) for row in rows)
        after = rows[-1][0]


def erratum_lines(study: Study) -> Iterator[bytes]:
    """Yield `errata.jsonl`: mistakes that coders reported after finality."""
    found = Erratum.objects.filter(assignment__study=study, assignment__calibration=False).order_by("pk")
    rows = found.values_list(
        "pk", "assignment__record_id", "assignment__member__alias", "text", "reported_at"
    )
    keys = ("erratum_id", "record_id", "annotator_id", "text", "reported_at")
    return as_lines(dict(zip(keys, row, strict=True)) for row in rows.iterator(chunk_size=PAGE))


@cache
def incident_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of `incidents.jsonl`."""
    document: dict[str, Any] = json.loads(
        Path(__file__).with_name("incident.schema.json").read_text(encoding="utf-8")
    )
    return document


def _incident(names: list[str], row: tuple[Any, ...], opened: bool) -> dict[str, Any]:
    key, output, task, alias, role, how, what, at, before_final, submitted, version_before = row[:11]
    set_apart = before_final and how != "hunch"
    record = record_of(names, row[11:]) if submitted and set_apart else None
    if record is not None and version_before is not None and "blind_version" in record:
        record["blind_version"] = version_before
    return {
        "incident_id": key,
        "blinded_output_id": output,
        "task_id": task,
        "annotator_id": alias,
        "annotator_role": role,
        "how": how,
        "what": what if opened else None,
        "exposed_at": at,
        "before_final": before_final,
        "set_apart": set_apart,
        "record": record,
    }
