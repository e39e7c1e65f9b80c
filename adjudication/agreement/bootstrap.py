"""Intervals for alpha by resampling tasks or units, and the cases in which no interval would be honest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.equivalents import ALPHA, MetricName, form_for
from adjudication.agreement.fast import (
    Figures,
    Form,
    Patterns,
    blocks,
    patterns_of,
    ratio,
)
from adjudication.agreement.metric import FloatArray, IntArray

TASKS_NEEDED = 10  # fewer tasks say too little about how tasks differ
UNITS_NEEDED = 10
MINORITY_NEEDED = 5
UNDEFINED_ALLOWED = 0.01
SINGLE_BELOW = 8  # a binomial draw costs about as much as so many single ones
QUADRATIC_VALUES = 2_500  # beyond, a resample costs V² distances

NoInterval = Literal[
    "fewer_than_10_pairable_units",
    "minority_below_5_units",
    "too_many_undefined_resamples",
    "too_many_values",
]
Resampled = Literal["task", "unit", "unit_within_task"]
AlphaOf = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Resampling:
    """What the protocol fixes; `auto` means tasks from 10 tasks on, else units. PCG64 takes the seed."""

    resamples: int = 10_000
    seed: int = 0
    unit: Literal["auto", "task", "unit"] = "auto"
    thresholds: tuple[float, ...] = (0.667, 0.8)
    coverage: float = 0.95

    @property
    def tail(self) -> float:
        """The share left out at each end."""
        return (1 - self.coverage) / 2

    def takes_tasks(self, tasks: int) -> bool:
        """Whether tasks are drawn where there are so many of them."""
        return self.unit != "unit" and tasks >= (TASKS_NEEDED if self.unit == "auto" else 2)


@dataclass(frozen=True)
class Interval:
    """A percentile interval, an exact one-sided lower bound, or no interval and why.

    `below` holds (threshold, bootstrap share under it); the range leaves out one task at a time."""

    kind: Literal["percentile", "exact_lower_bound", "none"]
    resampled: Resampled
    tasks: int
    tasks_accounted_for: bool
    low: float | None = None
    high: float | None = None
    reason: NoInterval | None = None
    resamples: int = 0
    undefined: int = 0
    below: tuple[tuple[float, float], ...] = ()
    leave_one_task_out: tuple[float, float] | None = None


def interval(
    coding: Coding,
    resampling: Resampling,
    *,
    tasks: IntArray | None = None,
    within_tasks: bool = False,
    metric: MetricName = ALPHA,
) -> Interval:
    """Return the interval of alpha, or of the task-stratified alpha if `within_tasks`; alpha must be defined.

    `tasks` gives the task number of each unit, without it tasks are not accounted for. `metric` may be a
    preregistered equivalent."""
    sample = _Sample(coding, tasks, within_tasks, metric)
    by_task = tasks is not None and resampling.takes_tasks(sample.tasks)
    alone: Resampled = "unit_within_task" if within_tasks else "unit"
    resampled: Resampled = "task" if by_task else alone
    count = sample.tasks if tasks is not None else 0
    span = sample.leave_one_task_out() if count >= 2 and not by_task else None
    reason = _refusal(sample)
    if reason is not None:
        return Interval("none", resampled, count, by_task, reason=reason, leave_one_task_out=span)
    if sample.is_perfect():
        return Interval(
            "exact_lower_bound", resampled, count, False, low=sample.exact_lower_bound(resampling.tail)
        )
    alphas = sample.draw(resampled, resampling)
    return _percentile(
        alphas, Interval("percentile", resampled, count, by_task, leave_one_task_out=span), resampling
    )


def _refusal(sample: "_Sample") -> NoInterval | None:
    if sample.units < UNITS_NEEDED:
        return "fewer_than_10_pairable_units"
    if sample.units_outside_the_mode() < MINORITY_NEEDED:
        return "minority_below_5_units"
    if sample.coding.metric.needs_matrix and len(sample.coding.domain) > QUADRATIC_VALUES:
        return "too_many_values"
    return None


def _percentile(alphas: FloatArray, plan: Interval, resampling: Resampling) -> Interval:
    defined = alphas[np.isfinite(alphas)]
    undefined = int(alphas.size - defined.size)
    fixed = (plan.resampled, plan.tasks, plan.tasks_accounted_for)
    if undefined > UNDEFINED_ALLOWED * alphas.size:
        return Interval(
            "none",
            *fixed,
            reason="too_many_undefined_resamples",
            resamples=alphas.size,
            undefined=undefined,
            leave_one_task_out=plan.leave_one_task_out,
        )
    low, high = np.quantile(defined, [resampling.tail, 1 - resampling.tail])
    return Interval(
        "percentile",
        *fixed,
        low=float(low),
        high=float(high),
        resamples=alphas.size,
        undefined=undefined,
        below=tuple((t, float((defined < t).mean())) for t in resampling.thresholds),
        leave_one_task_out=plan.leave_one_task_out,
    )


class _Sample:
    """The pairable units as patterns by task, and every way in which they are drawn again."""

    def __init__(
        self, coding: Coding, tasks: IntArray | None, within_tasks: bool, metric: MetricName = ALPHA
    ) -> None:
        self.coding, self.within_tasks, self.metric = coding, within_tasks, metric
        self.patterns = self._patterns(tasks)
        present, self.group = np.unique(self.patterns.groups, return_inverse=True)
        self.tasks = present.size
        self.form: Form = form_for(metric, coding, self.patterns)
        self.per_task = self.form.sums(self.patterns).grouped(self.group, self.patterns.weights, self.tasks)
        self.units = int(self.patterns.weights.sum())

    def _patterns(self, tasks: IntArray | None) -> Patterns:
        return patterns_of(self.coding, tasks, ordered=self.metric != ALPHA)

    def figures(self) -> Figures:
        """The figures of each task where chance lies within tasks, else of all units together."""
        return self.form.figures(self.per_task if self.within_tasks else self.per_task.sum(axis=0)[None, :])

    def is_perfect(self) -> bool:
        """Whether no unit shows any disagreement, so that every resample would give 1."""
        return not np.nan_to_num(self.figures().observed).any()

    def units_outside_the_mode(self) -> int:
        """Units with any value but the commonest one (of their task where chance lies within tasks)."""
        group = self.group if self.within_tasks else np.zeros_like(self.group)
        size = len(self.coding.domain)
        coder, cell = np.nonzero(self.patterns.codes != MISSING)
        place = group[cell] * size + self.patterns.codes[coder, cell]
        tasks = int(group.max(initial=0)) + 1
        counts = np.bincount(place, self.patterns.weights[cell], minlength=tasks * size).reshape(tasks, size)
        mode = counts.argmax(axis=1)[group]
        modal = ((self.patterns.codes == mode) | (self.patterns.codes == MISSING)).all(axis=0)
        return self.units - round(float(self.patterns.weights[modal].sum()))

    def exact_lower_bound(self, tail: float) -> float:
        """1 − (1 − tail^(1/N))·d_max / D_e: no more than that share of units disagrees, by d_max at most."""
        figures = self.figures()
        expected = float(figures.values @ np.nan_to_num(figures.expected) / figures.values.sum())
        disagreeing = 1 - tail ** (1 / self.units)
        return float(1 - disagreeing * self.widest() / expected)

    def widest(self) -> float:
        """The largest distance of two codes: 1 for nominal, ratio and sets, else that of the values used."""
        level, matrix = self.coding.metric.level, self.coding.metric.matrix
        if matrix is not None:
            return float(np.max(matrix))
        if level not in ("interval", "ordinal"):
            return 1.0
        used = np.unique(self.patterns.codes[self.patterns.codes != MISSING])
        if level == "interval":
            return float(np.ptp(self.coding.numbers[used]) ** 2)
        counts = self.per_task.sum(axis=0)[: len(self.coding.domain)]
        # the mid-ranks of the first and the last value lie half their count inside the n values
        return float((counts.sum() - (counts[used[0]] + counts[used[-1]]) / 2) ** 2)

    def leave_one_task_out(self) -> tuple[float, float] | None:
        """The least and greatest alpha without one task."""
        kept = self.parts().sum(axis=0)[None, :] - self.parts()
        alphas = self.alpha_of()(kept)
        defined = alphas[np.isfinite(alphas)]
        return (float(defined.min()), float(defined.max())) if defined.size else None

    def parts(self) -> FloatArray:
        """tasks × k sums that add up over tasks to what alpha is computed from."""
        if not self.within_tasks:
            return self.per_task
        figures = self.form.figures(self.per_task)
        return figures.values[:, None] * np.nan_to_num(np.stack([figures.observed, figures.expected], axis=1))

    def alpha_of(self) -> AlphaOf:
        """From summed parts to alpha, row by row."""
        if self.within_tasks:
            return lambda sums: 1 - ratio(sums[:, 0], sums[:, 1])
        return lambda sums: self.form.figures(sums).alpha()

    def draw(self, resampled: Resampled, resampling: Resampling) -> FloatArray:
        """The alphas of all resamples; NaN where nothing varies."""
        rng = np.random.Generator(np.random.PCG64(resampling.seed))
        if resampled == "unit_within_task":
            return self._within_tasks(rng, resampling.resamples)
        if resampled == "task":
            parts, alpha_of = self.parts(), self.alpha_of()
            each = draws(rng, np.ones(self.tasks), resampling.resamples, parts.shape[1])
            return np.concatenate([alpha_of(weights @ parts) for weights in each])
        patterns = self.patterns if self.tasks == 1 else self._patterns(None)
        form = form_for(self.metric, self.coding, patterns)
        return _figures_of_draws(rng, form, patterns, resampling.resamples).alpha()

    def _within_tasks(self, rng: np.random.Generator, resamples: int) -> FloatArray:
        observed, expected = np.zeros(resamples), np.zeros(resamples)
        for task in range(self.tasks):
            inside = self.group == task
            own = Patterns(
                self.patterns.codes[:, inside], self.patterns.weights[inside], self.patterns.groups[inside]
            )
            figures = _figures_of_draws(rng, form_for(self.metric, self.coding, own), own, resamples)
            observed += figures.values * np.nan_to_num(figures.observed)
            expected += figures.values * np.nan_to_num(figures.expected)
        return 1 - ratio(observed, expected)


def _figures_of_draws(rng: np.random.Generator, form: Form, patterns: Patterns, resamples: int) -> Figures:
    sums = form.sums(patterns)
    parts = [form.figures(sums.times(w)) for w in draws(rng, patterns.weights, resamples, sums.width)]
    return Figures(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.observed for part in parts]),
        np.concatenate([part.expected for part in parts]),
    )


def draws(rng: np.random.Generator, weights: FloatArray, resamples: int, width: int) -> Iterator[FloatArray]:
    """Yield blocks of rows: how often each cell comes up in n draws with replacement from Σ weights units.

    A multinomial over cells where they are few beside the units, else n single draws: the same law."""
    n, cells = round(float(weights.sum())), weights.size
    single = n < SINGLE_BELOW * cells
    owner = np.repeat(np.arange(cells), weights.astype(np.int64)) if single and n > cells else None
    for rows in blocks(resamples, cells + width + (n if single else 0)):
        count = rows.stop - rows.start
        if not single:
            yield rng.multinomial(n, weights / n, size=count).astype(np.float64)
            continue
        drawn = rng.integers(0, n, size=(count, n))
        drawn = drawn if owner is None else owner[drawn]
        drawn += np.arange(count)[:, None] * cells
        yield np.bincount(drawn.ravel(), minlength=count * cells).reshape(count, cells).astype(np.float64)
