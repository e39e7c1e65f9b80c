"""Krippendorff's alpha of one coding: a value with its parts, or the reason why there is none."""

from dataclasses import dataclass
from typing import Any, Literal

import krippendorff
import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.fast import Figures, form_of, patterns_of, ratio
from adjudication.agreement.metric import FloatArray, distance_of

PACKAGE_BUDGET = 256 * 2**20  # bytes of peak memory that the package may take

UndefinedReason = Literal["fewer_than_two_coders", "no_pairable_units", "no_variation"]
ComputedBy = Literal["krippendorff", "patterns"]


@dataclass(frozen=True)
class Undefined:
    """There is no alpha, and why: never 0, 1 or NaN in its place."""

    reason: UndefinedReason


@dataclass(frozen=True)
class Alpha:
    """Alpha, never clipped, with its observed and expected disagreement and the pairable units and values."""

    value: float
    observed: float
    expected: float
    units: int
    values: int
    computed_by: ComputedBy


def estimate(coding: Coding, *, budget: int = PACKAGE_BUDGET) -> Alpha | Undefined:
    """Return alpha: by `krippendorff` while its peak memory stays under `budget` bytes, else by patterns."""
    if coding.index.shape[0] < 2:
        return Undefined("fewer_than_two_coders")
    patterns = patterns_of(coding)
    if not patterns.weights.size:
        return Undefined("no_pairable_units")
    form = form_of(coding, patterns)
    figures = form.figures(form.sums(patterns).times(patterns.weights[None, :]))
    if not figures.expected[0] > 0:
        return Undefined("no_variation")
    units = int(patterns.weights.sum())
    by_package = package_bytes(units, len(coding.domain)) < budget
    value = package_alpha(coding) if by_package else float(figures.alpha()[0])
    return _alpha(value, figures, units, "krippendorff" if by_package else "patterns")


def _alpha(value: float, figures: Figures, units: int, computed_by: ComputedBy) -> Alpha:
    return Alpha(
        value,
        float(figures.observed[0]),
        float(figures.expected[0]),
        units,
        round(float(figures.values[0])),
        computed_by,
    )


def package_bytes(units: int, values: int) -> int:
    """Peak memory of `krippendorff.alpha`, measured: three N × V × V arrays of 8 bytes."""
    return 3 * units * values**2 * 8


def package_alpha(coding: Coding) -> float:
    """Return what `krippendorff.alpha` says of a coding with pairable units and variation."""
    codes = coding.take(coding.paired).floats()
    level: Any = coding.metric.level
    if coding.metric.is_set or coding.metric.level == "matrix":
        distance = distance_of(coding.metric, coding.domain, coding.numbers)
        level = lambda v1, v2, i1, i2, n_v, dtype: distance(i1, i2)  # noqa: E731
    return float(
        krippendorff.alpha(
            reliability_data=codes,
            value_domain=coding.numbers,
            level_of_measurement=level,
            dtype=np.float64,
        )
    )


def coincidences(coding: Coding) -> FloatArray:
    """Return the V × V coincidence matrix o_ck; its sum is the number of pairable values."""
    patterns, size = patterns_of(coding), len(coding.domain)
    matrix = np.zeros((size, size))
    for i, first in enumerate(patterns.codes):
        for j, second in enumerate(patterns.codes):
            both = (
                (first != MISSING) & (second != MISSING) if i != j else np.zeros(first.size, dtype=np.bool_)
            )
            np.add.at(matrix, (first[both], second[both]), (patterns.weights / (patterns.sizes - 1))[both])
    return matrix


def category_alphas(coincidence: FloatArray) -> list[float | None]:
    """Return the alpha of every value against the rest; None where the value does not vary.

    Krippendorff (1980), p. 139: the binary alpha of the coincidence matrix folded into two values."""
    count = coincidence.sum(axis=1)
    n = count.sum()
    apart = (n - 1) * (count - np.diag(coincidence))
    alphas = 1 - ratio(apart, count * (n - count))
    return [None if np.isnan(alpha) else float(alpha) for alpha in alphas]
