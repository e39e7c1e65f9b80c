"""Which outputs the coders disagree on most, by blind id: where a codebook meeting should start."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.metric import FloatArray, distance_of
from adjudication.agreement.table import FieldTable

Json = dict[str, Any]


def distances(table: FieldTable) -> FloatArray:
    """Return each unit's mean distance of codes, as a share of the largest in the field; NaN unpaired."""
    coding = table.coding
    distance = distance_of(coding.metric, coding.domain, _numbers(coding))
    total, count = np.zeros(coding.index.shape[1]), np.zeros(coding.index.shape[1])
    for i in range(coding.index.shape[0]):
        for j in range(i + 1, coding.index.shape[0]):
            both = (coding.index[i] != MISSING) & (coding.index[j] != MISSING)
            total[both] += distance(coding.index[i, both], coding.index[j, both])
            count[both] += 1
    mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    largest = float(np.nanmax(mean, initial=0.0))
    return mean / largest if largest > 0 else mean


def _numbers(coding: Coding) -> FloatArray:
    """Mid-ranks at ordinal level, the values at interval and ratio level."""
    if coding.metric.level != "ordinal":
        return coding.numbers
    given = coding.index[:, coding.paired]
    counts = np.bincount(given[given != MISSING], minlength=len(coding.domain))
    return np.cumsum(counts) - counts / 2


def most_disputed(tables: Sequence[FieldTable], limit: int) -> list[Json]:
    """Return the units with most disputed fields, then the largest distance; confidence does not count."""
    found: dict[str, Json] = {}
    for table in tables:
        if table.spec.kind == "confidence":
            continue
        for pair, distance in zip(table.pairs, distances(table), strict=True):
            if np.isnan(distance):
                continue
            unit = found.setdefault(pair.output_id, _unit(pair.output_id, pair.task_id, pair.batch))
            unit["compared"] += 1
            if distance > 0:
                unit["fields"].append({"path": table.spec.path, "distance": float(distance)})
                unit["distance"] += float(distance)
    disputed = [unit for unit in found.values() if unit["fields"]]
    disputed.sort(key=lambda unit: (-len(unit["fields"]), -unit["distance"], unit["output_id"]))
    return disputed[:limit]


def _unit(output_id: str, task_id: str, batch: str) -> Json:
    return {
        "output_id": output_id,
        "task_id": task_id,
        "batch": batch,
        "fields": [],
        "compared": 0,
        "distance": 0.0,
    }
