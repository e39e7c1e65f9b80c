"""The columns an upload may use: an allow-list. What is not in this table is sealed and never looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from annotation_app.batch_file.faults import RowError
from annotation_app.batch_file.limits import DEFAULT_LIMITS, Limits
from annotation_app.batch_file.rows import Header, Row

CSV_FLAGS = {"true": True, "1": True, "false": False, "0": False}
CSV_SEPARATOR = "|"


class Kind(Enum):
    """What a column holds: long text, a label (ids too), a flag, classes offered, classes expected."""

    TEXT = "text"
    LABEL = "label"
    FLAG = "flag"
    CLASSES = "classes"
    EXPECTED = "expected"


STRINGS = frozenset({Kind.TEXT, Kind.LABEL})
WANTED = {
    Kind.TEXT: "a string",
    Kind.LABEL: "a string",
    Kind.FLAG: "true, false or null (in CSV true, false, 1, 0 or empty)",
    Kind.CLASSES: "a list of strings, none of them blank (in CSV separated by |)",
    Kind.EXPECTED: "a string or a list of strings, none of them blank (in CSV separated by |)",
}


class Column(NamedTuple):
    """A column of the product."""

    name: str
    kind: Kind
    required: bool = False


TABLE = (
    Column("output_id", Kind.LABEL, required=True),
    Column("task_id", Kind.LABEL, required=True),
    Column("task_version", Kind.LABEL),
    Column("text", Kind.TEXT, required=True),
    Column("condition", Kind.LABEL, required=True),
    Column("model", Kind.LABEL, required=True),
    Column("theory", Kind.LABEL),
    Column("gold_expected", Kind.EXPECTED),
    Column("task_statement", Kind.TEXT),
    Column("reference_material", Kind.TEXT),
    Column("auto_cluster_id", Kind.LABEL),
    Column("cluster_label", Kind.LABEL),
    Column("positive_control", Kind.FLAG),
    Column("gold_classes", Kind.CLASSES),
)
NAMES = frozenset(column.name for column in TABLE)
SHOWN = frozenset({"text", "task_statement", "reference_material"})
NOWHERE = "\0"  # no column is called so: NUL is replaced on reading


class Fields(NamedTuple):
    """The values of one row in the order of TABLE; None where a value is absent, blank or wrong."""

    output_id: str | None
    task_id: str | None
    task_version: str | None
    text: str | None
    condition: str | None
    model: str | None
    theory: str | None
    gold_expected: tuple[str, ...] | None
    task_statement: str | None
    reference_material: str | None
    auto_cluster_id: str | None
    cluster_label: str | None
    positive_control: bool | None
    gold_classes: tuple[str, ...] | None


class MappingError(ValueError):
    """A mapping names a column the product does not have, or one column twice."""


class _Wrong(Exception):
    def __init__(self, code: str, what: str) -> None:
        super().__init__(code)
        self.code = code
        self.what = what


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one column of the product is read from this file."""

    column: Column
    source: str
    limit: int

    def wrong(self, row: int, fault: _Wrong) -> RowError:
        name = self.column.name
        where = name if self.source in (name, NOWHERE) else f"{name} (read from the column {self.source})"
        return RowError(row, name, fault.code, f"Row {row}: {where} {fault.what}")


