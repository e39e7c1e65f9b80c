"""One field of all units as codes: reads payloads, derives places, and says who gave which code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudication.agreement.encode import AgreementInputError, Coding, encode
from adjudication.agreement.fields import BLANK, FieldSpec, read
from adjudication.agreement.metric import IntArray, Label, Metric
from adjudication.agreement.pairs import CodedPair, Unit
from adjudication.agreement.place import Placed, place_labels, read_place
from annotation_app.record_schema import cluster


@dataclass(frozen=True)
class FieldTable:
    """Codes of one field, coders × units, beside the pair, task number and coders' aliases of each unit."""

    spec: FieldSpec
    coding: Coding
    pairs: tuple[CodedPair, ...]
    tasks: IntArray
    placed: tuple[Placed, ...] = ()

    def take(self, units: npt.NDArray[np.bool_]) -> "FieldTable":
        """The table of some units, by mask."""
        pairs = tuple(pair for pair, kept in zip(self.pairs, units, strict=True) if kept)
        return replace(self, coding=self.coding.take(units), pairs=pairs, tasks=self.tasks[units])

    def with_coding(self, coding: Coding) -> "FieldTable":
        """The same units under another coding of the field."""
        return replace(self, coding=coding)

    @property
    def pairable(self) -> "FieldTable":
        return self.take(self.coding.paired)


def table_of(spec: FieldSpec, units: Sequence[Unit]) -> FieldTable:
    """Read one field of all units; raises AgreementInputError with field, coder and unit."""
    placed: tuple[Placed, ...] = ()
    if spec.kind == "place":
        placed = tuple(_placed(unit) for unit in units)
        rows = _place_rows(units, placed)
    else:
        rows = _rows([[_label(spec, unit, payload) for _, payload in unit.codes] for unit in units])
    try:
        coding = _encoded(spec, rows, [unit.pair.output_id for unit in units])
    except AgreementInputError as error:
        raise AgreementInputError(error.code, f"field {spec.path}, {error.place}", error.message) from None
    names = sorted({unit.pair.task_id for unit in units})
    number = {name: place for place, name in enumerate(names)}
    tasks = np.array([number[unit.pair.task_id] for unit in units], dtype=np.int64)
    return FieldTable(spec, coding, tuple(unit.pair for unit in units), tasks, placed)


def _rows(labels: Sequence[Sequence[object]]) -> list[list[object]]:
    """Transpose units × codes into coders × units, None where a unit has fewer codes; at least two rows."""
    height = max((len(codes) for codes in labels), default=2)
    return [[codes[row] if row < len(codes) else None for codes in labels] for row in range(max(2, height))]


def _encoded(spec: FieldSpec, rows: list[list[object]], units: Sequence[str]) -> Coding:
    names = [chr(ord("A") + row) for row in range(len(rows))]
    if spec.kind == "place":
        return encode(rows, Metric("nominal"), coders=names, units=units)
    if spec.metric.is_set:
        return encode(rows, spec.metric, coders=names, units=units)
    domain: list[Label] | None = list(spec.values) or None
    if domain is not None and any(BLANK in row for row in rows):
        domain.append(BLANK)
    return encode(rows, spec.metric, domain=domain, coders=names, units=units, bounds=spec.bounds)


def _label(spec: FieldSpec, unit: Unit, payload: Mapping[str, Any]) -> object:
    value = read(payload, spec.path)
    if spec.kind == "set-in-task":
        return _classes(spec, unit.pair, value)
    if value in spec.missing:
        return None
    if value is None:
        return BLANK if spec.metric.level == "nominal" else None
    return value


def _classes(spec: FieldSpec, pair: CodedPair, value: object) -> object:
    """The classes a coder found in an output of a positive control; elsewhere the question was not asked."""
    if not pair.positive_control:
        return None
    found = frozenset(value) if isinstance(value, list | tuple | set | frozenset) else frozenset()
    if not found <= set(pair.classes):
        place = f"field {spec.path}, unit {pair.output_id}"
        raise AgreementInputError("label_outside_domain", place, "names a class that its task does not offer")
    return found


def _placed(unit: Unit) -> Placed:
    places = {
        coder: read_place(read(payload, cluster.PATH), coder, unit.pair.output_id)
        for coder, payload in unit.codes
    }
    return Placed(unit.pair.output_id, unit.pair.task_id, places)


def _place_rows(units: Sequence[Unit], placed: Sequence[Placed]) -> list[list[object]]:
    labels = place_labels(placed)
    return _rows(
        [[found[coder] for coder, _ in unit.codes] for unit, found in zip(units, labels, strict=True)]
    )
