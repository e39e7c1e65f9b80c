"""What an outputs file holds, item by item, whichever format it has."""

from collections.abc import Iterator

from annotation_app.batch_file.archive import Opened, OutputsReader
from annotation_app.batch_file.csv_rows import read_csv
from annotation_app.batch_file.faults import RowError, WarningTally
from annotation_app.batch_file.rows import Header, Row, read_jsonl

Item = Header | Row | RowError


def read_items(opened: Opened, reader: OutputsReader, tally: WarningTally) -> Iterator[Item]:
    """Return an iterator over rows and row errors; a CSV file begins with its header."""
    if opened.row_format == "csv":
        return read_csv(reader, tally, opened.limits.line)
    return read_jsonl(reader, tally, opened.limits.line)
