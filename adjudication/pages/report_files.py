"""A report as a file that stands alone: HTML with its style inside, JSON, CSV."""

from typing import Any

import orjson
from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.template.loader import render_to_string

from adjudication.pages.report_shown import field_shown, figures_shown
from annotation_app.models import Membership
from annotation_app.spreadsheet import csv_text
from blinding.projection import sealed_from_rows

STYLES = ("tokens", "base", "components", "layout", "pages", "plots")
COLUMNS = (
    "path", "field", "level", "chance", "figure", "metric", "value", "undefined", "low", "high", "interval",
    "verdict", "pairable_units", "agreement", "cohen_kappa", "gwet_ac1",
)  # fmt: skip


def json_file(result: dict[str, Any], membership: Membership) -> HttpResponse:
    body = orjson.dumps(result, option=orjson.OPT_INDENT_2)
    return HttpResponse(body, content_type="application/json")


def csv_file(result: dict[str, Any], membership: Membership) -> HttpResponse:
    """Return one line per field, figures unrounded, empty where there is none."""
    text = csv_text(COLUMNS, map(_line, result["fields"]))
    return HttpResponse(text, content_type="text/csv; charset=utf-8")


def html_file(result: dict[str, Any], membership: Membership) -> HttpResponse:
    """Return all fields in detail, in a page that needs no server."""
    report = figures_shown(result) | {
        "details": [field_shown(result, number) for number in range(len(result["fields"]))],
        "study": membership.study.title,
    }
    context = sealed_from_rows({"report": report, "style": _style()})
    return HttpResponse(render_to_string("adjudication/report_file.html", context))


def _line(field: dict[str, Any]) -> dict[str, Any]:
    primary = field["primary"]
    figure = field["figures"][primary["figure"]]
    companions, interval = figure["companions"] or {}, primary["interval"] or {}
    return {
        "path": field["path"],
        "field": field["label"],
        "level": field["distance"],
        "chance": field["chance"],
        "figure": primary["figure"],
        "metric": primary["metric"],
        "value": primary["value"],
        "undefined": primary["undefined"],
        "low": interval.get("low"),
        "high": interval.get("high"),
        "interval": interval.get("method"),
        "verdict": (field["verdict"] or {}).get("word"),
        "pairable_units": figure["units"],
        "agreement": companions.get("agreement"),
        "cohen_kappa": (companions.get("between_slots") or {}).get("cohen_kappa"),
        "gwet_ac1": (companions.get("gwet_ac1") or {}).get("value"),
    }


def _style() -> str:
    """Return the stylesheets in one; they come with the product and hold no closing tag."""
    found = [finders.find(f"css/{name}.css") for name in STYLES]
    return "\n".join(_read(path) for path in found if isinstance(path, str))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
