"""Task-stratified alpha, for fields whose values live inside a task: expected disagreement within tasks.

Chance that is pooled over tasks counts values of different tasks as disagreement that could have been, so
that coders who place outputs at random seem to agree. Here alpha = 1 − Σ n_t·D_o,t / Σ n_t·D_e,t."""

from dataclasses import dataclass

import numpy as np

from adjudication.agreement.alpha import (
    PACKAGE_BUDGET,
    Alpha,
    Undefined,
    package_alpha,
    package_bytes,
)
from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.fast import Figures, form_of, patterns_of
from adjudication.agreement.metric import IntArray

AGREES = 1e-9


@dataclass(frozen=True)
class TaskParts:
    """What each task with pairable units adds to the two sums: its number, units, n_t, D_o,t and D_e,t."""

    tasks: IntArray
    units: IntArray
    figures: Figures

    @property
    def without_variation(self) -> int:
        """Tasks in which every pairable value is the same: they enter both sums and inform neither."""
        return int((self.figures.expected == 0).sum())


@dataclass(frozen=True)
class PackageCheck:
    """D_e,t of each task beside what the package implies: how many compared, the largest difference."""

    tasks: int
    largest_difference: float

    @property
    def passed(self) -> bool:
        return self.largest_difference <= AGREES


def task_parts(coding: Coding, tasks: IntArray) -> TaskParts:
    """Return every task's parts; `tasks` gives the task number of each unit."""
    patterns = patterns_of(coding, tasks)
    present, group = np.unique(patterns.groups, return_inverse=True)
    form = form_of(coding, patterns)
    sums = form.sums(patterns).grouped(group, patterns.weights, present.size)
    units = np.bincount(group, patterns.weights, minlength=present.size).astype(np.int64)
    return TaskParts(present, units, _zero_where_constant(form.figures(sums)))


def _zero_where_constant(figures: Figures) -> Figures:
    return Figures(figures.values, np.nan_to_num(figures.observed), np.nan_to_num(figures.expected))


def estimate(coding: Coding, tasks: IntArray) -> Alpha | Undefined:
    """Return the task-stratified alpha: D_o and D_e are the means over tasks, weighted by pairable values."""
    if coding.index.shape[0] < 2:
        return Undefined("fewer_than_two_coders")
    parts = task_parts(coding, tasks)
    weight = parts.figures.values
    if not weight.size:
        return Undefined("no_pairable_units")
    observed = float(weight @ parts.figures.observed)
    expected = float(weight @ parts.figures.expected)
    if not expected > 0:
        return Undefined("no_variation")
    n = float(weight.sum())
    value = 1 - observed / expected
    return Alpha(value, observed / n, expected / n, int(parts.units.sum()), round(n), "patterns")


def package_check(coding: Coding, tasks: IntArray, *, budget: int = PACKAGE_BUDGET) -> PackageCheck:
    """Compare each task's D_e with D_o / (1 − alpha) of the package; where D_o is 0 its alpha has to be 1."""
    parts = task_parts(coding, tasks)
    compared, largest = 0, 0.0
    for task, observed, expected in zip(
        parts.tasks, parts.figures.observed, parts.figures.expected, strict=True
    ):
        inside = _compact(coding.take(tasks == task))
        if expected == 0 or package_bytes(inside.index.shape[1], len(inside.domain)) >= budget:
            continue
        alpha = package_alpha(inside)
        implied = observed / (1 - alpha) if alpha < 1 else expected
        difference = abs(implied - expected) if observed > 0 else abs(1 - alpha)
        compared, largest = compared + 1, max(largest, float(difference))
    return PackageCheck(compared, largest)


def _compact(coding: Coding) -> Coding:
    """The coding with the values that occur only, so that a task costs what the task holds."""
    return coding.keep(np.unique(coding.index[coding.index != MISSING]).tolist())
