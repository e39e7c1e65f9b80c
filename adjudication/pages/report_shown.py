"""A report as its page shows it: forest table, one field in detail, what was counted."""

from django.utils import formats
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from adjudication.agreement.drift_plot import drift_plot
from adjudication.agreement.figures import ForestRow, Heat, describe_undefined, forest, heat, shown
from adjudication.agreement.report import Json

METRICS = {"gwet_ac1": "Gwet’s AC1", "cohen_kappa": "Cohen’s kappa", "percent_agreement": "percent agreement"}


def figures_shown(result: Json) -> Json:
    """Return the forest table and the counts of a report."""
    table, settings = forest(result), result["settings"]
    return {
        "axis": _svg(table.axis),
        "fields": [_row(row) for row in table.rows],
        "columns": _columns(settings["coverage"]),
        "thresholds": [shown(settings["thresholds"][name]).rstrip("0") for name in ("tentative", "reliable")],
        "coverage": f"{settings['coverage']:.0%}".replace("%", " %"),
        "metric_title": _metric_title(settings["metric"]),
        "method": _method(settings),
        "facts": [_data_facts(result), _scope_facts(result), _software_facts(result)],
        "methods": result["methods"],
        "disputed": _disputed(result),
    }


def field_choices(result: Json, chosen: int) -> list[Json]:
    return [
        {"value": str(n), "label": field["label"], "selected": n == chosen}
        for n, field in enumerate(result["fields"])
    ]


def default_field(result: Json) -> int:
    """Return the number of the first field with a matrix; 0 where none has one."""
    return next((n for n, field in enumerate(result["fields"]) if field["matrices"] is not None), 0)


def field_shown(result: Json, number: int) -> Json:
    """Return one field in detail: matrix, drift, parts."""
    field, thresholds = result["fields"][number], result["settings"]["thresholds"]
    limits = (thresholds["tentative"], thresholds["reliable"])
    matrix = heat(field)
    return {
        "number": number,
        "label": field["label"],
        "confusion": _confusion(matrix) if matrix and matrix.total else None,
        "drift": _svg(drift_plot(field, "position", f"drift-{number}", limits)),
        "tables": _tables(field, number),
    }


def _tables(field: Json, number: int) -> list[Json]:
    found = [table for table in (_parts(field), _categories(field), _confidence(field)) if table]
    return [table | {"ident": f"{number}-{n}"} for n, table in enumerate(found)]


def _svg(markup: str) -> SafeString | str:
    """Mark what `figures` drew: it escapes every label that it writes."""
    return mark_safe(markup) if markup else ""


def _row(row: ForestRow) -> Json:
    return {
        "label": row.label,
        "level": _("%(level)s, chance within tasks") % {"level": row.level} if row.chance else row.level,
        "svg": _svg(row.svg),
        "undefined": describe_undefined(row.undefined) if row.undefined else "",
        "code": row.undefined,
        "estimate": row.alpha,
        "interval": row.interval,
        "verdict": row.verdict,
        "verdict_state": row.state.removeprefix("state-"),
        "cells": [row.units, row.agreement, row.kappa, row.ac1],
    }


def _columns(coverage: float) -> list[Json]:
    words = [_("%(share)s %% interval") % {"share": f"{100 * coverage:g}"}, _("Verdict"), _("Pairable units")]
    words += [_("Same, %"), _("Cohen’s kappa"), _("Gwet’s AC1")]
    return [{"label": _("Alpha"), "num": True}, *({"label": w, "num": n != 1} for n, w in enumerate(words))]


def _metric_title(metric: str) -> str:
    if metric in METRICS:
        return _("Krippendorff’s alpha by field; %(metric)s for nominal fields") % {"metric": METRICS[metric]}
    return _("Krippendorff’s alpha by field")


def _method(settings: Json) -> str:
    words = _("The verdict goes by the lower bound. %(n)s bootstrap resamples, seed %(seed)s.")
    return words % {
        "n": formats.number_format(settings["resamples"], force_grouping=True),
        "seed": settings["seed"],
    }


def _confusion(found: Heat) -> Json:
    rows = [
        {"label": row.label, "sum": row.sum, "cells": [{"count": c.count, "name": c.name} for c in row.cells]}
        for row in found.rows
    ]
    return {
        "columns": list(found.columns),
        "rows": rows,
        "sums": found.sums,
        "total": found.total,
        "note": found.margins,
        "by_slot": found.by_slot,
    }


