import io

import orjson
import pytest

from annotation_app.batch_file.archive import OutputsReader
from annotation_app.batch_file.csv_rows import read_csv
from annotation_app.batch_file.faults import RowError, WarningTally
from annotation_app.batch_file.rows import Header

LONGEST = 1_000_000


def read(content: bytes, longest: int = LONGEST):
    tally = WarningTally()
    items = list(read_csv(OutputsReader(io.BytesIO(content), lambda _done: None), tally, longest))
    return items, {w.code: (w.count, w.rows) for w in tally.counts()}


def plain(content: bytes, longest: int = LONGEST):
    """Return (row, code) for an error, (number, cells) for anything else."""
    return [
        (item.row, item.code)
        if isinstance(item, RowError)
        else (item.number, list(item.names if isinstance(item, Header) else item.values.values()))
        for item in read(content, longest)[0]
    ]


def test_quotes_commas_and_line_ends_within_quotes_are_kept():
    content = b'a,b\n"say ""nine""","x,y"\n"one\ntwo\r\n\r\nfour",z\r\nlast,"un""quoted"'
    assert plain(content) == [
        (1, ["a", "b"]),
        (2, ['say "nine"', "x,y"]),
        (3, ["one\ntwo\r\n\r\nfour", "z"]),
        (4, ["last", 'un"quoted']),
    ]


def test_nothing_but_commas_separates_and_nothing_is_trimmed_or_converted():
    assert plain(b"a;b,c\n 1 ;2,=SUM(A1)\n007,\n")[1:] == [(2, [" 1 ;2", "=SUM(A1)"]), (3, ["007", ""])]


def test_a_byte_order_mark_before_a_quoted_header_is_passed_over():
    assert plain(b'\xef\xbb\xbf"a",b\r\n1,2\r\n') == [(1, ["a", "b"]), (2, ["1", "2"])]


def test_raw_is_an_object_of_header_and_cells():
    items, _ = read('a,"b ""c"""\nä,\n'.encode())
    assert orjson.loads(items[1].raw) == {"a": "ä", 'b "c"': ""} == items[1].values


def test_blank_records_are_counted_and_numbered():
    items, warnings = read(b'\na,b\n\r\n1,2\n  \t\n"3\n\n",4\n')
    assert [item.number for item in items] == [2, 4, 6]
    assert warnings == {"blank_line": (3, [1, 3, 5])}


def test_records_of_another_length_are_errors_by_record_not_by_line():
    content = b'a,b\n"1\n\n2",3\nfew\nmore,than,two\n5,6\n'
    assert plain(content)[2:] == [(3, "bad_csv"), (4, "bad_csv"), (5, ["5", "6"])]


@pytest.mark.parametrize("content", [b'"unclosed,1\n2,3\n', b'"unclosed', b'1,"unclosed\r\n'])
def test_an_unclosed_quote_is_one_error(content):
    assert plain(b"a,b\n0,0\n" + content)[2:] == [(3, "bad_csv")]


def test_text_behind_a_closing_quote_is_an_error_and_the_next_record_is_read():
    assert plain(b'a,b\n"1"2,3\n4,5\n')[1:] == [(2, "bad_csv"), (3, ["4", "5"])]


def test_carriage_returns_alone_end_no_record():
    assert plain(b"a,b\r1,2\r") == [(1, "bad_csv")]


@pytest.mark.parametrize("header", [b"a,b,a\n", b'"a",a\n', b"a,,\n"])
def test_a_header_that_names_a_column_twice_ends_the_reading(header):
    assert plain(header + b"1,2,3\n") == [(1, "bad_csv")]


def test_names_that_differ_by_case_or_space_are_two_columns():
    assert plain(b"a,A,a \n") == [(1, ["a", "A", "a "])]


def test_cells_may_be_longer_than_the_usual_bound():
    assert plain(b"a,b\n" + b"x" * 200_000 + b",1\n")[1] == (2, ["x" * 200_000, "1"])


def test_nul_is_replaced_and_counted():
    items, warnings = read(b"a,b\nx\0y\0,1\nz,2\n")
    assert items[1].values == {"a": "x\ufffdy\ufffd", "b": "1"}
    assert warnings == {"nul_replaced": (2, [2])}


def test_bad_encoding_names_record_and_byte():
    items, _ = read(b'a,b\n"x\ny\xff",1\n2,3\n')
    assert (items[1].row, items[1].code) == (2, "bad_encoding")
    assert items[1].message == "Row 2: byte 5 of the record is not valid UTF-8. Save the file as UTF-8."
    assert items[2].number == 3


def test_utf_16_is_never_guessed():
    assert plain("a,b\n1,2\n".encode("utf-16")) == [(1, "bad_encoding")]


@pytest.mark.parametrize(
    ("record", "code"), [(b"x" * 70_000, "too_long"), (b'"' + b"x\ny" * 30_000, "bad_csv")]
)
def test_an_endless_record_ends_the_reading(record, code):
    assert plain(b"a,b\n1,2\n" + record + b"\n3,4\n", longest=60_000)[2:] == [(3, code)]


def test_an_empty_file_has_no_header():
    assert plain(b"") == plain(b"\n")[:0] == []
