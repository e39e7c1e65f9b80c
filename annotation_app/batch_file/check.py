"""The first pass over an upload: finds every error of every row, keeps no text and stores nothing."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation_app.batch_file.archive import Opened, OutputsReader, Progress
from annotation_app.batch_file.columns import Columns, Fields
from annotation_app.batch_file.columns_found import ColumnsFound, ColumnTally
from annotation_app.batch_file.faults import ErrorList, RowError, UploadRefused, WarningCount, WarningTally
from annotation_app.batch_file.items import read_items
from annotation_app.batch_file.outputs import OutputRow, output_of
from annotation_app.batch_file.rows import Header, Row
from annotation_app.batch_file.task_ledger import Clean, KnownStudy, TaskFound, TaskKey, TaskLedger

# Takes the files of task packages by path; returns errors (code metadata_invalid, with path) and whatever the
# caller wants of the tasks, which is handed through as CheckResult.metadata.
CheckTasks = Callable[[Mapping[str, bytes]], tuple[Iterable[RowError], Any]]
LabelBoxSize = Callable[[OutputRow], int]

IDS_AT_ONCE = 1_000
NONE_WRONG: frozenset[str] = frozenset()
INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
# What leaves nothing to see by itself: fillers, the blank braille cell, variation selectors.
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(n) for n in range(0xFE00, 0xFE10)
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a file holds; it may be imported only where `errors_total` is 0. `errors` are the first by row.

    `labels`, the distinct values of condition, model and theory, are sealed and must not leave the job.
    `longest_label_box` is the largest `label_box_size` of any row.
    """

    rows: int
    errors: list[RowError]
    errors_total: int
    warnings: list[WarningCount]
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    tasks: dict[TaskKey, TaskFound] = field(default_factory=dict)
    metadata: Any = None
    longest_label_box: int = 0
    columns: ColumnsFound = field(default_factory=ColumnsFound)


