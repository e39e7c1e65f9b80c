"""Consensus codes by arm: counts, shares and means, with intervals over tasks. No ORM."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation_app.record_schema import RecordSchema
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, CodedField, Kind
from annotation_app.registries import Settled
from blinding.shares import ratios


class Arm(NamedTuple):
    condition: str
    model: str


@dataclass
class _Cell:
    """One arm's codes of one field: per task the values that were settled, and how many were not."""

    by_task: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    undecided: int = 0
    single: int = 0


class FieldTable:
    """One field's consensus by arm: shares of each value, or the mean of a number."""

    def __init__(self, path: str, kind: Kind, seed: int) -> None:
        self.path, self._kind, self._seed = path, kind, seed
        self._cells: dict[Arm, _Cell] = defaultdict(_Cell)
        self.of_classes = kind is Kind.CHECKS  # which only a positive control has

    def take(self, task: str, arm: Arm, settled: Settled) -> None:
        """Add one output's settled value; a value that nobody gave is left out."""
        cell = self._cells[arm]
        if settled.how == "undecided":
            cell.undecided += 1
        elif settled.how == "single":
            cell.single += 1
        elif settled.value is not None:
            cell.by_task[task].append(self._shown(settled.value))

    def as_dict(self) -> dict[str, Any]:
        cells = [self._cell(arm, self._cells[arm]) for arm in sorted(self._cells)]
        return {"path": self.path, "kind": "mean" if self._kind in NUMERIC else "shares", "cells": cells}

    def _shown(self, value: Any) -> Any:
        return value["decision"] if self._kind is Kind.CLUSTER else value

    def _cell(self, arm: Arm, cell: _Cell) -> dict[str, Any]:
        outputs = sum(len(values) for values in cell.by_task.values())
        if self._kind in NUMERIC:
            figures = self._mean(cell) if outputs else {}
        else:
            figures = self._shares(cell)
        return {
            "condition": arm.condition,
            "model": arm.model,
            "outputs": outputs,
            "tasks": len(cell.by_task),
            "undecided": cell.undecided,
            "single": cell.single,
            **figures,
        }

    def _mean(self, cell: _Cell) -> dict[str, Any]:
        tasks = sorted(cell.by_task)
        sums = [[float(sum(cell.by_task[task]))] for task in tasks]
        (mean,) = ratios(sums, [len(cell.by_task[task]) for task in tasks], seed=self._seed)
        return {"mean": mean.value, "interval": mean.interval}

    def _shares(self, cell: _Cell) -> dict[str, Any]:
        tasks = sorted(cell.by_task)
        counted = {
            task: Counter(part for value in cell.by_task[task] for part in _parts(value)) for task in tasks
        }
        names = sorted({name for counts in counted.values() for name in counts}, key=str)
        if not names:
            return {"values": []}
        table = [[counted[task][name] for name in names] for task in tasks]
        found = ratios(table, [len(cell.by_task[task]) for task in tasks], seed=self._seed)
        return {
            "values": [
                {
                    "value": name,
                    "count": sum(counted[task][name] for task in tasks),
                    "share": ratio.value,
                    "interval": ratio.interval,
                }
                for name, ratio in zip(names, found, strict=True)
            ]
        }


def tables_of(schema: RecordSchema, seed: int) -> list[FieldTable]:
    """Return an empty table for every field of which values can be counted, in the schema's order."""
    return [FieldTable(path, leaf.kind, seed) for path, leaf in schema.leaves.items() if _is_counted(leaf)]


def _is_counted(leaf: CodedField) -> bool:
    return leaf.kind not in WRITTEN and leaf.kind is not Kind.FLAG


def _parts(value: Any) -> list[Any]:
    """Return what is counted of a value: each ticked class of a set, else the value; shares of classes need not add up."""
    return list(value) if isinstance(value, list) else [value]