def _parts(field: Json) -> Json | None:
    """Return alpha by batch, control and coders; parts are looked at, never averaged."""
    kinds = {"batch": _("Batch"), "positive_control": _("Classes to check"), "coders": _("Coders")}
    rows = [
        [f"{kinds.get(part['kind'], part['kind'])}: {part['name']}", shown(part["alpha"]), part["units"]]
        for part in field["strata"]
        if part["kind"] != "task"
    ]
    if len(rows) < 2:
        return None
    columns = [_("Part"), _("Alpha"), _("Units")]
    return {"title": _("%(field)s in parts") % {"field": field["label"]}, "columns": columns, "rows": rows}


def _categories(field: Json) -> Json | None:
    figure = field["figures"][field["primary"]["figure"]]
    if not figure["per_category"]:
        return None
    names = {str(v["value"]): v["label"] for v in field["values"]}
    rows = [
        [names.get(str(one["value"]), str(one["value"])), shown(one["alpha"]), f"{one['values']:g}"]
        for one in figure["per_category"]
    ]
    columns = [_("Value against the rest"), _("Alpha"), _("Times given")]
    return {"title": _("%(field)s by value") % {"field": field["label"]}, "columns": columns, "rows": rows}


def _confidence(field: Json) -> Json | None:
    if field["by_confidence"] is None:
        return None
    named = any(one["coder"] for one in field["by_confidence"])
    rows = [
        [_bin_name(one), one["codes"], _share(one["agreement"]), _share(one["correct"])]
        for one in field["by_confidence"]
    ]
    columns = [
        _("Coder and bin") if named else _("Bin"),
        _("Codes"),
        _("Other coder the same, %"),
        _("Confirmed, %"),
    ]
    text = _("What confidence is worth: it has no verdict.")
    return {"title": field["label"], "text": text, "columns": columns, "rows": rows}


def _bin_name(one: Json) -> str:
    bounds = _("%(low)s to %(high)s") % {"low": shown(one["from"], 2), "high": shown(one["to"], 2)}
    return f"{one['coder']}: {bounds}" if one["coder"] else bounds


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _disputed(result: Json) -> Json | None:
    rows = [
        [unit["output_id"], len(unit["fields"]), unit["compared"], f"{unit['distance']:.2f}"]
        for unit in result["most_disputed"]
    ]
    if not rows:
        return None
    columns = [_("Output"), _("Fields in dispute"), _("Compared"), _("Distance")]
    return {"title": _("Most disputed outputs"), "columns": columns, "rows": rows}


def _data_facts(result: Json) -> list[Json]:
    counts = result["counts"]
    left_out = [
        (_("Left out: %(why)s") % {"why": one["reason"].replace("_", " ")}, one["pairs"])
        for one in counts["excluded"]
    ]
    rows = [
        (_("Pairs of final codes"), counts["pairs"]),
        (_("Compared"), counts["compared"]),
        *left_out,
        (_("Tasks"), counts["tasks"]),
        (_("Batches"), counts["batches"]),
        (_("With classes to check"), counts["positive_controls"]),
    ]
    return [{"label": label, "value": value} for label, value in rows]


def _scope_facts(result: Json) -> list[Json]:
    scope = result["scope"]
    return [
        {"label": _("Codebook"), "value": scope["codebook_version"]},
        {"label": _("First code"), **_when(scope["first_submitted"])},
        {"label": _("Last code"), **_when(scope["last_submitted"])},
        {"label": _("Computed"), **_when(scope["computed_at"])},
    ]


def _software_facts(result: Json) -> list[Json]:
    versions = ", ".join(f"{name} {number}" for name, number in result["software"].items() if number)
    return [
        {"label": _("Data hash"), "value": result["scope"]["data_hash"], "mono": True},
        {"label": _("Protocol"), "value": result["scope"]["protocol_hash"], "mono": True},
        {"label": _("Software"), "value": versions},
    ]


def _when(text: str | None) -> Json:
    moment = parse_datetime(text) if text else None
    return {"at": moment} if moment else {"value": "–"}
