"""When two codings of one output agree, field by field, and how a decision is put into a record. Pure.

The cluster decision is one unit: two coders agree when they put the output in the same place.

- *confirm*, and a *split* that stays: the cluster. *merge*: its target. *reject*: a place of its own.
- A new cluster is a place by its members, never by its name, which each coder counts alone. Two new clusters
  are one place if, of the outputs that both coders have coded so far, more than half of those in either lie
  in both, as in the agreement report. Where nothing is known of other outputs, both agree that this one
  belongs with none of the others.
- *uncertain* gives no place. Two uncertain coders gave one answer and need nobody to decide between them;
  an uncertain coder and one who gives a place are disputed, since only one of them could place the output.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adjudication.agreement.place import Place, derive_place
from annotation_app.record_schema import RecordSchema, canonical, cluster
from annotation_app.record_schema.structure import CodedField, Kind
from annotation_app.record_schema.validation import value_at

NewClusters = tuple[frozenset[str], frozenset[str]]
"""Of the outputs that both have coded, those that coder A, and coder B, keep in this output's new cluster."""


def disputed_fields(
    schema: RecordSchema,
    payload_a: Mapping[str, Any],
    payload_b: Mapping[str, Any],
    protocol: Mapping[str, Any],
    new_clusters: NewClusters | None = None,
) -> list[str]:
    """Return the paths, in schema order, on which two payloads disagree under a complete protocol."""
    return [
        path
        for path, field in schema.leaves.items()
        if not _agree(
            field, _at(payload_a, path), _at(payload_b, path), protocol["fields"][path], new_clusters
        )
    ]


def adjudicated_value(schema: RecordSchema, values: Mapping[str, Any]) -> str:
    """Return final values by path as canonical JSON (RFC 8785), null for an undecided field.

    The cluster decision is written as its three dotted paths, all null where it is undecided.
    """
    flat: dict[str, Any] = {}
    for path, value in values.items():
        if schema.leaves[path].kind is Kind.CLUSTER:
            paths = (cluster.CLUSTER_PATH, cluster.DECISION_PATH, cluster.TARGET_PATH)
            flat |= {part: (value or {}).get(part.rpartition(".")[2]) for part in paths}
        else:
            flat[path] = value
    return canonical(flat).decode()


def merged_record(record: Mapping[str, Any], adjudicated: str) -> dict[str, Any]:
    """Return `record` with an `adjudicated_value` put in; undecided fields stay as they were coded."""
    values: dict[str, Any] = json.loads(adjudicated)
    out = {name: dict(value) if isinstance(value, dict) else value for name, value in record.items()}
    undecided = values.get(cluster.DECISION_PATH) is None
    for path, value in values.items():
        is_target = path == cluster.TARGET_PATH and not undecided
        if value is None and not is_target:
            continue
        *parents, name = path.split(".")
        node = out
        for parent in parents:
            node = node.setdefault(parent, {})
        node[name] = value
    return out


def _at(payload: Mapping[str, Any], path: str) -> Any:
    return value_at(payload, tuple(path.split(".")))


def _agree(
    field: CodedField, left: Any, right: Any, rule: Mapping[str, Any], new_clusters: NewClusters | None
) -> bool:
    compare = rule["compare"]
    if compare == "ignored":
        return True
    if compare == "set":
        return set(left or ()) == set(right or ())
    if left is None or right is None:
        return left is None and right is None
    if field.kind is Kind.CLUSTER:
        return _same_place(derive_place(left, "left"), derive_place(right, "right"), new_clusters)
    if compare == "tolerance":
        # In decimal, as typed: .8 and .7 are .1 apart, which binary fractions deny.
        return abs(Decimal(str(left)) - Decimal(str(right))) <= Decimal(str(rule["tolerance"]))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _same_place(left: Place | None, right: Place | None, new_clusters: NewClusters | None) -> bool:
    if left is None or right is None or not (left.owner and right.owner):
        return left == right
    if new_clusters is None:
        return True
    one, two = new_clusters
    return 2 * len(one & two) > len(one | two)
