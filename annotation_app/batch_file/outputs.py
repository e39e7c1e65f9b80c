"""The second pass over an upload that was found free of errors: one output at a time, ready to be sealed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

import orjson

from annotation_app.batch_file.archive import Opened, Progress
from annotation_app.batch_file.columns import Columns, Fields
from annotation_app.batch_file.faults import RowError, WarningTally
from annotation_app.batch_file.items import read_items
from annotation_app.batch_file.remainder import without_columns
from annotation_app.batch_file.rows import Row
from annotation_app.batch_file.task_ledger import Clean


class OutputRow(NamedTuple):
    """One output. `text` is as given and `shown` is cleaned; `raw` is the whole row as JSON in UTF-8.

    NUL and lone surrogates are U+FFFD in all of them.
    """

    number: int
    output_id: str
    task_id: str
    task_version: str | None
    text: str
    shown: str
    condition: str
    model: str
    theory: str | None
    gold_expected: tuple[str, ...] | None
    auto_cluster_id: str | None
    raw: bytes
    values: dict[str, object]
    shown_sources: frozenset[str]

    def rest(self) -> bytes:
        """Return `raw` without text, task_statement and reference_material, every other value as given."""
        kept = {name: value for name, value in self.values.items() if name not in self.shown_sources}
        try:
            return orjson.dumps(kept)
        except TypeError:  # of a number it would not write as it was read: Respelt, or beyond 64 bits
            return without_columns(self.raw, self.shown_sources)


class FileChanged(RuntimeError):
    """The file has an error in the second pass, so it is not the one that was checked."""


def read_outputs(
    opened: Opened, mapping: Mapping[str, str], clean: Clean, progress: Progress | None = None
) -> Iterator[OutputRow]:
    """Yield the outputs of a file that `check_file` found free of errors; raises FileChanged."""
    columns = Columns(mapping, opened.limits, csv=opened.row_format == "csv")
    shown_sources = columns.shown_sources()
    with opened.outputs(progress) as reader:
        for item in read_items(opened, reader, WarningTally()):
            if isinstance(item, RowError):
                raise FileChanged(f"row {item.row} cannot be read")
            if isinstance(item, Row):
                fields, errors = columns.read(item)
                if errors:
                    raise FileChanged(f"row {item.number} has an error")
                yield output_of(item, fields, clean(cast(str, fields.text)).text, shown_sources)


def output_of(row: Row, fields: Fields, shown: str, shown_sources: frozenset[str]) -> OutputRow:
    """Return the output that a row without an error is; `shown` is its cleaned text."""
    return OutputRow(
        row.number,
        cast(str, fields.output_id),
        cast(str, fields.task_id),
        fields.task_version,
        cast(str, fields.text),
        shown,
        cast(str, fields.condition),
        cast(str, fields.model),
        fields.theory,
        fields.gold_expected,
        fields.auto_cluster_id,
        row.raw,
        row.values,
        shown_sources,
    )
