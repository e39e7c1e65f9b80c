"""The figures of the results as CSV: one line for each, unrounded, in one table for all parts."""

from collections.abc import Iterator
from typing import Any

from annotation_app.record_schema.structure import value_key
from annotation_app.spreadsheet import csv_text

Json = dict[str, Any]
COLUMNS = (
    "part", "field", "value", "condition", "model", "coder", "measure", "estimate", "low", "high", "count",
    "outputs", "tasks", "undecided", "single", "right", "wrong", "dont_know", "p",
)  # fmt: skip


def results_csv(found: Json) -> str:
    """Return everything that the service returns about arms; text that a spreadsheet would run is made harmless."""
    return csv_text(COLUMNS, _lines(found))


def _lines(found: Json) -> Iterator[Json]:
    yield from _consensus("consensus", found["fields"])
    yield from _consensus("without_recognised", found["without_recognised"]["fields"])
    for row in found["controls"]:
        yield {
            "part": "controls",
            **_arm(row),
            "measure": "as_expected",
            "estimate": row["share"],
            "count": row["as_expected"],
            "outputs": row["outputs"],
        }
    measured = found["blinding"]
    for name, guesses in measured["guesses"].items():
        yield from _guesses(name, guesses)
    yield from _rates(measured)
    yield from _lengths(measured["lengths"])


def _consensus(part: str, fields: list[Json]) -> Iterator[Json]:
    for field in fields:
        for cell in field["cells"]:
            line = {"part": part, "field": field["path"], **_arm(cell)}
            line |= {name: cell[name] for name in ("outputs", "tasks", "undecided", "single")}
            if "mean" in cell:
                yield line | {"measure": "mean", "estimate": cell["mean"], **_interval(cell["interval"])}
            for one in cell.get("values", ()):
                yield line | {
                    "measure": "share",
                    "value": value_key(one["value"]),
                    "estimate": one["share"],
                    "count": one["count"],
                    **_interval(one["interval"]),
                }
            if not cell["outputs"]:
                yield line


def _guesses(name: str, found: Json) -> Iterator[Json]:
    for row in found["by_coder_and_arm"]:
        line = {"part": "guesses", "field": name, "value": row["arm"], "coder": row["coder"], **row["counts"]}
        yield line | {"measure": "bang", "estimate": row["value"], **_interval(row["interval"])}
        if row["interval_by_task"] is not None:
            by_task = _interval(row["interval_by_task"])
            yield line | {"measure": "bang_by_task", "estimate": row["value"], **by_task}
    for row in found["james"]:
        line = {"part": "guesses", "field": name, "coder": row["coder"], "measure": "james"}
        yield line | {"estimate": row["value"], **_interval(row["interval"])}
    yield {
        "part": "guesses",
        "field": name,
        "measure": "as_many_right_by_chance",
        "p": found["as_many_right_by_chance"],
        "count": found["guesses"],
    }


def _rates(measured: Json) -> Iterator[Json]:
    for row in measured["recognition"]:
        line = {"part": "recognition", **_arm(row), "outputs": row["opened"]}
        for how in ("says_so", "knows", "hunch", "recall"):
            yield line | {"measure": how, "count": row[how]}
        yield line | {"measure": "rate", "estimate": row["rate"]}
    for row in measured["masks"]:
        line = {"part": "masks", **_arm(row), "outputs": row["outputs"]}
        yield line | {"measure": "masked", "estimate": row["rate"], "count": row["masked"]}
        yield line | {
            "measure": "per_thousand_characters",
            "estimate": row["per_thousand_characters"],
            "count": row["masks"],
        }


def _lengths(found: Json) -> Iterator[Json]:
    for row in found["by_arm"]:
        line = {"part": "lengths", "field": row["arm"], "value": row["value"], "outputs": row["texts"]}
        low, median, high = row["quartiles"]
        yield line | {"measure": "mean", "estimate": row["mean"]}
        yield line | {"measure": "median_and_quartiles", "estimate": median, "low": low, "high": high}
    for row in found["length_alone"]:
        line = {"part": "length_alone", "field": row["arm"]}
        yield line | {"measure": "balanced_accuracy", "estimate": row["balanced_accuracy"], "p": row["p"]}
        yield line | {"measure": "chance", "estimate": row["chance"]}
        yield line | {"measure": "area_under_the_curve", "estimate": row["auc"]}


def _arm(row: Json) -> Json:
    return {"condition": row["condition"], "model": row["model"]}


def _interval(interval: Any) -> Json:
    return {} if interval is None else {"low": interval[0], "high": interval[1]}
