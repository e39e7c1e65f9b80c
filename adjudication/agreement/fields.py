"""Which fields of a record schema are reported, and how: level, distance, values, what counts as missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adjudication.agreement.metric import Label, Metric
from annotation_app.record_schema import cluster
from annotation_app.record_schema.structure import CONFIDENCE, NUMERIC, CodedField, Kind, RecordSchema

FieldKind = Literal["ordinary", "place", "set-in-task", "confidence", "skip"]

BLANK = (
    "(blank)"  # no value was given: a value of its own, unless the protocol lists null among the missing ones
)
NOT_APPLICABLE = "not_applicable"
UNCERTAIN = "uncertain"
SKIPPED = frozenset({Kind.TEXT, Kind.LINE, Kind.FLAG})


@dataclass(frozen=True)
class FieldSpec:
    """One reported field; `path` is dotted, `values` in their declared order, `missing` as in the protocol.

    `level` is nominal, ordinal, interval, ratio, matrix or set; `distance` a name (sets) or rows (matrix)."""

    path: str
    label: str
    level: str = "nominal"
    distance: str | Sequence[Sequence[float]] | None = None
    values: tuple[Label, ...] = ()
    missing: tuple[object, ...] = ()
    kind: FieldKind = "ordinary"
    bounds: tuple[float, float] | None = None
    value_labels: Mapping[str, str] = field(default_factory=dict)
    not_applicable: Label | None = NOT_APPLICABLE
    uncertain: Label | None = UNCERTAIN

    @property
    def metric(self) -> Metric:
        """The level with its distance; sets are measured by MASI unless said otherwise."""
        if self.level == "set":
            return Metric(f"set:{self.distance or 'masi'}")
        if self.level == "matrix" and self.distance is not None and not isinstance(self.distance, str):
            return Metric("matrix", tuple(tuple(float(d) for d in row) for row in self.distance))
        return Metric(self.level)

    @property
    def within_tasks(self) -> bool:
        """Whether the values live inside a task, so that chance does too."""
        return self.kind in ("place", "set-in-task")

    def name_of(self, value: Label) -> str:
        """What a page calls a value."""
        if isinstance(value, frozenset):
            return " + ".join(sorted(value)) or "none"
        return self.value_labels.get(str(value), str(value).replace("_", " ").strip().capitalize())


def field_specs(
    schema: RecordSchema,
    protocol: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Mapping[str, str]] | None = None,
) -> list[FieldSpec]:
    """Return the reported fields of a record schema, by the protocol's rules, in the codebook's words.

    The cluster decision gives two: the five-valued answer, and the place it leads to. Texts and the flag give
    none."""
    rules = protocol.get("fields", {})
    names, words = labels or {}, value_labels or {}
    specs = []
    for path, leaf in schema.leaves.items():
        label = names.get(path, path.replace("_", " ").replace(".", ": ").capitalize())
        found = _specs_of(leaf, label, rules.get(path, {}), words.get(path, {}))
        specs += [spec for spec in found if spec.kind != "skip"]
    return specs


def _specs_of(
    leaf: CodedField, label: str, rule: Mapping[str, Any], words: Mapping[str, str]
) -> list[FieldSpec]:
    missing = tuple(rule.get("missing", ()))
    if leaf.kind in SKIPPED or rule.get("level", "") is None:
        return [FieldSpec(leaf.path, label, kind="skip")]
    if leaf.kind is Kind.CLUSTER:
        return [
            FieldSpec(
                cluster.DECISION_PATH,
                label,
                values=leaf.values,
                missing=missing,
                value_labels=words,
                not_applicable=None,
            ),
            FieldSpec(leaf.path, f"{label}: place", kind="place", not_applicable=None, uncertain=None),
        ]
    if leaf.kind is Kind.CHECKS:
        return [FieldSpec(leaf.path, label, "set", rule.get("distance"), kind="set-in-task")]
    numeric = leaf.kind in NUMERIC
    return [
        FieldSpec(
            leaf.path,
            label,
            level=rule.get("level", "interval" if numeric else "nominal"),
            distance=rule.get("distance"),
            values=(False, True) if leaf.kind is Kind.CHECKBOX else leaf.values,
            missing=missing,
            kind="confidence" if numeric and leaf.path == CONFIDENCE else "ordinary",
            bounds=_bounds(leaf) if numeric else None,
            value_labels=words,
            not_applicable=NOT_APPLICABLE if NOT_APPLICABLE in leaf.values else None,
            uncertain=UNCERTAIN if UNCERTAIN in leaf.values else None,
        )
    ]


def _bounds(leaf: CodedField) -> tuple[float, float]:
    low = float("-inf") if leaf.minimum is None else leaf.minimum
    high = float("inf") if leaf.maximum is None else leaf.maximum
    return low, high


def read(payload: Mapping[str, Any], path: str) -> object:
    """Return the value at a dotted path, None where nothing is there."""
    value: object = payload
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
