"""The consensus: what stands of each output after two codings and, where they differ, a third party's decision.

A field is *agreed* where the two records agree under the protocol's rule, *decided* by an adjudicator, *undecided* where
nobody decided or the adjudicator left it so on purpose, *single* where only one final record is there. A field that the
protocol never compares is agreed if the answers are equal and otherwise undecided. Of answers that agree without being equal
(a tolerance, one place named in two ways) coder A's stands, with both beside it. Shams change nothing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from annotation_app.models import Study
from annotation_app.record_schema import RecordSchema, cluster
from annotation_app.record_schema.structure import Kind
from annotation_app.record_schema.validation import value_at
from annotation_app.registries import Consensus, Settled
from annotation_app.services.forms import schema_of

PAGE = 1000
_CLUSTER_PARTS = {
    "cluster_id": cluster.CLUSTER_PATH,
    "decision": cluster.DECISION_PATH,
    "merge_target": cluster.TARGET_PATH,
}

# The final records of an output in force, as the main export has them.
_STANDING = """
  LEFT JOIN annotation_app_assignment {a} ON {a}.output_id = o.id AND {a}.slot = '{slot}' AND {a}.final_at IS NOT NULL
       AND {a}.voided_at IS NULL AND NOT EXISTS (SELECT 1 FROM blinding_exposure e WHERE e.output = o.id
       AND e.member = {a}.member_id AND e.before_final AND e.how <> 'hunch')
  LEFT JOIN annotation_app_record r{a} ON r{a}.assignment_id = {a}.id AND r{a}.version = {a}.version
"""
_ROWS = f"""
SELECT o.blinded_output_id, o.id, t.task_id, a.record_id, b.record_id, ra.payload::text, rb.payload::text, c.disputed::text,
       d.adjudicated_value
  FROM annotation_app_output o
  JOIN annotation_app_task t ON t.id = o.task_id AND t.voided_at IS NULL
  JOIN annotation_app_batch ba ON ba.id = o.batch_id AND ba.purpose = 'main'
  {_STANDING.format(a="a", slot="A")}
  {_STANDING.format(a="b", slot="B")}
  LEFT JOIN adjudication_comparison c ON c.record_a_id = ra.id AND c.record_b_id = rb.id
  LEFT JOIN LATERAL (
      SELECT n.adjudicated_value FROM adjudication_case k JOIN adjudication_decision n ON n.case_id = k.id
       WHERE k.comparison_id = c.id AND k.state = 'decided' AND k.origin <> 'sham' ORDER BY n.decided_at DESC LIMIT 1) d ON true
 WHERE o.study_id = %(study)s AND o.excluded_at IS NULL AND (a.id IS NOT NULL OR b.id IS NOT NULL)
   AND o.blinded_output_id > %(after)s
 ORDER BY o.blinded_output_id LIMIT %(page)s
"""  # noqa: S608  constants


@dataclass(frozen=True)
class _Row:
    blinded_output_id: str
    output: UUID
    task_id: str
    record_a: UUID | None
    record_b: UUID | None
    payload_a: dict[str, Any] | None
    payload_b: dict[str, Any] | None
    disputed: list[str] | None
    decided: dict[str, Any]


def consensus_of(study: Study) -> Iterator[Consensus]:
    """Yield the consensus of every main output in force that has a final record, by blinded id; keyset pages."""
    schema, rules = schema_of(study), study.protocol["fields"]
    for row in _rows(study):
        records = [r for r in (row.record_a, row.record_b) if r is not None]
        fields = {path: _settled(schema, path, rules[path]["compare"], row) for path in schema.leaves}
        yield Consensus(row.output, row.blinded_output_id, row.task_id, records, fields)


def _rows(study: Study) -> Iterator[_Row]:
    after = ""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, {"study": study.pk, "after": after, "page": PAGE})
            found = cursor.fetchall()
        if not found:
            return
        for row in found:
            a, b, disputed, decided = (json.loads(part) if part else None for part in row[5:])
            yield _Row(row[0], row[1], row[2], row[3], row[4], a, b, disputed, decided or {})
        after = found[-1][0]


def _settled(schema: RecordSchema, path: str, compare: str, row: _Row) -> Settled:
    values = [
        _value(schema, path, payload) for payload in (row.payload_a, row.payload_b) if payload is not None
    ]
    if len(values) == 1:
        return Settled(values[0], "single")
    if path in (decided := _by_field(schema, row.decided)):
        value = decided[path]
        return Settled(None, "undecided", values) if value is None else Settled(value, "decided", values)
    if row.disputed is None or path in row.disputed:
        return Settled(None, "undecided", values)
    if values[0] == values[1]:
        return Settled(values[0], "agreed")
    return (
        Settled(None, "undecided", values) if compare == "ignored" else Settled(values[0], "agreed", values)
    )


def _value(schema: RecordSchema, path: str, payload: Mapping[str, Any]) -> Any:
    """Return a record's value at a path; of the cluster decision its three keys, without notes."""
    value = value_at(payload, tuple(path.split(".")))
    if schema.leaves[path].kind is Kind.CLUSTER and value is not None:
        return {name: value.get(name) for name in _CLUSTER_PARTS}
    return value


def _by_field(schema: RecordSchema, adjudicated: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `adjudicated_value` by field: the cluster decision's dotted paths as one value, None if undecided."""
    out = {path: value for path, value in adjudicated.items() if path in schema.leaves}
    if cluster.DECISION_PATH in adjudicated:
        whole = {name: adjudicated.get(path) for name, path in _CLUSTER_PARTS.items()}
        out[cluster.PATH] = whole if whole["decision"] is not None else None
    return out