class Columns:
    """Finds the product's columns in the rows of one file.

    `mapping` goes from the file's column names to the product's and wins over a column that bears the
    product's name itself, which is then one of the others. Raises MappingError.
    """

    def __init__(
        self, mapping: Mapping[str, str], limits: Limits = DEFAULT_LIMITS, *, csv: bool = False
    ) -> None:
        unknown = sorted(set(mapping.values()) - NAMES)
        if unknown:
            raise MappingError(
                f"No such column: {', '.join(unknown)}. Columns are: {', '.join(sorted(NAMES))}."
            )
        if len(set(mapping.values())) < len(mapping):
            raise MappingError("The mapping gives two columns of the file for one column of the product.")
        self._csv = csv
        sources = {target: source for source, target in mapping.items()}
        self._readings = [
            _Reading(
                column,
                # A name that is mapped away no longer stands for itself.
                sources.get(column.name, NOWHERE if column.name in mapping else column.name),
                limits.text if column.kind is Kind.TEXT else limits.label,
            )
            for column in TABLE
        ]
        self._sources = [reading.source for reading in self._readings]
        self._required = [reading.column.required for reading in self._readings]
        # What a string may have to stand as it is: nothing where another type belongs.
        self._plain = [reading.limit if reading.column.kind in STRINGS else 0 for reading in self._readings]

    def shown_sources(self) -> frozenset[str]:
        """Return the file's names of the long columns that are shown: text, statement, reference material."""
        return frozenset(reading.source for reading in self._readings if reading.column.name in SHOWN)

    def targets(self) -> dict[str, str]:
        """Return the product's column for each name that the file may use, in the order of TABLE."""
        return {
            reading.source: reading.column.name for reading in self._readings if reading.source != NOWHERE
        }

    def check_header(self, header: Header) -> tuple[bool, list[RowError]]:
        """Return whether the header has any required column, and an error for each that it lacks."""
        required = [reading for reading in self._readings if reading.column.required]
        missing = [reading for reading in required if reading.source not in header.names]
        what = "is not among the columns. Columns are separated by commas; a mapping can rename them."
        errors = [reading.wrong(header.number, _Wrong("missing_field", what)) for reading in missing]
        return len(missing) < len(required), errors

    def read(self, row: Row) -> tuple[Fields, list[RowError]]:
        """Return the row's values and its errors: missing_field, empty_text, wrong_type or too_long."""
        values: list[object] = list(map(row.values.get, self._sources))
        errors: list[RowError] = []
        plain, required = self._plain, self._required
        for at, value in enumerate(values):
            if value is None:
                if not required[at]:
                    continue
            elif type(value) is str and 0 < len(value) <= plain[at] and not value.isspace():
                continue
            reading = self._readings[at]
            try:
                values[at] = self._settle(reading, value)
            except _Wrong as fault:
                values[at] = None
                errors.append(reading.wrong(row.number, fault))
        return Fields._make(values), errors

    def _settle(self, reading: _Reading, value: object) -> object:
        """Return what an unusual value stands for, or raise _Wrong."""
        column = reading.column
        if value is None:
            if self._csv:  # a whole column is missing: told once, at the header
                return None
            raise _Wrong("missing_field", "is missing. Every row needs it; a mapping can rename columns.")
        if column.kind in STRINGS:
            return _string(column, value, reading.limit)
        if self._csv and isinstance(value, str):
            if not value or value.isspace():
                return None
            if column.kind is Kind.FLAG:
                return _csv_flag(value)
            return _classes(column, value.split(CSV_SEPARATOR), reading.limit)
        if column.kind is Kind.FLAG:
            if isinstance(value, bool):
                return value
            raise _wrong_type(column)
        if column.kind is Kind.EXPECTED and isinstance(value, str):
            value = [value] if value else []
        return _classes(column, value, reading.limit)


def _wrong_type(column: Column) -> _Wrong:
    return _Wrong("wrong_type", f"has the wrong type. It must be {WANTED[column.kind]}.")


def _string(column: Column, value: object, limit: int) -> str | None:
    if not isinstance(value, str):
        raise _wrong_type(column)
    if len(value) > limit:
        raise _Wrong("too_long", f"has {len(value):,} characters; {limit:,} are allowed. Shorten it.")
    if value and not value.isspace():
        return value
    if column.name == "text":
        raise _Wrong("empty_text", "is blank. Leave out rows that have no output.")
    if column.required:
        raise _Wrong("missing_field", "is blank. Every row needs it.")
    return None


def _csv_flag(value: str) -> bool:
    flag = CSV_FLAGS.get(value.strip().lower())
    if flag is None:
        raise _Wrong("wrong_type", f"must be {WANTED[Kind.FLAG]}.")
    return flag


def _classes(column: Column, value: object, limit: int) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        raise _wrong_type(column)
    for item in value:
        if not isinstance(item, str) or not item or item.isspace():
            raise _wrong_type(column)
        if len(item) > limit:
            raise _Wrong("too_long", f"holds a class of {len(item):,} characters; {limit:,} are allowed.")
    return tuple(dict.fromkeys(value)) or None
