"""How codes of variants compare with those of their originals, arm by arm. No ORM."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any
from uuid import UUID

from annotation_app.record_schema.canonical import canonical
from annotation_app.record_schema.structure import NUMERIC, Kind
from annotation_app.registries import Settled
from annotation_app.services.tabulation import Arm

Pair = tuple[UUID, UUID]  # an original and its variant


class VariantTable:
    """One field: the settled values of every task in every arm."""

    def __init__(self, path: str, kind: Kind) -> None:
        self.path, self._kind = path, kind
        self._values: dict[tuple[UUID, Arm], list[Any]] = defaultdict(list)

    def take(self, task: UUID, arm: Arm, settled: Settled) -> None:
        """Add one output's value, if two codes or a decision settled it."""
        if settled.how in ("agreed", "decided") and settled.value is not None:
            value = settled.value["decision"] if self._kind is Kind.CLUSTER else settled.value
            self._values[task, arm].append(value)

    def as_dict(self, pairs: Iterable[Pair], arms: Iterable[Arm]) -> dict[str, Any]:
        """Return in how many (pair, arm) both have values, and how far these are apart on average.

        `distance` is the total variation between the two shares of values, 0 to 1, or for numbers the absolute
        difference of means; `same` counts those whose most frequent values are equal.
        """
        found = [
            self._compared(self._values[original, arm], self._values[variant, arm])
            for original, variant in pairs
            for arm in arms
            if (original, arm) in self._values and (variant, arm) in self._values
        ]
        return {
            "path": self.path,
            "kind": "mean" if self._kind in NUMERIC else "shares",
            "compared": len(found),
            "same": sum(same for same, _ in found),
            "distance": fmean(distance for _, distance in found) if found else None,
        }

    def _compared(self, first: list[Any], second: list[Any]) -> tuple[bool, float]:
        if self._kind in NUMERIC:
            distance = abs(fmean(first) - fmean(second))
            return distance == 0, distance
        ours, theirs = _shares(first), _shares(second)
        return _most(ours) == _most(theirs), total_variation(ours, theirs)


def total_variation(first: Mapping[bytes, float], second: Mapping[bytes, float]) -> float:
    """Return half the sum of absolute differences of two shares: 0 for equal ones, 1 for ones with nothing in common."""
    return sum(abs(first.get(value, 0) - second.get(value, 0)) for value in first.keys() | second.keys()) / 2


def _shares(values: list[Any]) -> dict[bytes, float]:
    counts = Counter(canonical(sorted(value) if isinstance(value, list) else value) for value in values)
    return {value: n / len(values) for value, n in counts.items()}


def _most(shares: Mapping[bytes, float]) -> set[bytes]:
    highest = max(shares.values())
    return {value for value, share in shares.items() if share == highest}
