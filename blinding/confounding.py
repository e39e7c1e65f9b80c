"""How much of an arm is told by what a coder sees, before any text is read. Pure: label values in, figures
out.

The figures are about sealed labels: whoever stores them seals them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]
Numbers = NDArray[np.float64]
Statistic = Callable[[Codes], float]

PERMUTATIONS = 500
FOLDS = 5
BINS = 10  # of text length, with about equally many outputs
LISTED = 1_000  # repeated texts
ROUNDING = 1e-12  # of sums in another order


@dataclass(frozen=True, slots=True)
class Explained:
    """How much of an arm one shown thing explains.

    `share` is Theil's uncertainty coefficient U(arm | thing) in [0, 1], `expected` its mean over
    permutations of the arm, `p` the share of permutations, the data being one, that explain at least as
    much. Arms are permuted within tasks where both the thing and the arm differ within some task, else over
    all outputs."""

    arm: str
    thing: str
    levels: int
    share: float
    expected: float
    p: float
    within_tasks: bool


@dataclass(frozen=True, slots=True)
class Lengths:
    """Code points of the texts under one value of an arm."""

    arm: str
    value: str
    texts: int
    mean: float
    quartiles: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a guesser that sees one number per output learns of an arm, on outputs it was not trained on.

    `balanced_accuracy` is the mean recall over the values of the arm, `chance` what guessing gives, `auc`
    the mean area under the curve of each value against the rest, `p` as in Explained, for the balanced
    accuracy."""

    arm: str
    balanced_accuracy: float
    chance: float
    auc: float
    p: float


