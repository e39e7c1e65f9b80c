"""A report as its reader may know it: before the lock nobody learns who coded what, nor which output is disputed."""

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
    return {
        **result,
        "counts": counts,
        "fields": [_field_without_coders(field) for field in result["fields"]],
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
