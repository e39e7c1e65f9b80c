import io
import json

import pytest

from annotation_app.batch_file.archive import OutputsReader
from annotation_app.batch_file.faults import RowError, WarningTally
from annotation_app.batch_file.rows import CHUNK, Row, read_jsonl, split_lines

LONGEST = 1_000_000


def reader_of(content: bytes) -> OutputsReader:
    return OutputsReader(io.BytesIO(content), lambda _done: None)


def read(content: bytes, longest: int = LONGEST):
    tally = WarningTally()
    items = list(read_jsonl(reader_of(content), tally, longest))
    return items, {w.code: (w.count, w.rows) for w in tally.counts()}


def faults(content: bytes, longest: int = LONGEST):
    return [(i.row, i.code) if isinstance(i, RowError) else i.number for i in read(content, longest)[0]]


def test_lines_end_at_lf_or_crlf_and_nowhere_else():
    line = '{"a": "one\u2028two\u2029three\x85four"}'.encode()
    items, warnings = read(line + b"\r\n" + b'{"a": "five\\u000b\\f\\u001c"}' + b"\n" + b"{}")
    assert items == [
        Row(1, {"a": "one\u2028two\u2029three\x85four"}, line),
        Row(2, {"a": "five\x0b\x0c\x1c"}, b'{"a": "five\\u000b\\f\\u001c"}'),
        Row(3, {}, b"{}"),
    ]
    assert warnings == {}


def test_a_lone_carriage_return_ends_no_line():
    assert faults(b"{}\r{}\r") == [(1, "bad_json")]
    assert read(b"{}\r")[0] == [Row(1, {}, b"{}")]


def test_a_byte_order_mark_is_passed_over_at_the_start_only():
    assert faults(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n") == [1, (2, "bad_json")]


def test_blank_lines_are_counted_and_numbered_but_a_final_line_end_makes_none():
    items, warnings = read(b'\n{"a": 1}\r\n \t\r\n\xe3\x80\x80\n{"a": 2}\n')
    assert [item.number for item in items] == [2, 5]
    assert warnings == {"blank_line": (3, [1, 3, 4])}


def test_an_empty_file_has_no_line():
    assert read(b"") == ([], {})
    assert read(b"\xef\xbb\xbf") == ([], {})


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"a": "\xff"}', "bad_encoding"),
        (b'{"a": "\xed\xa0\xbd"}', "bad_encoding"),  # half a surrogate pair in UTF-8
        (b'\xff\xfe{\0"\0', "bad_encoding"),
        (b'{"a": 1,}', "bad_json"),
        (b"{'a': 1}", "bad_json"),
        (b'{"a": 1} {}', "bad_json"),
        (b'{"a": 1', "bad_json"),
        (b'{"a": "\0"}', "bad_json"),
        (b'{"a": "\t"}', "bad_json"),
        (b'{"a": 01}', "bad_json"),
        (b'{"a": "\\x"}', "bad_json"),
        (b'{"a": 1, "a": 2}', "bad_json"),
        (b'{"a": {"b": 1, "\\u0062": 1}}', "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b"nonsense", "bad_json"),
        (b'{"a": NaN}', "bad_number"),
        (b'{"a": [1, Infinity]}', "bad_number"),
        (b'{"a": -Infinity}', "bad_number"),
        (b'{"a": 1e999}', "bad_number"),
        (b'{"a": -1e999}', "bad_number"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "bad_number"),
        (b"[{}]", "not_an_object"),
        (b'"{}"', "not_an_object"),
        (b"null", "not_an_object"),
        (b"1", "not_an_object"),
    ],
)
def test_a_line_that_is_no_object_is_one_error_and_the_next_is_read(line, code):
    assert faults(line + b'\n{"b": 1}\n') == [(1, code), 2]


def test_messages_say_where():
    (bad_byte, bad_character), _ = read(b'{"a": "\xff"}\n{"a" 1}\n')
    assert bad_byte.message == "Row 1: byte 8 is not valid UTF-8. Save the file as UTF-8."
    assert bad_character.message.startswith("Row 2: not valid JSON at character 6: Expecting ':' delimiter.")


def test_numbers_are_kept_whole():
    line = b'{"n": 9007199254740993, "x": 0.125, "y": 1e-999}'
    assert read(line)[0] == [Row(1, {"n": 9_007_199_254_740_993, "x": 0.125, "y": 0.0}, line)]


def test_nul_and_lone_surrogates_are_replaced_in_values_keys_and_the_raw_line():
    lines = [
        rb'{"a": "x\u0000y\u0000"}',
        rb'{"a": "\ud83d", "b": ["\uDE00", {"k\u0000": 1}]}',
        rb'{"a": "\ude00\ud83d"}',
        rb'{"a": "\ud83d\ud83d\ude00"}',
    ]
    items, warnings = read(b"\n".join(lines))
    assert [item.values for item in items] == [
        {"a": "x\ufffdy\ufffd"},
        {"a": "\ufffd", "b": ["\ufffd", {"k\ufffd": 1}]},
        {"a": "\ufffd\ufffd"},
        {"a": "\ufffd\U0001f600"},
    ]
    assert items[3].raw == rb'{"a": "\ufffd\ud83d\ude00"}'
    assert warnings == {"nul_replaced": (3, [1, 2]), "surrogate_replaced": (5, [2, 3, 4])}


def test_whole_pairs_and_escaped_backslashes_are_left_alone():
    lines = [rb'{"a": "\ud83d\ude00 \uD83D\uDE00"}', rb'{"a": "\\u0000 \\ud83d"}', rb'{"a": "\\\\u0000"}']
    items, warnings = read(b"\n".join(lines))
    assert [item.values["a"] for item in items] == [
        "\U0001f600 \U0001f600",
        "\\u0000 \\ud83d",
        "\\\\u0000",
    ]
    assert [item.raw for item in items] == lines
    assert warnings == {}


def test_an_escape_behind_an_escaped_backslash_is_replaced():
    items, warnings = read(rb'{"a": "\\\u0000"}')
    assert items[0].values == {"a": "\\\ufffd"}
    assert warnings == {"nul_replaced": (1, [1])}


def test_a_line_that_cannot_be_read_gives_no_warning():
    assert read(rb'{"a": "\u0000",}')[1] == {}


def test_an_overlong_line_is_passed_over_without_being_held():
    content = b'{"a": 1}\n' + b'{"a": "' + b"x" * (3 * CHUNK) + b'"}\n' + b'{"a": 2}\n' + b"y" * (2 * CHUNK)
    assert faults(content, longest=CHUNK // 2) == [1, (2, "too_long"), 3, (4, "too_long")]


@pytest.mark.parametrize("longest", [4, 5, 6, 7, 50, CHUNK - 1, CHUNK, CHUNK + 1])
@pytest.mark.parametrize("before", [0, 1, 3, 4, 5, 9, CHUNK - 7, CHUNK - 6, CHUNK - 5, CHUNK - 1])
def test_where_chunks_end_changes_nothing(before, longest):
    lines = [b"x" * before, b"y" * 5, b"", b"z" * 6, b"12", b"last"]
    found = list(split_lines(reader_of(b"\n".join(lines)), longest))
    assert found == [line if len(line) <= longest else None for line in lines]


def test_raw_is_what_the_values_are_read_from():
    line = b'  {"b":1 ,"a" : "\xc3\xa9"} '
    (item,), _ = read(line + b"\r\n")
    assert item.raw == line
    assert json.loads(item.raw) == item.values
