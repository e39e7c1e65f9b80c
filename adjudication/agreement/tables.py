"""A report as CSV: one row per field and figure, unrounded, for people who work in a spreadsheet."""

from collections.abc import Iterator
from typing import Any

from annotation_app.spreadsheet import csv_text

Json = dict[str, Any]

COLUMNS = (
    "path", "label", "level", "chance", "figure", "primary", "alpha", "undefined", "low", "high",
    "interval_kind", "no_interval_reason", "coverage", "resampled", "tasks_accounted_for",
    "resamples", "undefined_resamples", "seed", "share_below_tentative", "share_below_reliable",
    "verdict", "pairable_units", "pairable_values", "observed_disagreement",
    "expected_disagreement", "agreement", "gwet_ac1", "ac1_categories", "cohen_kappa",
    "computed_by",
)  # fmt: skip


def report_csv(report: Json) -> str:
    """Return CSV (RFC 4180); text that a spreadsheet would run as a formula gets an apostrophe in front."""
    return csv_text(COLUMNS, rows(report))


def rows(report: Json) -> Iterator[Json]:
    """Yield one row per field and figure; empty where there is no value."""
    for field in report["fields"]:
        figures = dict(field["figures"])
        if field["with_excluded"] is not None:
            figures["with_excluded"] = field["with_excluded"]
        for name, figure in figures.items():
            yield {**_names(field, name), **_figure(figure), **_interval(figure["interval"] or {})}


def _names(field: Json, name: str) -> Json:
    primary = name == field["primary"]["figure"]
    return {
        **{key: field[key] for key in ("path", "label", "level", "chance")},
        "figure": name,
        "primary": primary,
        "verdict": field["verdict"]["word"] if primary and field["verdict"] else None,
    }


def _figure(figure: Json) -> Json:
    companions = figure["companions"] or {}
    ac1 = companions.get("gwet_ac1") or {}
    same = ("alpha", "undefined", "observed_disagreement", "expected_disagreement", "computed_by")
    return {
        **{key: figure[key] for key in same},
        "pairable_units": figure["units"],
        "pairable_values": figure["values"],
        "agreement": companions.get("agreement"),
        "gwet_ac1": ac1.get("value"),
        "ac1_categories": ac1.get("categories"),
        "cohen_kappa": (companions.get("between_slots") or {}).get("cohen_kappa"),
    }


def _interval(interval: Json) -> Json:
    below = [share["bootstrap_share"] for share in interval.get("below", [])]
    tentative, reliable = below if len(below) == 2 else (None, None)
    same = ("low", "high", "coverage", "resampled", "tasks_accounted_for", "resamples", "seed")
    return {
        **{key: interval.get(key) for key in same},
        "interval_kind": interval.get("kind"),
        "no_interval_reason": interval.get("reason"),
        "undefined_resamples": interval.get("undefined"),
        "share_below_tentative": tentative,
        "share_below_reliable": reliable,
    }
