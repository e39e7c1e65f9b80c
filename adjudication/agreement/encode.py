"""Labels in, codes out: every label is checked and named by its place before any figure is computed."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudication.agreement.metric import FloatArray, IntArray, Label, Metric

MISSING = -1


class AgreementInputError(ValueError):
    """Input that no figure may be computed from: `code` says what is wrong, `place` where."""

    def __init__(self, code: str, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.code, self.place, self.message = code, place, message


@dataclass(frozen=True)
class Coding:
    """Codes of one field: `index` is coders × units, places in `domain` or `MISSING`."""

    index: IntArray
    domain: tuple[Label, ...]
    metric: Metric

    @property
    def numbers(self) -> FloatArray:
        """One float per domain value: the value itself at interval and ratio level, else its place."""
        if self.metric.is_numeric:
            return np.array([float(value) for value in self.domain if not isinstance(value, frozenset)])
        return np.arange(len(self.domain), dtype=np.float64)

    @property
    def paired(self) -> npt.NDArray[np.bool_]:
        """Which units at least two coders gave a value."""
        return np.asarray((self.index != MISSING).sum(axis=0) >= 2)

    def floats(self) -> FloatArray:
        """The coders × units float64 codes that `krippendorff` takes: NaN is missing, nothing wraps."""
        codes = np.full(self.index.shape, np.nan)
        given = self.index != MISSING
        codes[given] = self.numbers[self.index[given]]
        return codes

    def take(self, units: IntArray | npt.NDArray[np.bool_]) -> "Coding":
        """The same field on some units: a mask, or their numbers."""
        return Coding(self.index[:, units], self.domain, self.metric)

    def without(self, values: Iterable[Label]) -> "Coding":
        """The same field with some values counted as missing and taken out of the domain."""
        gone = set(values)
        return self.keep([place for place, value in enumerate(self.domain) if value not in gone])

    def keep(self, places: Sequence[int]) -> "Coding":
        """The same field with only some values of the domain, given by their places in order."""
        renumber = np.full(len(self.domain) + 1, MISSING, dtype=np.int64)
        renumber[list(places)] = np.arange(len(places))
        matrix = self.metric.matrix
        if matrix is not None:
            matrix = tuple(tuple(matrix[i][j] for j in places) for i in places)
        domain = tuple(self.domain[place] for place in places)
        return Coding(renumber[self.index], domain, Metric(self.metric.level, matrix))


def encode(
    data: Sequence[Sequence[object]] | npt.NDArray[Any],
    metric: Metric,
    *,
    domain: Sequence[object] | None = None,
    coders: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Coding:
    """Return the codes of `data`, one row per coder, one column per unit, None for a missing value.

    Without a `domain` it is the sorted values that occur; ordinal text and matrices need one. `bounds` are
    the least and greatest number allowed. Raises AgreementInputError that names the first wrong place."""
    table = _Table([_plain(row) for row in _two_axes(data)], coders, units)
    table.check_axes()
    if metric.is_set:
        table.read_sets()
    table.check_types(metric)
    table.check_numbers(metric, bounds)
    values = _declared(domain, metric) if domain is not None else _occurring(table.distinct(), metric)
    return Coding(table.places(values), tuple(values), metric)


class _Table:
    """The labels with the names of their axes, so that every error can say where."""

    def __init__(
        self, rows: list[list[object]], coders: Sequence[str] | None, units: Sequence[str] | None
    ) -> None:
        self.rows, self.coders, self.units = rows, coders, units

    def check_axes(self) -> None:
        if len({len(row) for row in self.rows}) > 1:
            raise AgreementInputError("ragged", "", "every coder has one entry per unit, None for no value")
        if self.coders is not None and len(self.coders) != len(self.rows):
            raise AgreementInputError("axes", "", f"{len(self.rows)} rows for {len(self.coders)} coders")
        if self.units is not None and self.rows and len(self.units) != len(self.rows[0]):
            raise AgreementInputError("axes", "", f"{len(self.rows[0])} columns for {len(self.units)} units")
        for axis, names in (("coder", self.coders), ("unit", self.units)):
            twice = first_duplicate(names or ())
            if twice is not None:
                raise AgreementInputError("two_codes_on_one_unit", f"{axis} {twice}", "is named twice")

    def read_sets(self) -> None:
        self.rows = [
            [self._set(value, r, c) for c, value in enumerate(row)] for r, row in enumerate(self.rows)
        ]

    def _set(self, value: object, row: int, column: int) -> frozenset[str] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple | set | frozenset):
            raise self.error("wrong_type", row, column, "a set of labels is expected")
        if any(not isinstance(element, str) for element in value):
            raise self.error("wrong_type", row, column, "a set holds text labels")
        return frozenset(value)

    def distinct(self) -> set[object]:
        """The values that occur; NaN may be among them until `check_numbers` has passed."""
        return set[object]().union(*(set(row) for row in self.rows)) - {None}

    def check_types(self, metric: Metric) -> None:
        kinds = set[type]().union(*(set(map(type, row)) for row in self.rows)) - {type(None)}
        fitting: set[type] = {int, float} if metric.is_numeric else {str, int, float, bool}
        fitting = {frozenset} if metric.is_set else fitting
        if bool in kinds and kinds & {int, float}:  # True and 1 would be one value
            fitting = fitting - {bool}
        if not kinds <= fitting:
            message = f"a value of this type has no place at level {metric.level}"
            raise self.first_error("wrong_type", lambda value: type(value) not in fitting, message)

    def check_numbers(self, metric: Metric, bounds: tuple[float, float] | None) -> None:
        numbers = [value for value in self.distinct() if isinstance(value, int | float)]
        if not all(map(math.isfinite, numbers)):
            raise self.first_error("not_finite", _is_not_finite, "NaN and infinity are no values: use None")
        low, high = bounds if bounds is not None else (-math.inf, math.inf)
        low = max(low, 0.0) if metric.level == "ratio" else low
        if numbers and not (low <= min(numbers) and max(numbers) <= high):
            message = f"the number lies outside {low:g} to {high:g}"
            raise self.first_error(
                "outside_bounds", lambda v: isinstance(v, int | float) and not low <= v <= high, message
            )

    def places(self, values: Sequence[Label]) -> IntArray:
        """The place of every label in `values`, coders × units."""
        lookup: dict[object, int] = {value: place for place, value in enumerate(values)}
        lookup[None] = MISSING
        index = np.empty((len(self.rows), len(self.rows[0]) if self.rows else 0), dtype=np.int64)
        try:
            for r, row in enumerate(self.rows):
                index[r] = np.fromiter(map(lookup.__getitem__, row), dtype=np.int64, count=len(row))
        except KeyError:
            raise self.first_error(
                "label_outside_domain",
                lambda value: value not in lookup,
                "the label is no value of this field",
            ) from None
        return index

    def first_error(self, code: str, wrong: Callable[[object], bool], message: str) -> AgreementInputError:
        row, column = next(
            (r, c) for r, row in enumerate(self.rows) for c, v in enumerate(row) if v is not None and wrong(v)
        )
        return self.error(code, row, column, message)

    def error(self, code: str, row: int, column: int, message: str) -> AgreementInputError:
        coder = self.coders[row] if self.coders else str(row + 1)
        unit = self.units[column] if self.units else str(column + 1)
        return AgreementInputError(code, f"coder {coder}, unit {unit}", message)


def _two_axes(data: Sequence[Sequence[object]] | npt.NDArray[Any]) -> Iterable[Sequence[object]]:
    if isinstance(data, str) or not hasattr(data, "__iter__") or any(not _is_row(row) for row in data):
        raise AgreementInputError("not_two_axes", "", "codes have a row per coder and a column per unit")
    return data


def _is_row(row: object) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 1
    return isinstance(row, Sequence) and not isinstance(row, str)


def _plain(row: Sequence[object]) -> list[object]:
    # numpy rows become Python values; a masked array gives None where it is masked
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


def _is_not_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def first_duplicate(values: Iterable[object]) -> object | None:
    """Return the first value that occurred before, or None."""
    seen: set[object] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def _declared(domain: Sequence[object], metric: Metric) -> list[Label]:
    values = [frozenset(value) if isinstance(value, list | tuple | set) else value for value in domain]
    twice = first_duplicate(values)
    if twice is not None:
        raise AgreementInputError("duplicate_domain_value", f"domain value {twice!r}", "is declared twice")
    if metric.matrix is not None and len(metric.matrix) != len(values):
        raise AgreementInputError("domain_and_matrix_differ", "domain", "needs a row of distances per value")
    labels = [value for value in values if isinstance(value, str | int | float | frozenset)]
    numbers = [value for value in labels if isinstance(value, int | float) and math.isfinite(value)]
    if len(labels) < len(values) or (metric.is_numeric and len(numbers) < len(values)):
        raise AgreementInputError("wrong_type", "domain", f"holds what is no value at level {metric.level}")
    return [*sorted(numbers)] if metric.is_numeric else labels


def _occurring(values: set[object], metric: Metric) -> list[Label]:
    if metric.is_set:
        sets = [value for value in values if isinstance(value, frozenset)]
        return [*sorted(sets, key=lambda labels: (len(labels), sorted(labels)))]
    numbers = sorted(value for value in values if isinstance(value, int | float))
    if metric.level == "matrix" or (metric.level == "ordinal" and len(numbers) < len(values)):
        raise AgreementInputError("domain_required", "domain", f"has to be declared at level {metric.level}")
    return [*numbers, *sorted(value for value in values if isinstance(value, str))]
