"""Whether coders could tell the arms: Bang's index per coder and arm, James's index for two arms; pure.

Intervals are not clipped to the index's range. Under 20 guesses in an arm, only counts are stated:
few guesses prove neither blindness nor its failure, and no absence of significance is ever called "blind"."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

MIN_GUESSES = 20
MARGIN = 0.2


@dataclass(frozen=True, slots=True)
class Guess:
    """One guess: who, about an output of which task, the true arm, and the arm guessed (None: don't know)."""

    coder: str
    task: str
    arm: str
    guess: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Guesses about one arm: right, wrong, "don't know"."""

    right: int
    wrong: int
    dont_know: int

    @property
    def total(self) -> int:
        return self.right + self.wrong + self.dont_know


@dataclass(frozen=True, slots=True)
class Index:
    """An index with its standard error, guesses taken as independent."""

    value: float
    se: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided normal interval, not clipped."""
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.se
        return self.value - reach, self.value + reach

    def lower(self, level: float = 0.95) -> float:
        """Return the one-sided lower limit, not clipped."""
        return self.value - NormalDist().inv_cdf(level) * self.se

    def upper(self, level: float = 0.95) -> float:
        """Return the one-sided upper limit, not clipped."""
        return self.value + NormalDist().inv_cdf(level) * self.se


def within_margin(interval: tuple[float, float], margin: float = MARGIN) -> bool:
    """Say whether a 90 % interval of Bang's index lies inside ±margin, the claim of equivalence."""
    return -margin < interval[0] and interval[1] < margin


def bang(counts: Counts, arms: int = 2) -> Index | None:
    """Return Bang's index of one arm among `arms`, None without a guess.

    Bang, Ni and Davis 2004, scaled to chance for K arms: p_c - p_w / (K - 1), with variance
    (p_c + p_w / (K - 1)² - index²) / n. From -1 / (K - 1) (all wrong) over 0 (chance) to 1. All "don't know"
    gives 0 with no error, where the R package BI gives NaN."""
    if arms < 2:
        raise ValueError("there are at least two arms to guess")
    if counts.total == 0:
        return None
    right, wrong = counts.right / counts.total, counts.wrong / counts.total
    value = right - wrong / (arms - 1)
    variance = (right + wrong / (arms - 1) ** 2 - value**2) / counts.total
    return Index(value, sqrt(max(variance, 0.0)))


def james(first: Sequence[int], second: Sequence[int], dont_know: Sequence[int]) -> Index | None:
    """Return James's index of two arms; None without a guess, or where chance alone is always right (one
    arm, and nothing else guessed).

    Rows are guesses (first arm, second arm, don't know), columns the true arm. James et al. 1996: 0 all
    right, ½ chance, 1 all "don't know" (defined so, without error) or all wrong. It is led by "don't know":
    read Bang's first."""
    cells = np.array([first, second, dont_know], dtype=float)
    if cells.shape != (3, 2):
        raise ValueError("James's index is for two arms")
    if (total := cells.sum()) == 0:
        return None
    if not cells[:2].any():
        return Index(1.0, 0.0)
    share = cells / total
    unsure = float(share[2].sum())
    known, sure = share[:2], 1 - unsure
    weight = np.array([[0.0, 0.5], [0.5, 0.0]])
    rows, columns = known.sum(axis=1), known.sum(axis=0)
    expected = float(rows @ weight @ columns)
    if expected == 0:
        return None
    kappa = (float((weight * known).sum()) / sure - expected / sure**2) / (expected / sure**2)
    spread = sure * weight - (1 + kappa) * ((weight.T @ rows)[None, :] + (weight @ columns)[:, None])
    first_term = float((known * sure**2 * spread**2).sum()) / (4 * expected**2)
    second_term = unsure * sure - sure * (1 + kappa) * (unsure + sure * (1 + kappa) / 4)
    variance = (first_term + second_term) / float(total)
    return Index((1 + unsure + sure * kappa) / 2, sqrt(max(variance, 0.0)))


def count(guesses: Sequence[Guess], arm: str) -> Counts:
    """Return the counts of guesses about outputs of one arm."""
    about = [guess for guess in guesses if guess.arm == arm]
    right = sum(guess.guess == arm for guess in about)
    dont_know = sum(guess.guess is None for guess in about)
    return Counts(right, len(about) - right - dont_know, dont_know)


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One coder's guesses about one arm. `index` is None where it is not shown (too few guesses), and so
    is the 95 % bootstrap interval `by_task`, which needs two tasks as well."""

    coder: str
    arm: str
    counts: Counts
    index: Index | None
    by_task: tuple[float, float] | None


def by_coder_and_arm(
    guesses: Sequence[Guess], choices: Sequence[str], *, seed: int, resamples: int = 2000
) -> list[ArmResult]:
    """Return Bang's index per coder and true arm, both sorted; `choices` are the arms one could pick."""
    arms = sorted({guess.arm for guess in guesses})
    kinds = max(len({*choices, *arms}), 2)
    results = []
    for coder in sorted({guess.coder for guess in guesses}):
        own = [guess for guess in guesses if guess.coder == coder]
        for arm in arms:
            counts = count(own, arm)
            shown = counts.total >= MIN_GUESSES
            index = bang(counts, kinds) if shown else None
            by_task = bootstrap(own, arm, kinds, seed=seed, resamples=resamples) if shown else None
            results.append(ArmResult(coder, arm, counts, index, by_task))
    return results


def james_by_coder(guesses: Sequence[Guess], first: str, second: str) -> dict[str, Index | None]:
    """Return James's index per coder for the two arms; None where either has under 20 guesses."""
    results: dict[str, Index | None] = {}
    for coder in sorted({guess.coder for guess in guesses}):
        own = [guess for guess in guesses if guess.coder == coder]
        of_first, of_second = count(own, first), count(own, second)
        results[coder] = None
        if min(of_first.total, of_second.total) >= MIN_GUESSES:
            results[coder] = james(
                (of_first.right, of_second.wrong),
                (of_first.wrong, of_second.right),
                (of_first.dont_know, of_second.dont_know),
            )
    return results


def bootstrap(
    guesses: Sequence[Guess], arm: str, arms: int, *, seed: int, resamples: int = 2000, level: float = 0.95
) -> tuple[float, float] | None:
    """Return the percentile interval of Bang's index, whole tasks resampled; None for under two tasks."""
    tasks = sorted({guess.task for guess in guesses if guess.arm == arm})
    if len(tasks) < 2:
        return None
    row = {task: number for number, task in enumerate(tasks)}
    table = np.zeros((len(tasks), 2))
    for guess in guesses:
        if guess.arm == arm:
            worth = 0 if guess.guess is None else 1 if guess.guess == arm else -1 / (arms - 1)
            table[row[guess.task]] += (worth, 1)
    source = np.random.Generator(np.random.PCG64(seed))
    weights = source.multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=resamples)
    sums = weights @ table
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def randomisation_test(guesses: Sequence[Guess], *, seed: int, resamples: int = 2000) -> float | None:
    """Return how often arms shuffled within each task give at least as many right guesses; None where no task
    has two arms. One-sided, (1 + hits) / (1 + resamples), so never 0."""
    names = sorted({guess.arm for guess in guesses})
    tasks = sorted({guess.task for guess in guesses})
    if len({(guess.task, guess.arm) for guess in guesses}) == len(tasks):
        return None
    task = np.array([tasks.index(guess.task) for guess in guesses])
    arm = np.array([names.index(guess.arm) for guess in guesses])
    picked = np.array([names.index(guess.guess) if guess.guess in names else -1 for guess in guesses])
    observed = _right(picked, arm)
    source = np.random.Generator(np.random.PCG64(seed))
    places, shuffled, hits = np.argsort(task, kind="stable"), arm.copy(), 0
    for _ in range(resamples):
        shuffled[places] = arm[np.lexsort((source.random(len(task)), task))]
        hits += _right(picked, shuffled) >= observed
    return (1 + hits) / (1 + resamples)


def _right(picked: npt.NDArray[np.int_], arm: npt.NDArray[np.int_]) -> int:
    return int(np.count_nonzero(picked == arm))
