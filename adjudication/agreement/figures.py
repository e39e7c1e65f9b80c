"""Plots of a report as inline SVG and plain rows: sizes as attributes, classes for colour, no inline style.

Classes are those of the stylesheet: rule, gridline, ci, pt, pt-open, band, trend, heat h0 to h9."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adjudication.agreement.metric import NUMERIC

Json = dict[str, Any]

TENTATIVE, RELIABLE = 0.667, 0.8
SHADES = 9
STATES = {
    "reliable": "state-done",
    "tentative": "state-half",
    "not_to_be_relied_on": "state-warn",
    "undetermined": "",
    "undefined": "",
}
NO_INTERVAL = {
    "fewer_than_10_pairable_units": "No interval: fewer than 10 outputs have two values.",
    "minority_below_5_units": "No interval: fewer than 5 outputs have any but the commonest value.",
    "too_many_undefined_resamples": "No interval: more than 1 % of the resamples have no variation.",
    "too_many_values": "No interval: too many different values.",
}
WITHIN_TASKS = "expected disagreement within tasks"
WORDS = {"not_to_be_relied_on": "not to be relied on"}


def shown(value: float | None, places: int = 3) -> str:
    """Write a coefficient as pages do: `.842`, `−.030`, `1.000`, and `–` where there is none."""
    if value is None:
        return "–"
    text = f"{abs(value):.{places}f}"
    text = text[1:] if text.startswith("0.") else text
    return f"−{text}" if value < 0 and float(f"{value:.{places}f}") != 0 else text


@dataclass(frozen=True)
class Axis:
    """The axis of the forest plot, from `low` to 1, positions in per cent, with the protocol's thresholds."""

    low: float = -0.2
    thresholds: tuple[float, float] = (TENTATIVE, RELIABLE)

    @classmethod
    def over(cls, values: Iterable[float], thresholds: tuple[float, float] = (TENTATIVE, RELIABLE)) -> "Axis":
        """The axis that holds all values: an alpha under −.2 widens it, nothing is clipped."""
        least = min(values, default=0.0)
        return cls(min(-0.2, math.floor(least * 5 - 1e-9) / 5), thresholds)

    def at(self, value: float) -> str:
        """Position of a value, such as `72.25%`."""
        return f"{(value - self.low) / (1 - self.low) * 100:.2f}%"

    def ticks(self) -> list[float]:
        """1, and every .2 up to .4 (every .5 up to 0 on a long axis), so that the thresholds have room."""
        step, top = (0.2, 0.4) if self.low > -0.7 else (0.5, 0.0)
        count = int((top - self.low) / step + 1e-9)
        return [*(round(top - step * k, 1) for k in range(count, -1, -1)), 1.0]

    def svg(self) -> str:
        """The header cell: ticks, and the two thresholds."""
        marks = [
            f'<text x="{self.at(tick)}" y="24" text-anchor="middle">{_tick(tick)}</text>'
            for tick in self.ticks()
        ]
        for value, shift in zip(self.thresholds, (-4, 6), strict=True):
            place = f'x="{self.at(value)}" y="24" text-anchor="middle" dx="{shift}"'
            marks.append(f'<text class="t-ink" {place}>{shown(value).rstrip("0")}</text>')
        return f'<svg aria-hidden="true">{"".join(marks)}</svg>'


def _tick(value: float) -> str:
    return "0" if value == 0 else shown(value, 1).removesuffix(".0")


@dataclass(frozen=True)
class ForestRow:
    """One field's row; `svg` is empty where `undefined` holds the reason instead."""

    path: str
    label: str
    level: str
    chance: str
    svg: str
    undefined: str
    alpha: str
    interval: str
    verdict: str
    state: str
    units: int
    agreement: str
    kappa: str
    ac1: str
    note: str


@dataclass(frozen=True)
class Forest:
    axis: str
    rows: tuple[ForestRow, ...]


def forest(report: Json) -> Forest:
    """Return the forest table: one row per field with its primary figure."""
    thresholds = report["settings"]["thresholds"]
    axis = Axis.over(_values(report["fields"]), (thresholds["tentative"], thresholds["reliable"]))
    return Forest(axis.svg(), tuple(_row(field, axis) for field in report["fields"]))


def _values(fields: Sequence[Json]) -> Iterable[float]:
    for field in fields:
        interval = field["primary"]["interval"] or {}
        yield from (v for v in (field["primary"]["value"], interval.get("low")) if v is not None)


