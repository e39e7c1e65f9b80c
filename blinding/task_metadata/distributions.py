"""What may be published of closed labels: counts of T1-T10 per family, with small ones suppressed.

A count under 5 is never published, nor one that would tell it: beside a family or value that is suppressed,
the smallest others are too, until those missing are two or more, 5 tasks or more, and not all equal. Ties go
together, so that what is published depends on the counts alone: suppressed counts could change places and it
would be the same, so none of them follows from it, with or without a total. A value that no task has is no
cell, and cannot be told from one that is suppressed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

THRESHOLD = 5

Tally = Counter[tuple[str, str, str]]  # (family, label, value) → tasks; label "": all tasks of the family
Labels = Mapping[str, Any]

_VALUES: dict[str, Callable[[Labels], Iterable[str]]] = {
    "t1_horizon": lambda labels: [labels["t1_horizon"]],
    "t2_environment": lambda labels: [labels["t2_environment"]],
    "t3_specialties": lambda labels: [labels["t3_specialties"]],
    "t4_modalities": lambda labels: labels["t4_modalities"],
    "t5_omics.kind": lambda labels: [labels["t5_omics"]["kind"]],
    "t6_interaction": lambda labels: [labels["t6_interaction"]],
    "t7_knowledge_currency": lambda labels: [labels["t7_knowledge_currency"]],
    "t8_jurisdiction.region": lambda labels: [labels["t8_jurisdiction"]["region"]],
    "t8_jurisdiction.standards": lambda labels: labels["t8_jurisdiction"]["standards"],
    "t9_scale": lambda labels: [labels["t9_scale"]],
    "t10_risk": lambda labels: [labels["t10_risk"]],
}
LABELS = tuple(_VALUES)


@dataclass(frozen=True)
class Marginal:
    """Tasks of a family by value of one label; `suppressed`: there are values that are not listed."""

    label: str
    counts: dict[str, int]
    suppressed: bool


@dataclass(frozen=True)
class FamilyDistribution:
    """The marginals of one family and its number of tasks."""

    family: str
    tasks: int
    marginals: tuple[Marginal, ...]


@dataclass(frozen=True)
class PublicDistributions:
    """All that may be published; `suppressed`: there are families that are not listed."""

    families: tuple[FamilyDistribution, ...]
    suppressed: bool

    def as_json(self) -> dict[str, Any]:
        """Return the same as JSON values, with the threshold."""
        return {
            "threshold": THRESHOLD,
            "families_suppressed": self.suppressed,
            "families": [
                {
                    "family": family.family,
                    "tasks": family.tasks,
                    "labels": {
                        marginal.label: {"counts": marginal.counts, "suppressed": marginal.suppressed}
                        for marginal in family.marginals
                    },
                }
                for family in self.families
            ],
        }


def tally(metadata: Iterable[Mapping[str, Any]]) -> Tally:
    """Count tasks by family, label and value: closed. Tallies of disjoint sets of tasks add up with `+`."""
    counts: Tally = Counter()
    for task in metadata:
        counts[task["family"], "", ""] += 1
        for label, values in _VALUES.items():
            for value in set(values(task["labels"])):
                counts[task["family"], label, value] += 1
    return counts


def publish(counts: Tally) -> PublicDistributions:
    """Return what of a tally may be published. Publish once: two publications tell what lies between them."""
    sizes = {family: n for (family, label, _), n in counts.items() if label == ""}
    hidden = suppressed_cells(sizes)
    families = (_family(family, sizes[family], counts) for family in sorted(set(sizes) - hidden))
    return PublicDistributions(tuple(families), bool(hidden))


def distributions(metadata: Iterable[Mapping[str, Any]]) -> PublicDistributions:
    """Return the public distributions of tasks, one metadata table for each."""
    return publish(tally(metadata))


def suppressed_cells(counts: Mapping[str, int]) -> set[str]:
    """Return which of some counts may not be published."""
    present = {cell: n for cell, n in counts.items() if n > 0}
    hidden = {cell for cell, n in present.items() if n < THRESHOLD}
    while hidden and len(hidden) < len(present) and not _is_ambiguous([present[cell] for cell in hidden]):
        least = min(n for cell, n in present.items() if cell not in hidden)
        hidden |= {cell for cell, n in present.items() if n == least}
    return hidden


def _is_ambiguous(hidden: list[int]) -> bool:
    return len(hidden) >= 2 and sum(hidden) >= THRESHOLD and len(set(hidden)) > 1


def _family(family: str, tasks: int, counts: Tally) -> FamilyDistribution:
    by_label: dict[str, dict[str, int]] = {label: {} for label in LABELS}
    for (name, label, value), n in counts.items():
        if name == family and label:
            by_label[label][value] = n
    return FamilyDistribution(family, tasks, tuple(_marginal(label, by_label[label]) for label in LABELS))


def _marginal(label: str, counts: dict[str, int]) -> Marginal:
    hidden = suppressed_cells(counts)
    shown = {value: n for value, n in sorted(counts.items()) if value not in hidden}
    return Marginal(label, shown, bool(hidden))
