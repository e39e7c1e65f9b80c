"""Streams the records of a CSV file: RFC 4180 with commas, UTF-8, nothing guessed."""

import csv
import sys
from collections.abc import Iterator

import orjson

from annotation_app.batch_file.archive import OutputsReader
from annotation_app.batch_file.faults import RowError, WarningTally
from annotation_app.batch_file.rows import Header, Row, split_lines

# A cell ends at 131,072 characters by default, process-wide; here `longest` bounds the record instead.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))

BAD_CSV = {
    "unexpected end of data": "a quote is opened and never closed",
    "',' expected after '\"'": "something follows a closing quote; a quote inside a cell is written twice",
}
OTHERWISE_BAD = "a carriage return stands outside quotes; end records with LF or CRLF"


class _Overlong(Exception):
    pass


class _Lines:
    """Feeds lines to csv.reader, and knows of the present record what csv.reader does not tell."""

    def __init__(self, reader: OutputsReader, longest: int) -> None:
        self._lines = split_lines(reader, longest)
        self._longest = longest
        self.start_record()

    def start_record(self) -> None:
        self.size = self.nuls = 0
        self.bad_byte: int | None = None
        self.blank = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if line is None or self.size + len(line) > self._longest:
            raise _Overlong
        try:
            text = line.decode()
        except UnicodeDecodeError as fault:
            text = line.decode(errors="replace")
            if self.bad_byte is None:
                self.bad_byte = self.size + fault.start + 1
        self.blank = not self.size and (not text or text.isspace())
        self.size += len(line) + 1
        if "\0" in text:
            self.nuls += text.count("\0")
            text = text.replace("\0", "\ufffd")
        return text + "\n"


def read_csv(reader: OutputsReader, tally: WarningTally, longest: int) -> Iterator[Header | Row | RowError]:
    """Yield the Header, then a Row or a RowError (bad_csv, bad_encoding, too_long) per record.

    Records count from 1, the header and blank ones included; nothing follows a header that cannot be read.
    """
    header: Header | None = None
    for item in _records(reader, tally, longest):
        if isinstance(item, RowError):
            yield item
            if header is None:
                return
            continue
        number, cells = item
        if header is None:
            header = Header(number, tuple(cells))
            if len(set(cells)) < len(cells):
                yield _bad_csv(number, "the header names a column twice; rename one")
                return
            yield header
        elif len(cells) != len(header.names):
            yield _bad_csv(number, f"{len(cells)} cells where the header has {len(header.names)}")
        else:
            values = dict(zip(header.names, cells, strict=True))
            yield Row(number, values, orjson.dumps(values))  # type: ignore[arg-type]


def _records(
    reader: OutputsReader, tally: WarningTally, longest: int
) -> Iterator[tuple[int, list[str]] | RowError]:
    lines = _Lines(reader, longest)
    records = csv.reader(lines, strict=True)
    number = 0
    while True:
        number += 1
        lines.start_record()
        try:
            cells = next(records)
        except StopIteration:
            return
        except _Overlong:
            yield _overlong(number, longest, lines.size > 0)
            return
        except csv.Error as fault:
            yield _bad_csv(number, BAD_CSV.get(str(fault), OTHERWISE_BAD))
            continue
        if lines.blank:
            tally.add("blank_line", number)
        elif lines.bad_byte is not None:
            what = f"byte {lines.bad_byte} of the record is not valid UTF-8. Save the file as UTF-8."
            yield RowError(number, None, "bad_encoding", f"Row {number}: {what}")
        else:
            if lines.nuls:
                tally.add("nul_replaced", number, lines.nuls)
            yield number, cells


def _overlong(number: int, longest: int, has_lines: bool) -> RowError:
    if has_lines:
        return _bad_csv(number, f"a quote is opened and not closed within {longest:,} bytes")
    return RowError(number, None, "too_long", f"Row {number}: longer than {longest:,} bytes. Shorten it.")


def _bad_csv(number: int, what: str) -> RowError:
    return RowError(
        number, None, "bad_csv", f"Row {number}: {what}. Cells are separated by commas, one record a row."
    )
