"""Preregistered equivalents of alpha for nominal fields, in the same algebra, so with the same interval.

Each is 1 − (1 − p_a) / (1 − p_e): disagreement observed, and expected under its own idea of chance."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.fast import Figures, Form, LinearMap, Patterns, form_of
from adjudication.agreement.metric import FloatArray

MetricName = Literal["krippendorff_alpha", "gwet_ac1", "cohen_kappa", "percent_agreement"]
ALPHA: MetricName = "krippendorff_alpha"


def form_for(metric: MetricName, coding: Coding, patterns: Patterns) -> Form:
    """Return the algebra of a metric; the equivalents are for two rows of nominal codes."""
    if metric == ALPHA:
        return form_of(coding, patterns)
    size = len(coding.domain)
    if metric == "gwet_ac1":
        return GwetAC1(size)
    return CohenKappa(size) if metric == "cohen_kappa" else PercentAgreement(size)


@dataclass(frozen=True)
class GwetAC1:
    """Gwet (2008), two coders: p_e = Σ π_k (1 − π_k) / (q − 1), q declared categories."""

    categories: int

    def sums(self, patterns: Patterns) -> LinearMap:
        return _two_coders(patterns, self.categories)

    def figures(self, sums: FloatArray) -> Figures:
        units, agreement, first, second = _parts(sums, self.categories)
        share = (first + second) / 2
        chance = (share * (1 - share)).sum(axis=1) / max(1, self.categories - 1)
        return Figures(units, 1 - agreement, 1 - chance)


@dataclass(frozen=True)
class CohenKappa:
    """Cohen (1960), two coders: p_e from each coder's own margins."""

    categories: int

    def sums(self, patterns: Patterns) -> LinearMap:
        return _two_coders(patterns, self.categories)

    def figures(self, sums: FloatArray) -> Figures:
        units, agreement, first, second = _parts(sums, self.categories)
        chance = np.einsum("bv,bv->b", first, second)
        return Figures(units, 1 - agreement, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))


@dataclass(frozen=True)
class PercentAgreement:
    """The share of equal pairs, with no chance taken off."""

    categories: int

    def sums(self, patterns: Patterns) -> LinearMap:
        return _two_coders(patterns, self.categories)

    def figures(self, sums: FloatArray) -> Figures:
        units, agreement, _, _ = _parts(sums, self.categories)
        return Figures(units, 1 - agreement, np.ones_like(agreement))


def _two_coders(patterns: Patterns, size: int) -> LinearMap:
    """Columns: units, equal pairs, the first coder's counts, the second's."""
    if patterns.codes.shape[0] != 2 or (patterns.codes == MISSING).any():
        raise ValueError("this coefficient is for two coders")
    first, second = patterns.codes
    cell = np.arange(first.size, dtype=np.int64)
    column = np.concatenate([np.zeros_like(cell), np.ones_like(cell), 2 + first, 2 + size + second])
    ones = np.ones(first.size)
    value = np.concatenate([ones, (first == second).astype(np.float64), ones, ones])
    return LinearMap(np.tile(cell, 4), column, value, first.size, 2 + 2 * size)


def _parts(sums: FloatArray, size: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    units = sums[:, 0]
    share = sums / np.where(units > 0, units, np.nan)[:, None]
    return units, share[:, 1], share[:, 2 : 2 + size], share[:, 2 + size :]