def _row(field: Json, axis: Axis) -> ForestRow:
    primary = field["primary"]
    figure = field["figures"][primary["figure"]]
    companions = figure["companions"] or {}
    between = companions.get("between_slots") or {}
    word = (field["verdict"] or {}).get("word", "")
    agreement = companions.get("agreement")
    return ForestRow(
        path=field["path"],
        label=field["label"],
        level=field["distance"].split(" (")[0],
        chance=WITHIN_TASKS if field["chance"] == "within_tasks" else "",
        svg="" if primary["value"] is None else _plot(primary, axis),
        undefined=primary["undefined"] or "",
        alpha=shown(primary["value"]),
        interval=_interval(primary["interval"]),
        verdict=WORDS.get(word, word),
        state=STATES.get(word, ""),
        units=figure["units"],
        agreement="–" if agreement is None or field["level"] in NUMERIC else f"{agreement * 100:.1f}",
        kappa=shown(between.get("cohen_kappa")),
        ac1=shown((companions.get("gwet_ac1") or {}).get("value")),
        note=describe_interval(primary["interval"]),
    )


def _interval(interval: Json | None) -> str:
    if interval is None or interval["low"] is None:
        return "–"
    if interval["high"] is None:
        return f"at least {shown(interval['low'])}"
    return f"{shown(interval['low'])} to {shown(interval['high'])}"


def describe_interval(interval: Json | None) -> str:
    """Say what a reader has to know of an interval: why there is none, or that tasks are not accounted for."""
    if interval is None:
        return ""
    if interval["reason"] is not None:
        return NO_INTERVAL[interval["reason"]]
    if interval["tasks_accounted_for"]:
        return ""
    span = interval["leave_one_task_out"]
    range_of_tasks = f": without one task {shown(span[0])} to {shown(span[1])}" if span else ""
    return f"Tasks not accounted for{range_of_tasks}."


def _plot(primary: Json, axis: Axis) -> str:
    lines = [
        *(_line("rule", axis.at(value), axis.at(value), "-1", "100%") for value in axis.thresholds),
        _line("gridline", axis.at(0), axis.at(0), "-1", "100%"),
    ]
    interval = primary["interval"] or {"low": None, "high": None}
    low, high = interval["low"], interval["high"]
    if low is not None:
        end = axis.at(high if high is not None else 1.0)
        lines.append(_line("ci", axis.at(low), end, "50%", "50%"))
        lines += [_line("ci", axis.at(v), axis.at(v), "38%", "62%") for v in (low, high) if v is not None]
    mark = "pt" if low is not None and low >= axis.thresholds[0] else "pt-open"
    point = f'<circle class="{mark}" cx="{axis.at(primary["value"])}" cy="50%" r="5"/>'
    return f'<svg aria-hidden="true">{"".join(lines)}{point}</svg>'


def _line(name: str, x1: str, x2: str, y1: str, y2: str) -> str:
    return f'<line class="{name}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'


@dataclass(frozen=True)
class HeatCell:
    count: int
    name: str


@dataclass(frozen=True)
class HeatRow:
    label: str
    cells: tuple[HeatCell, ...]
    sum: int


@dataclass(frozen=True)
class Heat:
    """The confusion matrix: rows slot A, columns slot B; cells named by shade, `agree` on the diagonal."""

    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    sums: tuple[int, ...]
    total: int
    margins: str
    by_slot: bool  # else both codes of an output are counted above the diagonal, whichever slot gave which


def heat(field: Json) -> Heat | None:
    """Return the heat table of a field; None where it has no matrix."""
    if field["matrices"] is None:
        return None
    names, counts = field["matrices"]["names"], field["matrices"]["confusion"]
    most = max((count for row in counts for count in row), default=0)
    rows = tuple(
        HeatRow(name, tuple(_cell(count, most, i == j) for j, count in enumerate(row)), sum(row))
        for i, (name, row) in enumerate(zip(names, counts, strict=True))
    )
    sums = tuple(map(sum, zip(*counts, strict=True)))
    by_slot = not field["matrices"].get("unattributed", False)
    return Heat(tuple(names), rows, sums, sum(sums), _margins(field), by_slot)


def _cell(count: int, most: int, agree: bool) -> HeatCell:
    shade = math.ceil(SHADES * math.sqrt(count / most)) if count else 0
    return HeatCell(count, f"h{shade} agree" if agree else f"h{shade}")


def _margins(field: Json) -> str:
    companions = field["figures"]["all"]["companions"] or {}
    test = (companions.get("between_slots") or {}).get("stuart_maxwell")
    if test is None:
        return ""
    p = "p < .001" if test["p"] < 0.001 else f"p = {shown(test['p'], 2)}"
    return f"Stuart–Maxwell test of unequal margins: χ² {test['statistic']:.2f}, {test['df']} df, {p}."


def describe_undefined(reason: str) -> str:
    """Say in a sentence why there is no figure."""
    return {
        "fewer_than_two_coders": "Fewer than two people gave codes.",
        "no_pairable_units": "No output has two values to compare.",
        "no_variation": "Every value is the same, so that chance agreement is complete.",
        "several_persons_a_slot": "This coefficient needs one person in each slot.",
    }.get(reason, escape(reason))
