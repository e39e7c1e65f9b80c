"""Units with the same codes are interchangeable: alpha of weighted patterns of codes is a short algebra.

Observed disagreement and the counts of values are linear in the weights, expected disagreement is a quadratic
form of the counts: a (B × P) matrix of weights gives the figures of B resamples, one row the point estimate.
Formulas: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.metric import Distance, FloatArray, IntArray, distance_of

BLOCK_CELLS = 1_000_000  # floats in one block of a product: 8 MB
TABLE_CELLS = 4_000_000  # distances that are kept: 32 MB
SPARSE_FROM = 64  # an entry that is gathered costs about as much as this many in a dense product


@dataclass(frozen=True)
class Patterns:
    """Distinct pairable tuples of codes (coders × P), how many units show each, and the group of each."""

    codes: IntArray
    weights: FloatArray
    groups: IntArray

    @property
    def sizes(self) -> IntArray:
        """How many values each pattern has; at least 2."""
        return np.asarray((self.codes != MISSING).sum(axis=0), dtype=np.int64)


@dataclass(frozen=True)
class Figures:
    """Pairable values, observed and expected disagreement, one entry per weighting."""

    values: FloatArray
    observed: FloatArray
    expected: FloatArray

    def alpha(self) -> FloatArray:
        """1 − D_o / D_e; NaN where nothing varies."""
        return 1 - ratio(self.observed, self.expected)


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, NaN where the whole is not positive."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def patterns_of(coding: Coding, groups: IntArray | None = None, *, ordered: bool = False) -> Patterns:
    """Return the distinct patterns of the pairable units, kept apart by group where groups are given.

    Who gave which code does not matter to alpha: patterns that differ in that are one unless `ordered`."""
    paired = (coding.index != MISSING).sum(axis=0) >= 2
    index = coding.index if paired.all() else coding.index[:, paired]
    rows, own = (index, 0) if groups is None else (np.vstack([index, groups[None, paired]]), 1)
    columns, counts = distinct_columns(rows)
    coders = columns.shape[0] - own
    if not ordered:
        columns[:coders] = np.sort(columns[:coders], axis=0)[::-1]
        columns, counts = distinct_columns(columns, counts)
    # the commonest first: a multinomial draw then ends early
    order = np.argsort(-counts, kind="stable")
    group = columns[-1, order] if own else np.zeros(order.size, dtype=np.int64)
    return Patterns(columns[:coders, order], counts[order].astype(np.float64), group)


def distinct_columns(rows: IntArray, weights: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Return the distinct columns of `rows` and the total weight of each (1 a column without `weights`)."""
    key, span = np.zeros(rows.shape[1], dtype=np.int64), 1
    for row in rows:
        size = int(row.max(initial=MISSING)) + 2
        if span * size >= 2**62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key = key * size + (row + 1)
        span *= size
    if span > max(4 * key.size, 2**16):
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        span = int(key.max(initial=-1)) + 1
    counts = np.bincount(key, weights, minlength=span).astype(np.int64)
    shown = np.zeros(span, dtype=np.int64)
    shown[key] = np.arange(key.size)
    used = np.flatnonzero(counts)
    return rows[:, shown[used]], counts[used]


@dataclass(frozen=True)
class LinearMap:
    """A sparse cells × width matrix: which sums a weighting of the cells leads to."""

    cell: IntArray
    column: IntArray
    value: FloatArray
    cells: int
    width: int

    @cached_property
    def dense(self) -> FloatArray:
        return _scatter(self.cell, self.column, self.value, self.cells, self.width)

    def grouped(self, groups: IntArray, weights: FloatArray, count: int) -> FloatArray:
        """The sums of each of `count` groups of cells, under one weighting."""
        return _scatter(groups[self.cell], self.column, self.value * weights[self.cell], count, self.width)

    def times(self, weights: FloatArray) -> FloatArray:
        """rows × width: the sums for every row of weights."""
        if self.cells * self.width <= SPARSE_FROM * self.value.size:
            return np.asarray(weights @ self.dense)
        out = np.zeros((weights.shape[0], self.width))
        if not self.value.size:
            return out
        order = np.argsort(self.column, kind="stable")
        columns, starts = np.unique(self.column[order], return_index=True)
        for rows in blocks(weights.shape[0], order.size):
            terms = weights[rows][:, self.cell[order]] * self.value[order]
            out[rows, columns] = np.add.reduceat(terms, starts, axis=1)
        return out


def _scatter(row: IntArray, column: IntArray, value: FloatArray, rows: int, width: int) -> FloatArray:
    flat = np.bincount(row * width + column, value, minlength=rows * width)
    return flat.reshape(rows, width).astype(np.float64, copy=False)


def blocks(rows: int, width: int, cells: int = BLOCK_CELLS) -> Iterator[slice]:
    """Slices that cover `rows` so that a block of `width` columns stays under `cells` entries."""
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


class Form(Protocol):
    """How sums of a weighting are formed, and how disagreement follows from them."""

    def sums(self, patterns: Patterns) -> LinearMap: ...

    def figures(self, sums: FloatArray) -> Figures: ...


def form_of(coding: Coding, patterns: Patterns) -> Form:
    """The algebra of the coding's level, for its patterns."""
    if coding.metric.level == "nominal":
        return Nominal(len(coding.domain))
    if coding.metric.level == "ordinal":
        return Ordinal.of(len(coding.domain), patterns)
    if coding.metric.level == "interval":
        numbers = coding.numbers
        return Interval(numbers - (numbers.mean() if numbers.size else 0.0))
    return Distances(len(coding.domain), distance_of(coding.metric, coding.domain, coding.numbers))


