"""Levels of measurement and the distance each puts between two values, with the name of its formula."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Distance = Callable[[IntArray, IntArray], FloatArray]
Label = str | int | float | bool | frozenset[str]

SHARED_TABLE = 2_000  # up to so many sets, what any two share is counted once: 32 MB
NUMERIC = frozenset({"interval", "ratio"})
NAMES = {
    "nominal": "nominal (0 if equal, else 1)",
    "ordinal": "ordinal (squared difference of mid-ranks)",
    "interval": "interval (squared difference)",
    "ratio": "ratio (square of difference over sum)",
    "matrix": "distance matrix (as declared)",
    "set:overlap": "set, overlap (Passonneau 2004: 0 equal, 1/3 subset, 2/3 overlap, 1 disjoint)",
    "set:masi": "set, MASI as 1 − J·M (Passonneau 2006: M = 1, 2/3, 1/3, 0)",
    "set:dkpro-masi": "set, MASI as (1 − J)·M (DKPro: M = 0, 1/3, 2/3, 1)",
}


@dataclass(frozen=True)
class Metric:
    """A level and, for `matrix` only, the distances between the values in their declared order."""

    level: str
    matrix: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        if self.level not in NAMES:
            raise ValueError(f"unknown level {self.level!r}: one of {', '.join(NAMES)}")
        if (self.level == "matrix") != (self.matrix is not None):
            raise ValueError("a distance matrix belongs to the level `matrix` and to no other")
        if self.matrix is not None:
            _check_matrix(np.asarray(self.matrix, dtype=np.float64))

    @property
    def name(self) -> str:
        """The formula in words, as pages and exports print it."""
        return NAMES[self.level]

    @property
    def is_set(self) -> bool:
        return self.level.startswith("set:")

    @property
    def is_numeric(self) -> bool:
        return self.level in NUMERIC

    @property
    def needs_matrix(self) -> bool:
        """Whether expected disagreement is a quadratic form over all pairs of values."""
        return self.is_set or self.level in ("ratio", "matrix")


def _check_matrix(matrix: FloatArray) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("a distance matrix has as many rows as columns")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("distances are finite and not negative")
    if np.diag(matrix).any() or not np.array_equal(matrix, matrix.T):
        raise ValueError("a distance matrix is symmetric with zeros on its diagonal")


def distance_of(metric: Metric, domain: Sequence[Label], numbers: FloatArray) -> Distance:
    """Return d(i, j) between values given by their place in the domain; broadcasts like numpy.

    `numbers` has one entry per domain value: the value itself, or at ordinal level its mid-rank."""
    if metric.level == "nominal":
        return lambda i, j: np.not_equal(i, j).astype(np.float64)
    if metric.level in ("interval", "ordinal"):
        return lambda i, j: np.asarray(np.square(numbers[i] - numbers[j]))
    if metric.level == "ratio":
        return lambda i, j: _ratio(numbers[i], numbers[j])
    if metric.level == "matrix":
        matrix = np.asarray(metric.matrix, dtype=np.float64)
        return lambda i, j: np.asarray(matrix[i, j])
    return _set_distance(metric.level, _membership(domain))


def _ratio(x: FloatArray, y: FloatArray) -> FloatArray:
    total = np.asarray(x + y)
    part = np.zeros_like(total)
    np.divide(x - y, total, out=part, where=total != 0)
    return np.asarray(np.square(part))


def _membership(domain: Sequence[Label]) -> FloatArray:
    sets = [value if isinstance(value, frozenset) else frozenset({str(value)}) for value in domain]
    elements = {element: k for k, element in enumerate(sorted(set().union(*sets)))}
    member = np.zeros((len(sets), len(elements)))
    for row, value in enumerate(sets):
        member[row, [elements[element] for element in value]] = 1
    return member


def _set_distance(level: str, member: FloatArray) -> Distance:
    size = member.sum(axis=1)
    shared = member @ member.T if len(member) <= SHARED_TABLE else None

    def distance(i: IntArray, j: IntArray) -> FloatArray:
        i, j = np.broadcast_arrays(i, j)
        both = np.einsum("...e,...e->...", member[i], member[j]) if shared is None else shared[i, j]
        smaller, larger = np.minimum(size[i], size[j]), np.maximum(size[i], size[j])
        union = smaller + larger - both
        jaccard = np.divide(both, union, out=np.ones_like(both), where=union > 0)
        # 0 equal (two empty sets are), 1 one holds the other, 2 they overlap, 3 disjoint
        step = np.select([union == both, both == smaller, both > 0], [0.0, 1.0, 2.0], 3.0)
        if level == "set:overlap":
            return np.asarray(step / 3)
        if level == "set:dkpro-masi":
            return np.asarray((1 - jaccard) * step / 3)
        return np.asarray(np.where(step == 0, 0.0, 1 - jaccard * (3 - step) / 3))

    return distance
