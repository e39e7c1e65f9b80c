"""The agreement report: from pairs of final primary codes to one JSON-able document with all a page shows."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from adjudication.agreement.confidence import by_confidence
from adjudication.agreement.disputed import most_disputed
from adjudication.agreement.encode import MISSING
from adjudication.agreement.equivalents import ALPHA
from adjudication.agreement.fields import BLANK, FieldSpec
from adjudication.agreement.measure import brief, equivalent, figure, json_label, matrices
from adjudication.agreement.methods import methods_paragraph
from adjudication.agreement.pairs import CodedPair, Selection, Unit, select
from adjudication.agreement.place import compare_membership
from adjudication.agreement.settings import ReportSettings
from adjudication.agreement.strata import drift, strata
from adjudication.agreement.table import FieldTable, table_of
from adjudication.agreement.variants import variants_of

__all__ = ["CodedPair", "FieldSpec", "ReportSettings", "build_report"]

FORMAT = 1
Json = dict[str, Any]
Progress = Callable[[int, int], None]


def build_report(
    pairs: Sequence[CodedPair],
    specs: Sequence[FieldSpec],
    scope: Mapping[str, Any],
    settings: ReportSettings | None = None,
    progress: Progress | None = None,
) -> Json:
    """Return the report on `pairs`; its shape is `report.schema.json`.

    `progress` hears (done, total) after each field. Raises AgreementInputError that names the bad place."""
    settings = settings or ReportSettings()
    selection = select(pairs, settings.sensitivity)
    tables = [table_of(spec, selection.main) for spec in specs if spec.kind != "skip"]
    tell = progress or (lambda done, total: None)
    tell(0, len(tables))
    fields = []
    for done, table in enumerate(tables, 1):
        fields.append(_field(table, tables, selection, settings))
        tell(done, len(tables))
    report = {
        "format": FORMAT,
        "scope": {**scope, **_dates(selection.main)},
        "settings": _settings(settings),
        "software": _software(),
        "counts": _counts(pairs, selection),
        "fields": fields,
        "most_disputed": most_disputed(tables, settings.disputed),
    }
    return {**report, "methods": methods_paragraph(report)}


def _field(
    table: FieldTable, tables: Sequence[FieldTable], selection: Selection, settings: ReportSettings
) -> Json:
    """Everything about one field; the primary figure is the one a verdict may rest on."""
    variants = variants_of(table)
    figures = {name: figure(variant, settings.resampling) for name, variant in variants.items()}
    name = "both_applicable" if "both_applicable" in variants else "all"
    primary = _primary(name, variants[name], figures[name], settings)
    shown = variants[name].pairable
    return {
        **_description(table.spec, variants[name]),
        "counts": _field_counts(table),
        "figures": figures,
        "primary": primary,
        "verdict": None if table.spec.kind == "confidence" else verdict(primary, settings),
        "with_excluded": _with_excluded(table.spec, name, selection, settings),
        "membership": asdict(compare_membership(table.placed)) if table.spec.kind == "place" else None,
        "matrices": matrices(table),
        "strata": strata(shown, settings),
        "drift": drift(shown, settings),
        "by_confidence": by_confidence(table, tables) if table.spec.kind == "confidence" else None,
    }


def _primary(name: str, table: FieldTable, found: Json, settings: ReportSettings) -> Json:
    other = equivalent(table, settings.metric, settings.resampling)
    if other is not None:
        return {"figure": name, **other}
    return {
        "figure": name,
        "metric": ALPHA,
        "value": found["alpha"],
        "undefined": found["undefined"],
        "interval": found["interval"],
    }


def verdict(primary: Json, settings: ReportSettings) -> Json:
    """Return the verdict by the lower bound of the primary figure: it alone, never the estimate, decides."""
    if primary["undefined"]:
        return {"word": "undefined", "bound": None, "by": None, "reason": primary["undefined"]}
    interval = primary["interval"]
    if interval["low"] is None:
        return {"word": "undetermined", "bound": None, "by": None, "reason": interval["reason"]}
    tentative, reliable = settings.thresholds
    low = interval["low"]
    word = "reliable" if low >= reliable else "tentative" if low >= tentative else "not_to_be_relied_on"
    return {"word": word, "bound": low, "by": interval["method"], "reason": None}


def _with_excluded(spec: FieldSpec, name: str, selection: Selection, settings: ReportSettings) -> Json | None:
    """The primary figure with pairs left out for exposure, void or recall; None if there are none."""
    if not any(selection.excluded[reason] for reason in settings.sensitivity):
        return None
    table = variants_of(table_of(spec, selection.with_excluded)).get(name)
    return brief(table, settings.resampling) if table is not None else None


def _description(spec: FieldSpec, primary: FieldTable) -> Json:
    metric = primary.coding.metric
    return {
        "path": spec.path,
        "label": spec.label,
        "kind": spec.kind,
        "level": metric.level,
        "distance": metric.name,
        "chance": "within_tasks" if spec.within_tasks else "pooled",
        "values": [{"value": json_label(value), "label": spec.name_of(value)} for value in spec.values],
        "missing_values": list(spec.missing),
    }


def _field_counts(table: FieldTable) -> Json:
    coding = table.coding
    given = (coding.index != MISSING).sum(axis=1)

    def count(value: object) -> int:
        return int((coding.index == coding.domain.index(value)).sum()) if value in coding.domain else 0

    return {
        "units": coding.index.shape[1],
        "given_a": int(given[0]),
        "given_b": int(given[1]),
        "pairable_units": int(coding.paired.sum()),
        "pairable_values": int((coding.index[:, coding.paired] != MISSING).sum()),
        "blank": count(BLANK),
        "not_applicable": count(table.spec.not_applicable),
        "uncertain": count(table.spec.uncertain),
        "tasks": int(np.unique(table.tasks[coding.paired]).size),
    }


def _counts(pairs: Sequence[CodedPair], selection: Selection) -> Json:
    main = [unit.pair for unit in selection.main]
    slots = Counter(("A", pair.coder_a) for pair in main) + Counter(("B", pair.coder_b) for pair in main)
    return {
        "pairs": len(pairs),
        "compared": len(main),
        "excluded": [{"reason": reason, "pairs": n} for reason, n in sorted(selection.excluded.items())],
        "tasks": len({pair.task_id for pair in main}),
        "batches": len({pair.batch for pair in main}),
        "positive_controls": sum(pair.positive_control for pair in main),
        "per_coder": [
            {"slot": slot, "coder": coder, "codes": n} for (slot, coder), n in sorted(slots.items())
        ],
    }


def _dates(units: Sequence[Unit]) -> Json:
    given: list[datetime] = []
    for unit in units:
        given += [m for m in (unit.pair.submitted_a, unit.pair.submitted_b) if m is not None]
    return {
        "first_submitted": min(given).isoformat() if given else None,
        "last_submitted": max(given).isoformat() if given else None,
    }


def _settings(settings: ReportSettings) -> Json:
    known = asdict(settings)
    known["thresholds"] = dict(zip(("tentative", "reliable"), settings.thresholds, strict=True))
    known["sensitivity"] = sorted(settings.sensitivity)
    return {**known, "generator": "PCG64"}


def _software() -> Json:
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        **{name: _version(name) for name in ("numpy", "krippendorff", "twinblind")},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
