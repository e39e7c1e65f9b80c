"""Whatever can be written can be read back unchanged."""

import csv
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation_app.batch_file.archive import OutputsReader
from annotation_app.batch_file.csv_rows import read_csv
from annotation_app.batch_file.faults import WarningTally
from annotation_app.batch_file.remainder import without_columns
from annotation_app.batch_file.rows import Header, Row, read_jsonl

LONGEST = 1_000_000
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
anything = st.text(st.characters())  # NUL and lone surrogates too
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.lists(st.dictionaries(texts, values, max_size=6), max_size=6)


def reader_of(content: bytes) -> OutputsReader:
    return OutputsReader(io.BytesIO(content), lambda _done: None)


@settings(max_examples=60, deadline=None)
@given(objects, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_rows_written_as_jsonl_are_read_back(rows, escaped, end, closed):
    lines = [json.dumps(values, ensure_ascii=escaped) for values in rows]
    tally = WarningTally()
    content = end.join(lines) + (end if closed else "")
    items = list(read_jsonl(reader_of(content.encode()), tally, LONGEST))
    expected = [
        Row(n, values, line.encode()) for n, (values, line) in enumerate(zip(rows, lines, strict=True), 1)
    ]
    assert items == expected


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(anything, anything, max_size=4))
def test_replacing_escapes_is_the_same_as_replacing_characters(row):
    def replaced(text: str) -> str:
        # A pair of escapes is one character in JSON, however it came to stand in the string.
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\0", "\ufffd")

    expected = {replaced(key): replaced(value) for key, value in row.items()}
    if len(expected) < len(row):
        return
    (item,) = read_jsonl(reader_of(json.dumps(row).encode()), WarningTally(), LONGEST)
    assert isinstance(item, Row)
    assert item.values == expected
    assert json.loads(item.raw) == expected


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(texts, values, max_size=6), st.sets(texts, max_size=2), st.data())
def test_what_is_left_is_everything_else(row, names, data):
    names |= set(data.draw(st.lists(st.sampled_from(sorted(row)), max_size=3))) if row else set()
    left = json.loads(without_columns(json.dumps(row).encode(), names))
    assert left == {name: value for name, value in row.items() if name not in names}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(texts, min_size=2, max_size=4, unique=True), st.sampled_from(["\n", "\r\n"]))
def test_cells_written_as_csv_are_read_back(data, header, end):
    cells = st.lists(texts, min_size=len(header), max_size=len(header))
    records = data.draw(st.lists(cells, max_size=5))
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([header, *records])
    content = out.getvalue().encode()
    items = list(read_csv(reader_of(content), WarningTally(), LONGEST))
    assert items[0] == Header(1, tuple(header))
    found = [(item.number, list(item.values.values())) for item in items if isinstance(item, Row)]
    assert found == list(enumerate(records, 2))
