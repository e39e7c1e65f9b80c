"""CSV that people open in a spreadsheet: text that would run as a formula is kept as text. Pure."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(value: object) -> object:
    """Return a text that no spreadsheet takes for a formula, with an apostrophe in front where needed; else the value."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return CSV (RFC 4180) with a header; a column that a row does not have is empty."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns)
    writer.writeheader()
    writer.writerows({column: harmless(value) for column, value in row.items()} for row in rows)
    return out.getvalue()