def pairs_within(patterns: Patterns) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Pattern, two codes and weight 2/(m − 1) of every unordered pair of values within a unit of m values."""
    cells, first, second = [], [], []
    for i in range(patterns.codes.shape[0]):
        for j in range(i + 1, patterns.codes.shape[0]):
            here = np.flatnonzero((patterns.codes[i] != MISSING) & (patterns.codes[j] != MISSING))
            cells.append(here)
            first.append(patterns.codes[i, here])
            second.append(patterns.codes[j, here])
    cell, a, b = (np.concatenate([*part, np.zeros(0, np.int64)]) for part in (cells, first, second))
    return cell, a, b, 2.0 / (patterns.sizes[cell] - 1)


def _value_entries(patterns: Patterns) -> tuple[IntArray, IntArray]:
    coder, cell = np.nonzero(patterns.codes != MISSING)
    return cell, patterns.codes[coder, cell]


def _linear(patterns: Patterns, width: int, *parts: tuple[IntArray, IntArray, FloatArray]) -> LinearMap:
    cell, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return LinearMap(cell, column, value, patterns.weights.size, width)


def _figures(values: FloatArray, disagreement: FloatArray, quadratic: FloatArray) -> Figures:
    return Figures(values, ratio(disagreement, values), ratio(quadratic, values * (values - 1)))


@dataclass(frozen=True)
class Distances:
    """Any fixed distance between values: columns are disagreement, then the count of every value."""

    size: int
    distance: Distance

    def sums(self, patterns: Patterns) -> LinearMap:
        cell, a, b, weight = pairs_within(patterns)
        holder, value = _value_entries(patterns)
        return _linear(
            patterns,
            self.size + 1,
            (cell, np.zeros_like(cell), weight * self.distance(a, b)),
            (holder, value + 1, np.ones(holder.size)),
        )

    def figures(self, sums: FloatArray) -> Figures:
        counts = sums[:, 1:]
        return _figures(counts.sum(axis=1), sums[:, 0], self.quadratic(counts))

    @cached_property
    def table(self) -> FloatArray:
        """All distances at once."""
        places = np.arange(self.size, dtype=np.int64)
        return self.distance(places[:, None], places[None, :])

    def quadratic(self, counts: FloatArray) -> FloatArray:
        """Σ n_c n_k d(c, k) for every row of counts; where values are many, distances are made in blocks."""
        if self.size**2 <= TABLE_CELLS:
            return np.asarray(np.einsum("bv,bv->b", counts @ self.table, counts))
        places, total = np.arange(self.size, dtype=np.int64), np.zeros(counts.shape[0])
        for rows in blocks(self.size, self.size * 16):
            between = self.distance(places[rows, None], places[None, :])
            total += np.einsum("bv,bv->b", counts[:, rows] @ between, counts)
        return total


class Nominal(Distances):
    """Σ n_c n_k over unequal values is n² − Σ n_v²: no V × V matrix."""

    def __init__(self, size: int) -> None:
        super().__init__(size, lambda i, j: np.not_equal(i, j).astype(np.float64))

    def quadratic(self, counts: FloatArray) -> FloatArray:
        return np.asarray(np.square(counts.sum(axis=1)) - np.einsum("bv,bv->b", counts, counts))


@dataclass(frozen=True)
class Interval:
    """Four columns: n, Σx, Σx², disagreement; x is centred, so that little is lost in the difference."""

    numbers: FloatArray

    def sums(self, patterns: Patterns) -> LinearMap:
        cell, a, b, weight = pairs_within(patterns)
        holder, value = _value_entries(patterns)
        x, column = self.numbers[value], np.zeros_like(holder)
        return _linear(
            patterns,
            4,
            (holder, column, np.ones(holder.size)),
            (holder, column + 1, x),
            (holder, column + 2, np.square(x)),
            (cell, np.full_like(cell, 3), weight * np.square(self.numbers[a] - self.numbers[b])),
        )

    def figures(self, sums: FloatArray) -> Figures:
        n, total, squares, disagreement = sums.T
        spread = n * squares - np.square(total)
        # one value only leaves a rounding error in place of zero
        spread = np.where(spread <= 1e-12 * n * squares, 0.0, spread)
        return _figures(n, disagreement, 2 * spread)


@dataclass(frozen=True)
class Ordinal:
    """Squared differences of mid-ranks, which change with the weights: columns are counts, then pairs."""

    size: int
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, size: int, patterns: Patterns) -> "Ordinal":
        """The form for the pairs of unequal codes that the patterns show."""
        edges = np.unique(_edge(*pairs_within(patterns)[1:3], size))
        low, high = np.divmod(edges, max(1, size))
        return cls(size, low[low != high], high[low != high])

    def sums(self, patterns: Patterns) -> LinearMap:
        cell, a, b, weight = pairs_within(patterns)
        holder, value = _value_entries(patterns)
        apart = a != b
        edge = np.searchsorted(self.low * self.size + self.high, _edge(a, b, self.size)[apart])
        return _linear(
            patterns,
            self.size + self.low.size,
            (holder, value, np.ones(holder.size)),
            (cell[apart], self.size + edge, weight[apart]),
        )

    def figures(self, sums: FloatArray) -> Figures:
        counts, edges = sums[:, : self.size], sums[:, self.size :]
        n = counts.sum(axis=1)
        rank = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2
        gap = np.square(rank[:, self.low] - rank[:, self.high])
        # centred mid-ranks add up to zero, so Σ n_c n_k (r_c − r_k)² = 2 n Σ n_c r_c²
        quadratic = 2 * n * np.einsum("bv,bv->b", counts, np.square(rank))
        return _figures(n, np.einsum("be,be->b", gap, edges), quadratic)


def _edge(a: IntArray, b: IntArray, size: int) -> IntArray:
    return np.minimum(a, b) * size + np.maximum(a, b)
