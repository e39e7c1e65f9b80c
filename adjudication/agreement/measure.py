"""One figure of a field, ready for JSON: alpha or why there is none, its interval, its companions."""

from dataclasses import asdict
from typing import Any

import numpy as np

from adjudication.agreement import alpha, companions, stratified
from adjudication.agreement.alpha import Undefined
from adjudication.agreement.bootstrap import Interval, Resampling, interval
from adjudication.agreement.companions import CoderPair, MeanDifference
from adjudication.agreement.encode import Coding
from adjudication.agreement.equivalents import ALPHA, MetricName, form_for
from adjudication.agreement.fast import patterns_of
from adjudication.agreement.metric import Label
from adjudication.agreement.table import FieldTable

Json = dict[str, Any]

CATEGORICAL = frozenset({"nominal", "ordinal"})
MATRIX_VALUES = 40  # more make no table that anyone reads


def figure(table: FieldTable, resampling: Resampling, *, check: bool = True) -> Json:
    """Return alpha with everything that belongs to it; `check` lets the package recompute each task's D_e."""
    result = brief(table, resampling)
    if table.spec.within_tasks and result["alpha"] is not None:
        result["tasks"] = _tasks(table, check)
    result["companions"] = _companions(table)
    result["per_category"] = _per_category(table)
    return result


def brief(table: FieldTable, resampling: Resampling | None) -> Json:
    """Return alpha, its parts and its interval; no interval without `resampling`."""
    within = table.spec.within_tasks
    found = stratified.estimate(table.coding, table.tasks) if within else alpha.estimate(table.coding)
    chance = "within_tasks" if within else "pooled"
    if isinstance(found, Undefined):
        units = int(table.coding.paired.sum())
        return _figure(alpha=None, undefined=found.reason, units=units, values=0, chance=chance)
    span = None
    if resampling is not None:
        drawn = interval(table.coding, resampling, tasks=table.tasks, within_tasks=within)
        span = interval_json(drawn, resampling)
    return _figure(
        alpha=found.value,
        observed_disagreement=found.observed,
        expected_disagreement=found.expected,
        units=found.units,
        values=found.values,
        computed_by=found.computed_by,
        chance=chance,
        interval=span,
    )


def _figure(**known: Any) -> Json:
    blank = dict.fromkeys(
        (
            "alpha",
            "undefined",
            "observed_disagreement",
            "expected_disagreement",
            "computed_by",
            "interval",
            "tasks",
        )
    )
    return {**blank, **known, "companions": None, "per_category": None}


METHODS = {
    "percentile": "percentile bootstrap",
    "exact_lower_bound": "exact one-sided lower bound",
    "none": None,
}


def interval_json(found: Interval, resampling: Resampling) -> Json:
    """Return an interval as JSON: bootstrap shares as objects, the leave-one-task-out range as a pair."""
    span = found.leave_one_task_out
    return {
        **asdict(found),
        "method": METHODS[found.kind],
        "coverage": resampling.coverage,
        "generator": "PCG64",
        "seed": resampling.seed,
        "below": [{"threshold": threshold, "bootstrap_share": share} for threshold, share in found.below],
        "leave_one_task_out": list(span) if span else None,
    }


def _tasks(table: FieldTable, check: bool) -> Json:
    parts = stratified.task_parts(table.coding, table.tasks)
    checked = stratified.package_check(table.coding, table.tasks) if check else None
    return {
        "with_pairable_units": int(parts.tasks.size),
        "without_variation": parts.without_variation,
        "package_check": {**asdict(checked), "passed": checked.passed} if checked else None,
    }


def equivalent(table: FieldTable, metric: MetricName, resampling: Resampling) -> Json | None:
    """Return a preregistered equivalent with its interval; None where it does not apply to the field."""
    if metric == ALPHA or table.spec.within_tasks or table.coding.metric.level != "nominal":
        return None
    if metric == "cohen_kappa" and not one_person_a_slot(table):
        return {"metric": metric, "value": None, "undefined": "several_persons_a_slot", "interval": None}
    patterns = patterns_of(table.coding, ordered=True)
    form = form_for(metric, table.coding, patterns)
    figures = form.figures(form.sums(patterns).times(patterns.weights[None, :]))
    value = float(figures.alpha()[0])
    if not np.isfinite(value):
        reason = "no_variation" if patterns.weights.size else "no_pairable_units"
        return {"metric": metric, "value": None, "undefined": reason, "interval": None}
    span = interval(table.coding, resampling, tasks=table.tasks, metric=metric)
    return {"metric": metric, "value": value, "undefined": None, "interval": interval_json(span, resampling)}


