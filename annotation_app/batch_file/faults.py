"""What can be wrong with an upload and how it is told: with row, column, code and message, never with the
value of a sealed column."""

from dataclasses import dataclass
from typing import NamedTuple

ROWS_LISTED = 1_000


class RowError(NamedTuple):
    """One error. `row` is None where the whole file is meant, `path` names a file inside an archive."""

    row: int | None
    column: str | None
    code: str
    message: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class WarningCount:
    """How often something was put right, and in which rows (the first 1,000)."""

    code: str
    count: int
    rows: list[int]


class UploadRefused(Exception):
    """The file as a whole cannot be taken: unknown_format, bad_archive, unsafe_path or archive_too_large."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def as_error(self) -> RowError:
        return RowError(None, None, self.code, self.message)


class ErrorList:
    """Counts all errors and keeps the `listed` first ones by row, whatever order they are found in."""

    def __init__(self, listed: int) -> None:
        self._listed = listed
        self._kept: list[RowError] = []
        self.total = 0

    def add(self, error: RowError) -> None:
        self.total += 1
        self._kept.append(error)
        if len(self._kept) >= 4 * self._listed + 4:
            self._kept = self.first()

    def first(self) -> list[RowError]:
        """Return the first errors by row; those of the whole file lead."""
        return sorted(self._kept, key=lambda error: error.row or 0)[: self._listed]


class WarningTally:
    """Counts warnings by code."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._rows: dict[str, list[int]] = {}

    def add(self, code: str, row: int, count: int = 1) -> None:
        """Count `count` occurrences in `row`; none are no warning."""
        if not count:
            return
        self._counts[code] = self._counts.get(code, 0) + count
        rows = self._rows.setdefault(code, [])
        if len(rows) < ROWS_LISTED and (not rows or rows[-1] != row):
            rows.append(row)

    def counts(self) -> list[WarningCount]:
        return [WarningCount(code, self._counts[code], self._rows[code]) for code in sorted(self._counts)]
