"""Shares and means with an interval that takes whole tasks: outputs of one task are not independent. Pure.

Percentile bootstrap over tasks; with n tasks drawn from n, a resample is a multinomial over them, so that all resamples are
one product. Under two tasks there is no interval."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
LEVEL = 0.95
FEW = 500  # tasks for which the weights of all resamples are kept
PART = 100  # resamples at a time, beyond that


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of sums over tasks, and its interval where there are two tasks or more."""

    value: float
    interval: tuple[float, float] | None


def ratios(
    sums: Sequence[Sequence[float]],
    sizes: Sequence[float],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Ratio]:
    """Return, for each column of `sums` (tasks × columns), the sum over tasks divided by that of `sizes` (tasks).

    `sizes` are positive, so are there tasks: ValueError otherwise."""
    table, size = np.asarray(sums, dtype=float), np.asarray(sizes, dtype=float)
    if table.ndim != 2 or len(table) != len(size) or not len(size) or not (size > 0).all():
        raise ValueError("every task needs one row and a positive size")
    values = table.sum(axis=0) / size.sum()
    limits = _limits(table, size, seed, resamples, level) if len(size) > 1 else None
    if limits is None:
        return [Ratio(float(value), None) for value in values]
    low, high = limits
    return [
        Ratio(float(value), (float(lower), float(upper)))
        for value, lower, upper in zip(values, low, high, strict=True)
    ]


def _limits(
    table: npt.NDArray[np.float64], size: npt.NDArray[np.float64], seed: int, resamples: int, level: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    drawn = np.concatenate([(w @ table) / (w @ size)[:, None] for w in _weights(len(size), seed, resamples)])
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


def _weights(tasks: int, seed: int, resamples: int) -> Iterator[npt.NDArray[np.float64]]:
    """Yield how often each task is in each resample, in parts; for few tasks the whole, which many tables share."""
    if tasks <= FEW:
        yield _shared_weights(tasks, seed, resamples)
        return
    source = np.random.Generator(np.random.PCG64(seed))
    for start in range(0, resamples, PART):
        yield _drawn(source, tasks, min(PART, resamples - start))


@lru_cache(maxsize=8)
def _shared_weights(tasks: int, seed: int, resamples: int) -> npt.NDArray[np.float64]:
    return _drawn(np.random.Generator(np.random.PCG64(seed)), tasks, resamples)


def _drawn(source: np.random.Generator, tasks: int, resamples: int) -> npt.NDArray[np.float64]:
    return source.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(float)
