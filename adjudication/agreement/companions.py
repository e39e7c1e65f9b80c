"""Companions of alpha that the protocol fixes: they describe what alpha cannot, and give no verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.fast import pairs_within, patterns_of
from adjudication.agreement.metric import FloatArray, IntArray

TABLE_VALUES = 200  # kappa and margins of more values than that say nothing
LIMITS = 1.96  # limits of agreement hold 95 % of normal differences


def confusion(first: IntArray, second: IntArray, size: int) -> FloatArray:
    """Return the size × size counts of units by the first coder's code (rows) and the second's (columns)."""
    both = (first != MISSING) & (second != MISSING)
    counts = np.bincount(first[both] * size + second[both], minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)


def percent_agreement(coding: Coding) -> float | None:
    """Return the mean over pairable units of the share of pairs of equal codes; None without units."""
    _, same, units = _shares(coding)
    return float(same / units) if units else None


def gwet_ac1(coding: Coding, categories: int) -> float | None:
    """Return Gwet's AC1 for a declared number of categories; None without units or with one category.

    Gwet (2008): (p_a − p_e) / (1 − p_e), p_e = Σ π_k (1 − π_k) / (q − 1), on pairable units."""
    shares, same, units = _shares(coding)
    if not units or categories < 2:
        return None
    share = shares / units
    chance = float((share * (1 - share)).sum()) / (categories - 1)
    return (float(same) / units - chance) / (1 - chance)


def _shares(coding: Coding) -> tuple[FloatArray, float, float]:
    """Σ over units of each value's share and of the share of equal pairs, and the number of units."""
    patterns = patterns_of(coding)
    each = patterns.weights / patterns.sizes
    cell, one, two, weight = pairs_within(patterns)
    same = float((each[cell] * weight)[one == two].sum())
    coder, holder = np.nonzero(patterns.codes != MISSING)
    shares = np.bincount(patterns.codes[coder, holder], each[holder], minlength=len(coding.domain))
    return shares.astype(np.float64), same, float(patterns.weights.sum())


def cohen_kappa(table: FloatArray) -> float | None:
    """Return Cohen's kappa of a confusion matrix; None where chance agreement is 1 or the table is empty.

    Cohen (1960): (p_o − p_e) / (1 − p_e), p_e from the two coders' own margins."""
    n = float(table.sum())
    if not n:
        return None
    observed = float(np.trace(table)) / n
    chance = float(table.sum(axis=1) @ table.sum(axis=0)) / n**2
    return (observed - chance) / (1 - chance) if chance < 1 else None


@dataclass(frozen=True)
class MarginTest:
    """A chi-square statistic of unequal margins, its degrees of freedom and p."""

    statistic: float
    df: int
    p: float


def stuart_maxwell(table: FloatArray) -> MarginTest | None:
    """Return the Stuart–Maxwell test of a confusion matrix; None where no unit was coded differently.

    Stuart (1955), Maxwell (1970): d' S⁻ d. S is the Laplacian of the off-diagonal counts: its rank is the
    number of values minus the parts they fall into, and values nobody confused drop out by themselves."""
    difference = table.sum(axis=1) - table.sum(axis=0)
    apart = table + table.T - 2 * np.diag(np.diag(table))
    covariance = np.diag(apart.sum(axis=1)) - apart
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if rank == 0:
        return None
    statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return MarginTest(statistic, rank, chi_square_tail(statistic, rank))


def chi_square_tail(statistic: float, df: int) -> float:
    """Return P(χ² with `df` degrees of freedom > statistic): recurrence of the incomplete gamma function."""
    half = max(statistic, 0.0) / 2
    a, tail = (1.0, math.exp(-half)) if df % 2 == 0 else (0.5, math.erfc(math.sqrt(half)))
    while a < df / 2:
        tail += math.exp(a * math.log(half) - half - math.lgamma(a + 1)) if half > 0 else 0.0
        a += 1
    return min(tail, 1.0)


@dataclass(frozen=True)
class MeanDifference:
    """Second minus first coder: n, mean, standard deviation and 95 % limits of agreement."""

    n: int
    mean: float
    sd: float
    low: float
    high: float


def mean_difference(first: FloatArray, second: FloatArray) -> MeanDifference | None:
    """Return the mean difference over units with two numbers, NaN being missing; None under two such units.

    Bland and Altman (1986): mean ± 1.96 standard deviations."""
    gap = (second - first)[np.isfinite(first) & np.isfinite(second)]
    if gap.size < 2:
        return None
    mean, sd = float(gap.mean()), float(gap.std(ddof=1))
    return MeanDifference(int(gap.size), mean, sd, mean - LIMITS * sd, mean + LIMITS * sd)


@dataclass(frozen=True)
class CoderPair:
    """Two persons, the units both coded, their share of equal codes, kappa and the test of their margins."""

    first: str
    second: str
    units: int
    agreement: float
    kappa: float | None
    margins: MarginTest | None


def coder_pairs(coding: Coding, first: Sequence[str], second: Sequence[str]) -> list[CoderPair]:
    """Return kappa and bias for every pair of persons; `first` and `second` name who coded each unit."""
    persons = np.array(list(zip(first, second, strict=True)), dtype=object).reshape(-1, 2)
    found = []
    for one, two in sorted({(a, b) for a, b in persons}):
        units = (persons[:, 0] == one) & (persons[:, 1] == two) & coding.paired
        left, right = coding.index[:2, units]
        if not left.size:
            continue
        kappa, margins = None, None
        if len(coding.domain) <= TABLE_VALUES:
            table = confusion(left, right, len(coding.domain))
            kappa, margins = cohen_kappa(table), stuart_maxwell(table)
        found.append(CoderPair(one, two, left.size, float((left == right).mean()), kappa, margins))
    return found
