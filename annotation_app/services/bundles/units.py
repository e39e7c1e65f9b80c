"""`units.csv`: one row per main output, with where it stands, and after the unblinding where it came from."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from django.db import connection

from annotation_app.models import Output, Study
from blinding.policy import Phase

PAGE = 2000

_COLUMNS = {
    "blinded_output_id": "o.blinded_output_id",
    "task_id": "t.task_id",
    "task_version": "t.task_version",
    "task_code": "t.code",
    "batch": "ba.number",
    "auto_cluster_id": "c.code",
    "positive_control": "t.positive_control",
    "classes": "t.classes::text",
    "masks": "o.masks",
    "blind_version": "o.blind_version",
    "recalled": "o.recalled",
    "final_primary_records": "n.records",
    "standing": "CASE WHEN t.voided_at IS NOT NULL THEN 'task_voided' WHEN o.excluded_at IS NOT NULL THEN 'excluded'"
    " ELSE 'in_force' END",
    "reason": "coalesce(nullif(o.exclusion_reason, ''), t.void_reason)",
    "post_unblinding": "coalesce(greatest(o.excluded_at, t.voided_at) > s.unblinded_at, false)",
}
_OPENED = {
    "output_id": "l.output_id",
    "condition": "l.condition",
    "model": "l.model",
    "theory": "l.theory",
    "gold_expected": "l.gold_expected::text",
    "text_length": "length(o.text)",
}
_FROM = """
  FROM annotation_app_output o
  JOIN annotation_app_study s ON s.id = o.study_id
  JOIN annotation_app_task t ON t.id = o.task_id
  JOIN annotation_app_batch ba ON ba.id = o.batch_id AND ba.purpose = 'main'
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
  LEFT JOIN blinding_revealedlabel l ON l.output = o.id
  CROSS JOIN LATERAL (SELECT count(*) AS records FROM annotation_app_assignment a
                       WHERE a.output_id = o.id AND a.slot IN ('A', 'B') AND a.final_at IS NOT NULL AND a.voided_at IS NULL) n
 WHERE o.study_id = %(study)s AND o.blinded_output_id > %(after)s
 ORDER BY o.blinded_output_id LIMIT %(page)s
"""


def unit_lines(study: Study) -> Iterator[bytes]:
    """Yield the CSV, header first; an absent value is an empty cell, a list is JSON."""
    columns = _COLUMNS | (_OPENED if study.phase == Phase.UNBLINDED else {})
    query = f"SELECT {', '.join(columns.values())} {_FROM}"
    yield _csv([list(columns)])
    after = ""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(query, {"study": study.pk, "after": after, "page": PAGE})
            rows = cursor.fetchall()
        if not rows:
            return
        yield _csv(rows)
        after = rows[-1][0]


def count_units(study: Study) -> int:
    """Return how many main outputs were released."""
    return Output.objects.filter(study=study).main().count()


def _csv(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[_cell(value) for value in row] for row in rows])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return json.dumps(value)
    return str(value)