def one_person_a_slot(table: FieldTable) -> bool:
    """Whether all pairable units were coded by the same two people."""
    return len({(pair.coder_a, pair.coder_b) for pair in table.pairable.pairs}) == 1


def _companions(table: FieldTable) -> Json | None:
    """Agreement, coefficients, margins and bias of two rows of codes; None for more."""
    if table.coding.index.shape[0] != 2:
        return None
    table = table.pairable
    coding, pooled = table.coding, not table.spec.within_tasks
    pairs = _coder_pairs(table)
    nominal = pooled and coding.metric.level == "nominal"
    return {
        "agreement": companions.percent_agreement(coding),
        "gwet_ac1": {
            "value": companions.gwet_ac1(coding, len(coding.domain)),
            "categories": len(coding.domain),
        }
        if nominal
        else None,
        "between_slots": pairs[0] if len(pairs) == 1 else None,
        "coder_pairs": pairs,
        "marginals": _marginals(coding) if pooled and len(coding.domain) <= MATRIX_VALUES else None,
    }


def _marginals(coding: Coding) -> list[Json]:
    first, second = (np.bincount(row, minlength=len(coding.domain)) for row in coding.index)
    return [
        {"value": json_label(value), "slot_a": int(a), "slot_b": int(b)}
        for value, a, b in zip(coding.domain, first, second, strict=True)
    ]


def _coder_pairs(table: FieldTable) -> list[Json]:
    first = [pair.coder_a for pair in table.pairs]
    second = [pair.coder_b for pair in table.pairs]
    found = companions.coder_pairs(table.coding, first, second)
    return [_coder_pair(table, pair) for pair in found]


def _coder_pair(table: FieldTable, pair: CoderPair) -> Json:
    """Kappa for nominal fields, the margins test for categories, the mean difference for numbers."""
    level, pooled = table.coding.metric.level, not table.spec.within_tasks
    difference: MeanDifference | None = None
    if table.coding.metric.is_numeric:
        own = [p.coder_a == pair.first and p.coder_b == pair.second for p in table.pairs]
        difference = companions.mean_difference(*table.coding.take(np.array(own, dtype=np.bool_)).floats())
    return {
        "coder_a": pair.first,
        "coder_b": pair.second,
        "units": pair.units,
        "agreement": pair.agreement,
        "cohen_kappa": pair.kappa if pooled and level == "nominal" else None,
        "stuart_maxwell": asdict(pair.margins) if pair.margins and pooled and level in CATEGORICAL else None,
        "mean_difference": asdict(difference) if difference else None,
    }


def _per_category(table: FieldTable) -> list[Json] | None:
    """Alpha of each value against the rest, for categories whose chance is pooled."""
    coding = table.coding
    if (
        table.spec.within_tasks
        or coding.metric.level not in CATEGORICAL
        or len(coding.domain) > MATRIX_VALUES
    ):
        return None
    matrix = alpha.coincidences(coding)
    return [
        {
            "value": json_label(value),
            "values": round(float(count), 9),
            "alpha": found,
            "undefined": None if found is not None else "no_variation",
        }
        for value, count, found in zip(
            coding.domain, matrix.sum(axis=1), alpha.category_alphas(matrix), strict=True
        )
    ]


def matrices(table: FieldTable) -> Json | None:
    """Return the coincidence matrix and the confusion matrix (rows slot A, columns slot B) of a field."""
    coding = table.coding
    if table.spec.kind == "place" or len(coding.domain) > MATRIX_VALUES:
        return None
    confusion = companions.confusion(coding.index[0], coding.index[1], len(coding.domain))
    return {
        "values": [json_label(value) for value in coding.domain],
        "names": [table.spec.name_of(value) for value in coding.domain],
        "coincidence": alpha.coincidences(coding).tolist(),
        "confusion": confusion.astype(np.int64).tolist(),
    }


def json_label(value: Label) -> str | int | float | bool | list[str]:
    """A label as JSON has it: sets are sorted lists."""
    return sorted(value) if isinstance(value, frozenset) else value
