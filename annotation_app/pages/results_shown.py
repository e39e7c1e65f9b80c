"""Results as their page shows them: a panel for each field, a row for each value and arm, as frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation_app.pages.dots import Axis, Interval, numbers_axis, shares_axis
from annotation_app.pages.figures import NONE, number, percent, span, with_sign
from annotation_app.pages.task_words import value_in_words
from annotation_app.record_schema import RecordSchema
from annotation_app.record_schema.structure import CodedField, Kind, value_key

Json = dict[str, Any]
Words = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Figure:
    """One estimate: of how many, what, how sure, and the same without recognised outputs."""

    arm: str
    svg: SafeString | str
    of: str
    estimate: str
    interval: str
    without: str
    difference: str


@dataclass(frozen=True)
class Value:
    """One value of a field, in the codebook's word and the record's, with a figure for each arm."""

    label: str
    raw: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Counted:
    """What an arm's figures of one field rest on, and what is counted apart."""

    arm: str
    outputs: int
    tasks: int
    undecided: int
    single: int


@dataclass(frozen=True)
class FieldShown:
    number: int
    label: str
    path: str
    is_mean: bool
    of_classes: bool
    axis: SafeString
    values: tuple[Value, ...]
    counted: tuple[Counted, ...]


@dataclass(frozen=True)
class Control:
    """Positive controls of one arm whose settled classes are the expected ones."""

    arm: str
    svg: SafeString
    of: str
    estimate: str


def arm_in_words(row: Mapping[str, Any]) -> str:
    return f"{row['condition']} · {row['model']}"


def fields_shown(found: Json, schema: RecordSchema, words: Words) -> list[FieldShown]:
    """Return a panel for each field of `found`, which is what the service returns."""
    apart = {field["path"]: field for field in found["without_recognised"]["fields"]}
    compared = bool(found["without_recognised"]["outputs_left_out"])
    panels = []
    for place, field in enumerate(found["fields"], 1):
        leaf, text = schema.leaves[field["path"]], words.get(field["path"], {})
        without = _by_arm(apart[field["path"]]) if compared else None
        make = _mean_values if field["kind"] == "mean" else _share_values
        axis, values = make(field, without, leaf, text)
        panels.append(
            FieldShown(
                number=place,
                label=text.get("label") or value_in_words(field["path"]),
                path=field["path"],
                is_mean=field["kind"] == "mean",
                of_classes=leaf.kind is Kind.CHECKS,
                axis=axis.head(),
                values=tuple(values),
                counted=tuple(map(_counted, field["cells"])),
            )
        )
    return panels


def controls_shown(rows: Sequence[Json]) -> list[Control]:
    axis = shares_axis()
    return [
        Control(
            arm=arm_in_words(row),
            svg=axis.row(row["share"], None),
            of=_of(row["as_expected"], row["outputs"]),
            estimate=percent(row["share"]),
        )
        for row in rows
    ]


def _of(n: int, total: int) -> str:
    return _("%(n)s of %(total)s") % {"n": n, "total": total}


def _by_arm(field: Json) -> dict[str, Json]:
    return {arm_in_words(cell): cell for cell in field["cells"]}


def _counted(cell: Json) -> Counted:
    return Counted(arm_in_words(cell), *(cell[name] for name in ("outputs", "tasks", "undecided", "single")))


def _share_values(
    field: Json, without: dict[str, Json] | None, leaf: CodedField, text: Mapping[str, Any]
) -> tuple[Axis, list[Value]]:
    axis, options = shares_axis(), text.get("options", {})
    cells = [cell for cell in field["cells"] if cell["outputs"]]
    values = []
    for value in _values_in_order(cells, leaf):
        label = _word(value, options)
        raw = value_key(value)
        figures = [_share(axis, cell, value, without) for cell in cells]
        same = label.casefold() == raw.replace("_", " ").casefold()
        values.append(Value(label, "" if same or isinstance(value, bool) else raw, tuple(figures)))
    return axis, values


def _values_in_order(cells: Sequence[Json], leaf: CodedField) -> list[Any]:
    """Return the values that were given, those that the schema lists in its order."""
    given = {value_key(one["value"]): one["value"] for cell in cells for one in cell["values"]}
    listed = (True, False) if leaf.kind is Kind.CHECKBOX else leaf.values
    ranks = {value_key(value): rank for rank, value in enumerate(listed)}
    return [given[key] for key in sorted(given, key=lambda key: (ranks.get(key, len(ranks)), key))]


def _word(value: Any, options: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        return value_in_words(value)
    return options.get(value_key(value)) or value_in_words(value)


def _share(axis: Axis, cell: Json, value: Any, without: dict[str, Json] | None) -> Figure:
    """One arm's share of a value; a value that others gave, and this arm never, has the share 0."""
    one, other = _found(cell, value), None
    if without is not None:
        left = without.get(arm_in_words(cell))
        other = _found(left, value)["share"] if left and left["outputs"] else None
    interval = _wide(one["interval"])
    return Figure(
        arm=arm_in_words(cell),
        svg=axis.row(one["share"], interval, other),
        of=_of(one["count"], cell["outputs"]),
        estimate=percent(one["share"]),
        interval=span(interval, lambda bound: number(100 * bound, 1)),
        without=NONE if other is None else percent(other),
        difference=NONE if other is None else with_sign(100 * (other - one["share"]), 1),
    )


def _found(cell: Json, value: Any) -> Json:
    never = {"count": 0, "share": 0.0, "interval": None}
    return next((one for one in cell["values"] if value_key(one["value"]) == value_key(value)), never)


def _mean_values(
    field: Json, without: dict[str, Json] | None, leaf: CodedField, text: Mapping[str, Any]
) -> tuple[Axis, list[Value]]:
    cells = [cell for cell in field["cells"] if cell["outputs"]]
    axis = numbers_axis(*_range(cells, leaf))
    figures = [_mean(axis, cell, without) for cell in cells]
    return axis, [Value("", "", tuple(figures))] if figures else []


def _range(cells: Sequence[Json], leaf: CodedField) -> tuple[float, float]:
    """Return the ends of the axis: what the schema allows, else what the figures need."""
    ends = [float(end) for cell in cells for end in (cell["mean"], *(cell["interval"] or ()))]
    low = leaf.minimum if leaf.minimum is not None else min(ends, default=0.0)
    high = leaf.maximum if leaf.maximum is not None else max(ends, default=1.0)
    return min([low, *ends]), max([high, *ends])


def _mean(axis: Axis, cell: Json, without: dict[str, Json] | None) -> Figure:
    left = None if without is None else without.get(arm_in_words(cell))
    other = left["mean"] if left and left["outputs"] else None
    interval = _wide(cell["interval"])
    return Figure(
        arm=arm_in_words(cell),
        svg=axis.row(cell["mean"], interval, other),
        of=str(cell["outputs"]),
        estimate=number(cell["mean"], 3),
        interval=span(interval, lambda bound: number(bound, 3)),
        without=NONE if other is None else number(other, 3),
        difference=NONE if other is None else with_sign(other - cell["mean"], 3),
    )


def _wide(interval: Interval | None) -> Interval | None:
    """Return an interval that has a width: where all tasks say the same, resampling them tells nothing of how sure it is."""
    return None if interval is None or interval[0] == interval[1] else interval
