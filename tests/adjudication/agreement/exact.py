"""Alpha by its definition: all ordered pairs of values, in rational numbers. Slow and short: the judge."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Distance = Callable[[Any, Any], Fraction]


def exact_alpha(rows: Sequence[Sequence[Any]], distance: Distance) -> Fraction | None:
    """Return alpha of coders × units (None is missing), or None where it is undefined."""
    units = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    if n < 2:
        return None
    observed = sum((_pairs(unit, distance) / (len(unit) - 1) for unit in units), Fraction(0)) / n
    expected = _pairs(values, distance) / (n * (n - 1))
    return 1 - observed / expected if expected else None


def exact_float(rows: Sequence[Sequence[Any]], distance: Distance) -> float:
    """The same where alpha is known to exist."""
    found = exact_alpha(rows, distance)
    assert found is not None
    return float(found)


def _pairs(values: Sequence[Any], distance: Distance) -> Fraction:
    return sum(
        (distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j), Fraction(0)
    )


def nominal(a: Any, b: Any) -> Fraction:
    return Fraction(a != b)


def interval(a: Any, b: Any) -> Fraction:
    return (Fraction(a) - Fraction(b)) ** 2


def ratio(a: Any, b: Any) -> Fraction:
    total = Fraction(a) + Fraction(b)
    return ((Fraction(a) - Fraction(b)) / total) ** 2 if total else Fraction(0)


def ordinal(rows: Sequence[Sequence[Any]]) -> Distance:
    """The ordinal distance that belongs to the pairable values of these rows."""
    units = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    values = [value for unit in units if len(unit) > 1 for value in unit]

    def distance(a: Any, b: Any) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(1 for value in values if low <= value <= high)
        ends = values.count(a) + values.count(b)
        return (between - Fraction(ends, 2)) ** 2 if a != b else Fraction(0)

    return distance


def masi(a: frozenset[str], b: frozenset[str]) -> Fraction:
    if a == b:
        return Fraction(0)
    jaccard = Fraction(len(a & b), len(a | b))
    if a <= b or b <= a:
        return 1 - jaccard * Fraction(2, 3)
    return 1 - jaccard * Fraction(1, 3) if a & b else Fraction(1)


def overlap(a: frozenset[str], b: frozenset[str]) -> Fraction:
    if a == b:
        return Fraction(0)
    if a <= b or b <= a:
        return Fraction(1, 3)
    return Fraction(2, 3) if a & b else Fraction(1)


def dkpro_masi(a: frozenset[str], b: frozenset[str]) -> Fraction:
    return (1 - Fraction(len(a & b), len(a | b))) * overlap(a, b) if a != b else Fraction(0)