@dataclass(frozen=True, slots=True)
class Repeated:
    """One text that stands under several values of an arm, by the positions of its outputs."""

    arm: str
    outputs: tuple[int, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confounding:
    """All figures of one check; of the repeated texts the first `LISTED`."""

    explained: tuple[Explained, ...]
    lengths: tuple[Lengths, ...]
    length_guesses: tuple[Guess, ...]
    repeated: tuple[Repeated, ...]
    repeated_total: int
    one_arm_batches: tuple[tuple[str, str], ...]  # (arm, batch)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return asdict(self)


def check(
    arms: Mapping[str, Sequence[str]],
    *,
    tasks: Sequence[Hashable],
    batches: Sequence[Hashable],
    shown: Mapping[str, Sequence[Hashable]],
    digests: Sequence[bytes],
    lengths: Sequence[int],
    generator: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Confounding:
    """Return what everything that is shown tells of each arm; each sequence has one entry per output, in
    one order.

    `arms` are the sealed labels (condition, model, theory), `shown` for example statement, cluster, control
    and masks; task, batch and identical texts (by `text_digest`) are added. Raises ValueError where sizes
    differ."""
    things = {"task": tasks, **shown, "identical_text": _repeats_only(digests), "batch": batches}
    if {len(column) for column in (*arms.values(), *things.values(), lengths)} - {len(tasks)}:
        raise ValueError("every column needs one entry per output")
    task = codes(tasks)
    coded = {thing: codes(levels) for thing, levels in things.items()}
    numbers = np.asarray(lengths, dtype=float)
    repeated = [group for arm, values in arms.items() for group in repeated_texts(arm, values, digests)]
    return Confounding(
        explained=tuple(
            row
            for arm, values in arms.items()
            for row in explained(arm, codes(values), coded, task, generator, permutations)
        ),
        lengths=tuple(row for arm, values in arms.items() for row in lengths_by_arm(arm, values, lengths)),
        length_guesses=tuple(
            guess(arm, codes(values), numbers, task, generator, permutations) for arm, values in arms.items()
        ),
        repeated=tuple(repeated[:LISTED]),
        repeated_total=len(repeated),
        one_arm_batches=tuple(
            (arm, batch) for arm, values in arms.items() for batch in one_arm_batches(values, batches)
        ),
    )


def text_digest(text: str) -> bytes:
    """Return 16 bytes that are equal for texts which read the same but for white space."""
    return hashlib.blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=16).digest()


def codes(values: Sequence[Hashable]) -> Codes:
    """Return small integers, equal where `values` are equal, numbered by first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp)


def uncertainty_coefficient(arm: Codes, thing: Codes) -> float:
    """Return U(arm | thing) = I(arm; thing) / H(arm), the share of the arm's entropy that the thing takes
    away.

    0 where there is nothing to explain. Theil (1970), On the estimation of relationships involving
    qualitative variables, American Journal of Sociology 76."""
    if not len(arm):
        return 0.0
    table = _table((thing, arm))
    entropy = _entropy(table.sum(axis=0))
    if entropy == 0:
        return 0.0
    conditional = _entropy(table.ravel()) - _entropy(table.sum(axis=1))
    return float(min(1.0, max(0.0, 1 - conditional / entropy)))


def explained(
    arm_name: str,
    arm: Codes,
    things: Mapping[str, Codes],
    task: Codes,
    generator: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> list[Explained]:
    """Return how much of an arm each of `things` explains, against permutations of the arm."""
    arm_varies = _varies_within(arm, task)
    within = {name: arm_varies and _varies_within(thing, task) for name, thing in things.items()}
    statistics: dict[str, Statistic] = {
        name: partial(uncertainty_coefficient, thing=thing) for name, thing in things.items()
    }
    null: dict[str, Numbers] = {}
    for scope in (True, False):
        chosen = {name: statistic for name, statistic in statistics.items() if within[name] is scope}
        null |= _under_permutation(arm, task if scope else None, chosen, generator, permutations)
    rows = []
    for name, thing in things.items():
        share = statistics[name](arm)
        expected = float(null[name].mean()) if permutations else share
        levels = len(np.unique(thing))
        rows.append(Explained(arm_name, name, levels, share, expected, _p(share, null[name]), within[name]))
    return rows


def lengths_by_arm(arm: str, values: Sequence[str], lengths: Sequence[int]) -> list[Lengths]:
    """Return how long the texts of each value of an arm are, in code points, values in order."""
    by_value: dict[str, list[int]] = {}
    for value, length in zip(values, lengths, strict=True):
        by_value.setdefault(value, []).append(length)
    rows = []
    for value, found in sorted(by_value.items()):
        low, middle, high = (float(cut) for cut in np.quantile(found, (0.25, 0.5, 0.75)))
        rows.append(Lengths(arm, value, len(found), float(np.mean(found)), (low, middle, high)))
    return rows


def repeated_texts(arm: str, values: Sequence[str], digests: Sequence[bytes]) -> list[Repeated]:
    """Return the texts that stand under more than one value of an arm, by first appearance."""
    places: dict[bytes, list[int]] = {}
    for position, digest in enumerate(digests):
        places.setdefault(digest, []).append(position)
    groups = ((found, sorted({values[position] for position in found})) for found in places.values())
    return [Repeated(arm, tuple(found), tuple(under)) for found, under in groups if len(under) > 1]


def one_arm_batches(values: Sequence[str], batches: Sequence[Hashable]) -> list[str]:
    """Return the batches in which an arm has one value only, in order: their time tells it."""
    found: dict[str, set[str]] = {}
    for value, batch in zip(values, batches, strict=True):
        found.setdefault(str(batch), set()).add(value)
    return sorted(batch for batch, under in found.items() if len(under) == 1)


def guess(
    arm_name: str,
    arm: Codes,
    numbers: Numbers,
    task: Codes,
    generator: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Guess:
    """Return what a guesser learns of an arm from one number per output, cross-validated, over tasks if
    they suffice.

    The guesser parts the numbers into bins of equal size and names, for each, the value it is most frequent
    in."""
    values = int(arm.max()) + 1 if len(arm) else 0
    if values < 2:
        return Guess(arm_name, 1.0, 1.0, 0.5, 1.0)
    fold = _folds(task, generator)
    cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(cuts, numbers, side="right").astype(np.intp)
    accuracy, area = _cross_validated(arm, bins, fold)
    null = _under_permutation(
        arm,
        task if _varies_within(arm, task) else None,
        {"accuracy": lambda labels: _cross_validated(labels, bins, fold)[0]},
        generator,
        permutations,
    )
    return Guess(arm_name, accuracy, 1 / values, area, _p(accuracy, null["accuracy"]))


def _cross_validated(arm: Codes, bins: Codes, fold: Codes) -> tuple[float, float]:
    """Return balanced accuracy and AUC on held-out folds, from counts by fold, bin and value alone."""
    counts = _table((fold, bins, arm))
    trained = counts.sum(axis=0) - counts + 1  # one more each: no value is impossible for want of data
    likelihood = trained / trained.sum(axis=1, keepdims=True)
    posterior = likelihood / likelihood.sum(axis=2, keepdims=True)
    best = posterior.argmax(axis=2)
    right = np.take_along_axis(counts, best[:, :, None], axis=2)[:, :, 0]
    recalls = [right[best == value].sum() / counts[:, :, value].sum() for value in range(counts.shape[2])]
    others = counts.sum(axis=2, keepdims=True) - counts
    areas = [
        _area(posterior[number, :, value], counts[number, :, value], others[number, :, value])
        for number, value in np.ndindex(counts.shape[0], counts.shape[2])
    ]
    known = [area for area in areas if area is not None]
    return float(np.mean(recalls)), float(np.mean(known)) if known else 0.5


def _area(scores: Numbers, hits: Numbers, others: Numbers) -> float | None:
    """Return the area under the ROC curve for counts of hits and others at each score; ties count half."""
    if not hits.sum() or not others.sum():
        return None
    above = (scores[:, None] > scores[None, :]) + 0.5 * (scores[:, None] == scores[None, :])
    return float(hits @ above @ others / (hits.sum() * others.sum()))


def _folds(task: Codes, generator: np.random.Generator) -> Codes:
    """Return a fold for each output: whole tasks where there are two for each fold, else outputs."""
    tasks = int(task.max()) + 1
    if tasks >= 2 * FOLDS:
        return (generator.permutation(tasks) % FOLDS)[task]
    return generator.permutation(len(task)) % min(FOLDS, len(task))


def _under_permutation(
    arm: Codes,
    within: Codes | None,
    statistics: Mapping[str, Statistic],
    generator: np.random.Generator,
    permutations: int,
) -> dict[str, Numbers]:
    """Return each statistic of `permutations` shuffles of the arm, of its labels within equal `within` if
    given."""
    null = {name: np.empty(permutations) for name in statistics}
    places = None if within is None else np.argsort(within, kind="stable")
    for number in range(permutations if statistics else 0):
        if within is None or places is None:
            labels = generator.permutation(arm)
        else:
            labels = np.empty_like(arm)
            labels[places] = arm[np.argsort(within + generator.random(len(arm)))]
        for name, statistic in statistics.items():
            null[name][number] = statistic(labels)
    return null


def _p(observed: float, null: Numbers) -> float:
    """Return the permutation p-value, the data counted as one permutation (Phipson and Smyth, 2010)."""
    return float((1 + np.count_nonzero(null >= observed - ROUNDING)) / (1 + len(null)))


def _varies_within(thing: Codes, task: Codes) -> bool:
    if not len(thing):
        return False
    pairs = task * (int(thing.max()) + 1) + thing
    return len(np.unique(pairs)) > len(np.unique(task))


def _table(columns: tuple[Codes, ...]) -> Numbers:
    """Return how often each combination of codes occurs, one axis per column."""
    sizes = tuple(int(column.max()) + 1 for column in columns)
    flat = np.ravel_multi_index(columns, sizes)
    return np.bincount(flat, minlength=int(np.prod(sizes))).reshape(sizes).astype(float)


def _entropy(counts: Numbers) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _repeats_only(digests: Sequence[bytes]) -> list[bytes]:
    """Return the digests of repeated texts, all others as one: a text of its own would explain everything."""
    seen = Counter(digests)
    return [digest if seen[digest] > 1 else b"" for digest in digests]
