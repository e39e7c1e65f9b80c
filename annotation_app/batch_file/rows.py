"""Streams the rows of a JSONL file with flat memory. JSON is read with the standard library, which reports
duplicate keys, keeps integers whole and accepts nothing beyond JSON but what is refused here by name."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from annotation_app.batch_file.archive import OutputsReader
from annotation_app.batch_file.faults import RowError, WarningTally

CHUNK = 256 * 1024
BOM = b"\xef\xbb\xbf"
JSON_SPACE = " \t\r\n"
FOREVER = (float("inf"), float("-inf"))

# Something that looks like an escaped NUL or a surrogate is in the line; ESCAPE tells which it is.
SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# Escaped backslashes and whole pairs match so that they are left alone; group 1: NUL, 2: a lone surrogate.
ESCAPE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u0000)|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class Row(NamedTuple):
    """One row: `number` as the uploader counts, `values` by the file's column names, `raw` as JSON in UTF-8.

    NUL and lone surrogates are U+FFFD in both.
    """

    number: int
    values: dict[str, object]
    raw: bytes


class Respelt(float):
    """A number that would be written with other digits than it was read from."""


class Header(NamedTuple):
    """The header of a CSV file: the first record that is not blank."""

    number: int
    names: tuple[str, ...]


class Unreadable(Exception):
    """A line is no JSON object; carries the code and what to say after the row's number."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(code)
        self.code = code
        self.what = what

    def at(self, row: int) -> RowError:
        return RowError(row, None, self.code, f"Row {row}: {self.what}")


def split_lines(reader: OutputsReader, longest: int) -> Iterator[bytes | None]:
    """Yield lines without their LF and without a leading BOM; None for a line above `longest` bytes.

    A line ends at LF and nowhere else; a final LF opens no further line.
    """
    rest, skipping = b"", False
    size = min(CHUNK, longest)  # so that only the first line that ends in a chunk can be overlong
    chunk = reader.read(size).removeprefix(BOM)
    while chunk:
        *whole, rest = (rest + chunk).split(b"\n")
        if skipping and whole:
            whole, skipping = whole[1:], False
        elif whole and len(whole[0]) > longest:
            yield None
            whole = whole[1:]
        yield from whole
        if len(rest) > longest:
            if not skipping:
                yield None
            skipping = True
        if skipping:
            rest = b""
        chunk = reader.read(size)
    if rest:
        yield rest


def read_jsonl(reader: OutputsReader, tally: WarningTally, longest: int) -> Iterator[Row | RowError]:
    """Yield a Row or a RowError (bad_encoding, bad_json, bad_number, not_an_object, too_long) per line.

    Lines count from 1 and end at LF or CRLF; blank lines are counted and tallied, not yielded.
    """
    for number, line in enumerate(split_lines(reader, longest), 1):
        if line is None:
            what = f"longer than {longest:,} bytes. Shorten it or leave columns out."
            yield RowError(number, None, "too_long", f"Row {number}: {what}")
            continue
        if line[-1:] == b"\r":
            line = line[:-1]
        if not line or line.isspace():
            tally.add("blank_line", number)
            continue
        nuls = surrogates = 0
        if b"\\u" in line and SUSPECT.search(line):
            line, nuls, surrogates = replace_escapes(line)
        try:
            values = parse_object(line)
        except Unreadable as fault:
            if is_blank(line):
                tally.add("blank_line", number)
            else:
                yield fault.at(number)
            continue
        if nuls or surrogates:
            tally.add("nul_replaced", number, nuls)
            tally.add("surrogate_replaced", number, surrogates)
        yield Row(number, values, line)


def is_blank(line: bytes) -> bool:
    """Tell whether a line is white space only, of whatever script."""
    return line.decode(errors="replace").isspace()


def replace_escapes(line: bytes) -> tuple[bytes, int, int]:
    r"""Return a line of JSON with \u0000 and lone surrogates as \ufffd, and how many of each there were."""
    nuls = surrogates = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal nuls, surrogates
        if match[1]:
            nuls += 1
        elif match[2]:
            surrogates += 1
        else:
            return match[0]
        return rb"\ufffd"

    return ESCAPE.sub(replace, line), nuls, surrogates


def parse_object(line: bytes) -> dict[str, object]:
    """Return the JSON object that a line of UTF-8 is; raises Unreadable."""
    try:
        text = line.decode().strip(JSON_SPACE)
        value, end = _DECODER.raw_decode(text)
    except UnicodeDecodeError as fault:
        what = f"byte {fault.start + 1} is not valid UTF-8. Save the file as UTF-8."
        raise Unreadable("bad_encoding", what) from None
    except json.JSONDecodeError as fault:
        reason = fault.msg.removesuffix(" at")
        what = f"not valid JSON at character {fault.pos + 1}: {reason}. Write one JSON object a line."
        raise Unreadable("bad_json", what) from None
    except RecursionError:
        raise Unreadable("bad_json", "nested too deeply to be read.") from None
    except ValueError:  # Python converts no integer of more than 4,300 digits
        raise Unreadable("bad_number", "holds a number too long to be read. Quote it as a string.") from None
    if end != len(text):
        what = f"more follows at character {end + 1}, after a JSON value. Write one JSON object a line."
        raise Unreadable("bad_json", what)
    if type(value) is not dict:
        raise Unreadable("not_an_object", "not a JSON object. Write one object, {…}, a line.")
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise Unreadable("bad_json", "an object names the same key twice. Keep one of them.")
    return values


def _no_constant(_token: str) -> NoReturn:
    raise Unreadable(
        "bad_number", "holds NaN or Infinity, which JSON does not have. Use null or leave it out."
    )


def _finite(token: str) -> float:
    value = float(token)
    if value in FOREVER:
        raise Unreadable("bad_number", "holds a number too large to be kept. Quote it as a string.")
    return value if repr(value) == token else Respelt(value)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_no_constant, parse_float=_finite
)
