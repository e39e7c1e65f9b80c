"""Records as they leave the product: one JSON object a line, stored payload ⊕ overlay, in the schema's own order.

Reads in pages by (study, record_id), so memory is flat; payload parts are spliced in as PostgreSQL prints them.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, Membership, Study
from annotation_app.services.forms import schema_of
from blinding.events import record_event
from blinding.policy import Disclosure, Phase, Role

PAGE = 5_000  # records, about
_IDS = 2**128  # how many UUIDs there are
_BREAK = orjson.Fragment("\n")

# Main records: final, live, of a released main batch, of a task version and output in force, and not exposed before finality.
_MAIN = """
  FROM annotation_app_assignment a
  JOIN annotation_app_record r ON r.assignment_id = a.id AND r.version = a.version
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
  JOIN annotation_app_membership m ON m.id = a.member_id
  JOIN annotation_app_codebook b ON b.id = r.codebook_id
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
  LEFT JOIN annotation_app_recordoverlay v ON v.assignment_id = a.id
  CROSS JOIN LATERAL (SELECT EXISTS (
      SELECT 1 FROM blinding_exposure e
       WHERE e.output = a.output_id AND e.member = a.member_id AND e.before_final AND e.how <> 'hunch') AS seen
      OFFSET 0) x
 WHERE a.study_id = %(study)s AND a.final_at IS NOT NULL AND a.voided_at IS NULL
   AND NOT a.calibration AND t.voided_at IS NULL AND o.excluded_at IS NULL AND NOT x.seen
"""

# How each property that the product fills in is read; what a schema does not have is left out.
_SYSTEM = {
    "record_id": "a.record_id::text",
    "task_id": "t.task_id",
    "blinded_output_id": "o.blinded_output_id",
    "annotator_id": "m.alias",
    "annotator_role": "m.role",
    "blind_version": "o.blind_version",
    "codebook_version": "b.version",
    "condition_visible_to_annotator": "x.seen",
    "model_visible_to_annotator": "x.seen",
    "t_theory_visible_to_annotator": "x.seen",
    "auto_cluster_id": "c.code",
    "adjudication_required": "r.flagged OR coalesce(v.adjudication_required, false)",
    "adjudicator_id": "nullif(v.adjudicator_id, '')",
    "adjudicated_value": "v.adjudicated_value",
    "timestamp_utc": "to_char(r.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
}


def may_export(membership: Membership) -> None:
    """Raise Absent for a role that never exports records, Refused before the lock."""
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    if membership.study.phase not in (Phase.LOCKED, Phase.UNBLINDED) or not membership.may_learn(
        Disclosure.PEER_CODES
    ):
        raise Refused("Records are exported once the data are locked.", code="not_locked")


def export_records(*, membership: Membership) -> Iterator[bytes]:
    """Return the lines of `records.jsonl` in chunks. Raises Absent or Refused at once, not while streaming."""
    may_export(membership)
    record_event("records_exported", study=membership.study_id, actor=membership.pk)
    return record_lines(membership.study)


def record_lines(study: Study) -> Iterator[bytes]:
    """Yield the main records of a study in chunks of whole lines, ordered by record_id. Asks nobody's leave."""
    names = record_names(study)
    for rows in _pages(study, record_columns(names)):
        yield _lines(record_of(names, row) for row in rows)


def count_records(study: Study) -> int:
    """Return how many lines `record_lines` gives."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {_MAIN}", {"study": study.pk})
        return int(cursor.fetchone()[0])


def record_names(study: Study) -> list[str]:
    """Return the properties of an exported record, in the schema's order."""
    return list(schema_of(study).document["properties"])


def record_columns(names: list[str]) -> str:
    """Return the SQL columns of a record, over the tables that the main query joins under its letters."""
    return ", ".join(_SYSTEM[n] if n in _SYSTEM else f"(r.payload -> '{_quoted(n)}')::text" for n in names)


def record_of(names: list[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return a row of those columns as a record that orjson can write."""
    record: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        if name in _SYSTEM:
            record[name] = value
        elif value is not None:  # an answer that was not required and not given is absent
            record[name] = orjson.Fragment(value)
    return record


def _pages(study: Study, columns: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of records; the database is at work on the next one while the caller is on this one."""
    query = f"SELECT {columns} {_MAIN} AND a.record_id > %(after)s AND a.record_id <= %(upto)s ORDER BY a.record_id"
    with connection.cursor() as cursor, ThreadPoolExecutor(1) as ahead:

        def read(after: UUID, upto: UUID) -> list[tuple[Any, ...]]:
            cursor.execute(query, {"study": study.pk, "after": after, "upto": upto})
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

        waiting: Future[list[tuple[Any, ...]]] | None = None
        for after, upto in pairwise(_bounds(study)):
            reading, waiting = waiting, ahead.submit(read, after, upto)
            if reading is not None:
                yield reading.result()
        if waiting is not None:
            yield waiting.result()


def _bounds(study: Study) -> list[UUID]:
    """Return the ids between which pages lie. Record ids are random, so equal slices of all ids hold about as many."""
    pages = Assignment.objects.filter(study=study).count() // PAGE + 1
    return [UUID(int=min(page * _IDS // pages, _IDS - 1)) for page in range(pages + 1)]


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    """Return records as lines of JSON, by one call of orjson for all of them: a call costs as much as ten records.

    Between two records stands a line break as an element of its own; inside a record none is ever unescaped.
    """
    listed = orjson.dumps([part for record in records for part in (record, _BREAK)])
    return listed[1:-1].replace(b",\n,", b"\n").replace(b",\n", b"\n")


def _quoted(name: str) -> str:
    return name.replace("'", "''").replace("%", "%%")
