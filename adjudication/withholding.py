"""A report as its reader may know it: before the lock nobody learns who coded what, nor which output is disputed.

Where a slot has one coder, what is said of the slot is said of that person: then the two codes of an output are shown
without saying which slot gave which."""

from collections.abc import Mapping
from typing import Any

from annotation_app.models import Membership
from blinding.policy import Disclosure

Json = dict[str, Any]


def result_for(membership: Membership, result: Mapping[str, Any]) -> Json:
    """Return a report's figures without what the member's role may not learn in the present phase."""
    shown = dict(result)
    if not membership.may_learn(Disclosure.CODER_IDENTITY):
        shown = _without_coders(shown)
    if not membership.may_learn(Disclosure.CASES):
        shown["most_disputed"] = []
    return shown


def _without_coders(result: Json) -> Json:
    counts = {**result["counts"], "per_coder": []}
    fields = [_field_without_coders(field) for field in result["fields"]]
    if _slot_is_a_person(result):
        fields = [_field_without_slots(field) for field in fields]
    return {**result, "counts": counts, "fields": fields}


def _slot_is_a_person(result: Json) -> bool:
    slots = [one["slot"] for one in result["counts"]["per_coder"]]
    return any(slots.count(slot) == 1 for slot in slots)


def _field_without_slots(field: Json) -> Json:
    figures = {name: _figure_without_slots(figure) for name, figure in field["figures"].items()}
    matrices = field["matrices"]
    if matrices:
        matrices = {**matrices, "confusion": _folded(matrices["confusion"]), "unattributed": True}
    return {**field, "figures": figures, "matrices": matrices}


def _folded(matrix: list[list[int]]) -> list[list[int]]:
    """Return how often each two values met, above the diagonal, whichever slot gave which."""
    size = range(len(matrix))
    return [
        [matrix[i][j] + matrix[j][i] if i < j else matrix[i][j] if i == j else 0 for j in size] for i in size
    ]


def _figure_without_slots(figure: Json) -> Json:
    companions = figure.get("companions")
    if not companions:
        return figure
    slotless = {**companions, "marginals": None}
    if between := companions.get("between_slots"):
        slotless["between_slots"] = {**between, "mean_difference": _unsigned(between["mean_difference"])}
    return {**figure, "companions": slotless}


def _unsigned(difference: Json | None) -> Json | None:
    """Return a mean difference with its limits, counted from the lower of the two coders."""
    if difference is None or difference["mean"] >= 0:
        return difference
    return {
        **difference,
        "mean": -difference["mean"],
        "low": -difference["high"],
        "high": -difference["low"],
    }


def _field_without_coders(field: Json) -> Json:
    return {
        **field,
        "figures": {name: _figure_without_coders(figure) for name, figure in field["figures"].items()},
        "strata": [part for part in field["strata"] if part["kind"] != "coders"],
        "by_confidence": _pooled(field["by_confidence"]),
    }


def _figure_without_coders(figure: Json) -> Json:
    companions = figure.get("companions")
    if not companions:
        return figure
    nameless = {**companions, "coder_pairs": []}
    if between := companions.get("between_slots"):
        nameless["between_slots"] = {**between, "coder_a": None, "coder_b": None}
    return {**figure, "companions": nameless}


def _pooled(bins: list[Json] | None) -> list[Json] | None:
    """Return confidence bins over all coders of both slots, weighted by what each share is of."""
    if bins is None:
        return None
    pooled: dict[tuple[float, float], Json] = {}
    for one in bins:
        key = (one["from"], one["to"])
        found = pooled.setdefault(key, {"codes": 0, "compared": 0, "agreed": 0.0, "decided": 0, "right": 0.0})
        found["codes"] += one["codes"]
        found["compared"] += one["compared"]
        found["agreed"] += (one["agreement"] or 0) * one["compared"]
        found["decided"] += one["decided"]
        found["right"] += (one["correct"] or 0) * one["decided"]
    return [_bin(low, high, found) for (low, high), found in sorted(pooled.items())]


def _bin(low: float, high: float, found: Json) -> Json:
    return {
        "slot": None,
        "coder": None,
        "from": low,
        "to": high,
        "codes": found["codes"],
        "compared": found["compared"],
        "agreement": found["agreed"] / found["compared"] if found["compared"] else None,
        "decided": found["decided"],
        "correct": found["right"] / found["decided"] if found["decided"] else None,
    }
