"""Where a coder puts an output: the place, from the cluster decision; new clusters by their members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from adjudication.agreement.encode import AgreementInputError
from adjudication.agreement.metric import FloatArray
from annotation_app.record_schema import cluster


class Place(NamedTuple):
    """A cluster of the task (`owner` empty), a coder's own new cluster, or none at all (`rejected`)."""

    name: str
    owner: str = ""
    rejected: bool = False


REJECTED = Place("", rejected=True)


def derive_place(decision: Mapping[str, object], coder: str) -> Place | None:
    """Return the place of a `semantic_cluster_decision` object, None for *uncertain*; raises ValueError.

    Confirm and split: the cluster named (split names a new one, or the old one where others should leave);
    merge: the target; reject: its own place."""
    kind = decision.get("decision")
    if kind not in cluster.DECISIONS:
        raise ValueError("is no cluster decision")
    if kind == cluster.UNCERTAIN:
        return None
    if kind == cluster.REJECT:
        return REJECTED
    name = decision.get("merge_target" if kind == cluster.MERGE else "cluster_id")
    if not isinstance(name, str) or not name:
        raise ValueError("names no cluster")
    return Place(name, coder if cluster.is_new(name) else "")


@dataclass(frozen=True)
class Placed:
    """One output: its task, and for each of its coders the place (None where uncertain)."""

    output_id: str
    task_id: str
    places: Mapping[str, Place | None]


def place_labels(outputs: Sequence[Placed]) -> list[dict[str, str | None]]:
    """Return for each output coder → label; equal labels within a task are one place.

    New clusters of two coders are one place if, of the outputs that both placed, more than half of those in
    either lie in both: at most one partner can pass that. Names of new clusters play no part."""
    same = _matched(outputs)
    return [
        {coder: _label(place, output.task_id, same) for coder, place in output.places.items()}
        for output in outputs
    ]


New = tuple[str, str, str]  # task, owner, name


def _label(place: Place | None, task: str, same: Mapping[New, New]) -> str | None:
    if place is None:
        return None
    if place.rejected:
        return "reject"
    if not place.owner:
        return f"cluster {place.name}"
    key = (task, place.owner, place.name)
    _, owner, name = same.get(key, key)
    return f"new {owner} {name}"


def _matched(outputs: Sequence[Placed]) -> dict[New, New]:
    members: dict[New, set[str]] = {}
    seen: dict[tuple[str, str], set[str]] = {}
    for output in outputs:
        for coder, place in output.places.items():
            if place is not None:
                seen.setdefault((output.task_id, coder), set()).add(output.output_id)
                if place.owner:
                    members.setdefault((output.task_id, coder, place.name), set()).add(output.output_id)
    by_task: dict[str, list[New]] = {}
    for key in members:
        by_task.setdefault(key[0], []).append(key)
    matches = []
    for keys in by_task.values():
        for one, two in combinations(keys, 2):
            share, size = _overlap(members[one], members[two], seen[one[:2]] & seen[two[:2]])
            if one[1] != two[1] and share > 0.5:
                matches.append((share, size, one, two))
    return _joined(sorted(matches, key=lambda m: (-m[0], -m[1], m[2], m[3])))


def _overlap(one: set[str], two: set[str], common: set[str]) -> tuple[float, int]:
    either, both = (one | two) & common, one & two
    return (len(both) / len(either) if either else 0.0), len(both)


def _joined(matches: Sequence[tuple[float, int, New, New]]) -> dict[New, New]:
    """Chains of matches become one place, the closest first, unless that joins two clusters of one coder."""
    group: dict[New, list[New]] = {}
    for _, _, one, two in matches:
        left, right = group.setdefault(one, [one]), group.setdefault(two, [two])
        if left is right or {key[1] for key in left} & {key[1] for key in right}:
            continue
        left.extend(right)
        for key in right:
            group[key] = left
    return {key: min(joined) for key, joined in group.items()}


@dataclass(frozen=True)
class Membership:
    """Pairs of outputs of one task that two coders both placed: in one place by both, one or none of them.

    `alpha` is task-stratified on *same or not*; `rand` is the adjusted Rand index with sums over tasks; None
    where the partitions leave nothing to vary."""

    pairs: int
    same_both: int
    same_first: int
    same_second: int
    same_neither: int
    alpha: float | None
    rand: float | None
    tasks: int


def compare_membership(outputs: Sequence[Placed]) -> Membership:
    """Return how codings agree on which outputs belong together; a rejected output belongs with no other."""
    blocks: dict[tuple[str, str, str], list[tuple[Place, Place]]] = {}
    for output in outputs:
        coders = [(coder, place) for coder, place in output.places.items()]
        for (one, first), (two, second) in combinations(coders, 2):
            if first is not None and second is not None:
                blocks.setdefault((output.task_id, one, two), []).append((first, second))
    tables = {key: _pair_table(placed) for key, placed in blocks.items() if len(placed) > 1}
    per_task: dict[str, FloatArray] = {}
    for (task, _, _), table in tables.items():
        per_task[task] = per_task.get(task, np.zeros(4)) + table
    total = sum(tables.values(), np.zeros(4))
    both, one_only, two_only, neither = (round(float(count)) for count in total)
    return Membership(
        round(float(total.sum())),
        both,
        one_only,
        two_only,
        neither,
        _pair_alpha(list(per_task.values())),
        _rand(list(tables.values())),
        len(per_task),
    )


def _pair_table(placed: Sequence[tuple[Place, Place]]) -> FloatArray:
    """Pairs of outputs: same in both, in the first only, in the second only, in neither."""
    first, second = (_sizes([pair[side] for pair in placed]) for side in (0, 1))
    cells = _sizes([None if any(p.rejected for p in pair) else pair for pair in placed])
    every = len(placed) * (len(placed) - 1) / 2
    return np.array([cells, first - cells, second - cells, every - first - second + cells])


def _sizes(keys: Sequence[object]) -> float:
    """How many pairs have the same key; None and rejected places are the same as nothing."""
    counts: dict[object, int] = {}
    for key in keys:
        if key is not None and not (isinstance(key, Place) and key.rejected):
            counts[key] = counts.get(key, 0) + 1
    return sum(count * (count - 1) / 2 for count in counts.values())


def _pair_alpha(tables: Sequence[FloatArray]) -> float | None:
    observed = expected = 0.0
    for both, one, two, neither in tables:
        same, other = 2 * both + one + two, 2 * neither + one + two
        n = same + other
        observed += 2 * (one + two)
        expected += 2 * same * other / (n - 1)
    return float(1 - observed / expected) if expected > 0 else None


def _rand(tables: Sequence[FloatArray]) -> float | None:
    """Hubert and Arabie (1985): (index − expected) / (mean of both − expected), each summed over blocks."""
    index = chance = most = 0.0
    for both, one, two, neither in tables:
        first, second = both + one, both + two
        index += both
        chance += first * second / (both + one + two + neither)
        most += (first + second) / 2
    return float((index - chance) / (most - chance)) if most > chance else None


def read_place(decision: object, coder: str, output_id: str) -> Place | None:
    """Return the place in a payload; raises AgreementInputError with the output and the coder."""
    where = f"coder {coder}, unit {output_id}, field {cluster.PATH}"
    if not isinstance(decision, Mapping):
        raise AgreementInputError("wrong_type", where, "an object is expected")
    try:
        return derive_place(decision, coder)
    except ValueError as error:
        raise AgreementInputError("label_outside_domain", where, str(error)) from None
