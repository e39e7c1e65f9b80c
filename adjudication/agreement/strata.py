"""A field's figure in parts: by batch, task, control, pair of coders, open labels; by position and date.

Parts are looked at, never averaged: the figure of a field pools its units."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudication.agreement.bootstrap import Resampling
from adjudication.agreement.measure import brief
from adjudication.agreement.pairs import CodedPair
from adjudication.agreement.settings import ReportSettings
from adjudication.agreement.table import FieldTable

Json = dict[str, Any]
Mask = npt.NDArray[np.bool_]

KEPT = ("alpha", "undefined", "units", "values", "interval")
LARGEST_TASK_LIST = 500


def strata(table: FieldTable, settings: ReportSettings) -> list[Json]:
    """Return alpha with n for every stratum of the pairable units; tasks without intervals."""
    kinds: dict[str, Callable[[CodedPair], str | None]] = {
        "batch": lambda pair: pair.batch,
        "positive_control": lambda pair: "yes" if pair.positive_control else "no",
        "coders": lambda pair: f"{pair.coder_a} × {pair.coder_b}",
    }
    for name in sorted({name for pair in table.pairs for name in pair.strata}):
        kinds[name] = lambda pair, name=name: pair.strata.get(name)  # type: ignore[misc]
    found = []
    for kind, label in kinds.items():
        found += _by(table, kind, label, settings.window_resampling)
    tasks = {pair.task_id for pair in table.pairs}
    if len(tasks) <= LARGEST_TASK_LIST:
        found += _by(table, "task", lambda pair: pair.task_id, None)
    return found


def _by(
    table: FieldTable, kind: str, label: Callable[[CodedPair], str | None], resampling: Resampling | None
) -> list[Json]:
    labels = [label(pair) for pair in table.pairs]
    return [
        {"kind": kind, "name": name, **_part(table, np.array([own == name for own in labels]), resampling)}
        for name in sorted({name for name in labels if name is not None})
    ]


def _part(table: FieldTable, units: Mask, resampling: Resampling | None) -> Json:
    figure = brief(table.take(units), resampling)
    return {key: figure[key] for key in KEPT}


def drift(table: FieldTable, settings: ReportSettings) -> Json:
    """Return alpha by windows of each slot's own position, and by the date of the later code."""
    return {
        "position": {
            "a": _positions(table, [pair.position_a for pair in table.pairs], settings),
            "b": _positions(table, [pair.position_b for pair in table.pairs], settings),
        },
        "calendar": _calendar(table, settings),
    }


def _positions(table: FieldTable, positions: Sequence[int | None], settings: ReportSettings) -> list[Json]:
    known = [position for position in positions if position is not None]
    if not known:
        return []
    first, last = min(known), max(known)
    width = max(settings.smallest_window, math.ceil((last - first + 1) / settings.windows))
    at = np.array([math.nan if position is None else position for position in positions], dtype=np.float64)
    windows = []
    for start in range(first, last + 1, width):
        end = min(start + width - 1, last)
        inside = (at >= start) & (at <= end)
        windows.append({"from": start, "to": end, **_part(table, inside, settings.window_resampling)})
    return windows


def _calendar(table: FieldTable, settings: ReportSettings) -> list[Json]:
    days = [_later_day(pair) for pair in table.pairs]
    known = [day for day in days if day is not None]
    if not known:
        return []
    first, last = min(known), max(known)
    width = max(1, math.ceil(((last - first).days + 1) / settings.windows))
    windows = []
    for start in range(0, (last - first).days + 1, width):
        opens = first + timedelta(days=start)
        closes = min(opens + timedelta(days=width - 1), last)
        inside = np.array([day is not None and opens <= day <= closes for day in days], dtype=np.bool_)
        part = _part(table, inside, settings.window_resampling)
        windows.append({"from": opens.isoformat(), "to": closes.isoformat(), **part})
    return windows


def _later_day(pair: CodedPair) -> date | None:
    given = [_utc(moment) for moment in (pair.submitted_a, pair.submitted_b) if moment is not None]
    return max(given).date() if given else None


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