def check_file(
    opened: Opened,
    mapping: Mapping[str, str],
    *,
    clean: Clean,
    known: KnownStudy | None = None,
    check_tasks: CheckTasks | None = None,
    label_box_size: LabelBoxSize | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Return the errors, warnings, labels and tasks of an upload; raises MappingError for a bad mapping.

    `label_box_size` says how long the labels of an output are before padding; it gets no `shown` text.
    `progress` is called with how far the file is read and `opened.size`, after each piece.
    """
    check = _Check(opened, mapping, clean, known or KnownStudy(), label_box_size)
    metadata = None
    try:
        if check_tasks is not None and opened.task_ids is not None:
            with opened.task_files() as files:
                errors, metadata = check_tasks(files)
            for error in errors:
                check.errors.add(error)
        with opened.outputs(progress) as reader:
            check.take_all(reader)
    except UploadRefused as refusal:
        return CheckResult(0, [refusal.as_error()], 1, check.tally.counts(), columns=check.names.found())
    return check.result(metadata)


def is_blank(text: str) -> bool:
    """Tell whether a cleaned text has nothing to see in it."""
    if "!" <= text[:1] <= "~":
        return False
    return all(unicodedata.category(c) in INVISIBLE or c in FILLERS for c in text)


class _Check:
    def __init__(
        self,
        opened: Opened,
        mapping: Mapping[str, str],
        clean: Clean,
        known: KnownStudy,
        label_box_size: LabelBoxSize | None,
    ) -> None:
        self._opened = opened
        self._clean = clean
        self._known = known
        self._label_box_size = label_box_size
        self._longest_label_box = 0
        self._columns = Columns(mapping, opened.limits, csv=opened.row_format == "csv")
        self._shown_sources = self._columns.shown_sources()
        self.names = ColumnTally(self._columns)
        self.errors = ErrorList(opened.limits.errors_listed)
        self.tally = WarningTally()
        self._ledger = TaskLedger(known, clean, self.tally, opened.task_ids)
        self._rows = 0
        self._row_of_id: dict[bytes, int] = {}
        self._unasked: list[tuple[str, int]] = []
        self._conditions: set[str] = set()
        self._models: set[str] = set()
        self._theories: set[str] = set()

    def take_all(self, reader: OutputsReader) -> None:
        for item in read_items(self._opened, reader, self.tally):
            if isinstance(item, Row):
                self._take(item)
            elif isinstance(item, RowError):
                self.errors.add(item)
            elif not self._is_header_usable(item):
                return
        self._ask_for_used_ids()
        for error in self._ledger.close():
            self.errors.add(error)

    def _is_header_usable(self, header: Header) -> bool:
        self.names.take(header.names)
        usable, errors = self._columns.check_header(header)
        for error in errors:
            self.errors.add(error)
        return usable

    def _take(self, row: Row) -> None:
        self._rows += 1
        self.names.take(row.values)
        fields, errors = self._columns.read(row)
        wrong = frozenset(error.column for error in errors if error.column) if errors else NONE_WRONG
        if fields.text is not None:
            errors += self._take_text(row.number, fields.text)
        if fields.output_id is not None:
            errors += self._take_id(row.number, fields.output_id)
        if fields.task_id is not None:
            errors += self._ledger.take(row.number, fields, wrong)
        self._take_labels(fields)
        for error in errors:
            self.errors.add(error)
        if self._label_box_size is not None and not self.errors.total:
            size = self._label_box_size(output_of(row, fields, "", self._shown_sources))
            self._longest_label_box = max(self._longest_label_box, size)

    def _take_text(self, row: int, text: str) -> list[RowError]:
        cleaned = self._clean(text)
        if cleaned.invisible_removed:
            self.tally.add("invisible_removed", row, cleaned.invisible_removed)
        if cleaned.control_tokens_removed:
            self.tally.add("control_token_removed", row, cleaned.control_tokens_removed)
        if not is_blank(cleaned.text):
            return []
        what = "nothing is left to see without invisible characters and control tokens. Leave the row out."
        return [RowError(row, "text", "empty_text", f"Row {row}: text is blank: {what}")]

    def _take_id(self, row: int, output_id: str) -> list[RowError]:
        digest = hashlib.blake2b(output_id.encode(), digest_size=16).digest()
        first = self._row_of_id.setdefault(digest, row)
        if first != row:
            return [_duplicate(row, f"row {first} of this file")]
        self._unasked.append((output_id, row))
        if len(self._unasked) >= IDS_AT_ONCE:
            self._ask_for_used_ids()
        return []

    def _ask_for_used_ids(self) -> None:
        if not self._unasked:
            return
        used = self._known.used_ids([output_id for output_id, _ in self._unasked])
        for output_id, row in self._unasked:
            if output_id in used:
                self.errors.add(_duplicate(row, "an earlier batch of the study"))
        self._unasked.clear()

    def _take_labels(self, fields: Fields) -> None:
        if fields.condition is not None:
            self._conditions.add(fields.condition)
        if fields.model is not None:
            self._models.add(fields.model)
        if fields.theory is not None:
            self._theories.add(fields.theory)

    def result(self, metadata: Any) -> CheckResult:
        if not self._rows and not self.errors.total and not self._opened.has_tasks_only:
            self.errors.add(
                RowError(None, None, "no_rows", "The file holds no output. Send one row per output.")
            )
        return CheckResult(
            rows=self._rows,
            errors=self.errors.first(),
            errors_total=self.errors.total,
            warnings=self.tally.counts(),
            labels={
                "condition": frozenset(self._conditions),
                "model": frozenset(self._models),
                "theory": frozenset(self._theories),
            },
            tasks=self._ledger.tasks(),
            metadata=metadata,
            longest_label_box=self._longest_label_box,
            columns=self.names.found(),
        )


def _duplicate(row: int, earlier: str) -> RowError:
    what = f"this output_id is already used in {earlier}. Every output needs an id of its own in the study."
    return RowError(row, "output_id", "duplicate_output_id", f"Row {row}: {what}")
