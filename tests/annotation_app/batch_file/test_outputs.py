import json
import zipfile

import pytest

from annotation_app.batch_file import FileChanged, read_outputs
from tests.annotation_app.batch_file.uploads import HIDDEN, clean, csv_rows, jsonl, row, zipped


def test_outputs_carry_text_as_given_and_as_shown_and_every_label(uploads):
    given = row(
        3,
        text=f" caf{HIDDEN}e\u0301\0 ",
        theory=" t ",
        task_version="1.0",
        gold_expected=["a", "b"],
        auto_cluster_id="k1",
        prompt={"n": 1},
    )
    (output,) = uploads.outputs(b"\n" + jsonl(given))
    assert output.number == 2
    assert (output.text, output.shown) == (f" caf{HIDDEN}e\u0301\ufffd ", " caf\u00e9\ufffd ")
    assert (output.output_id, output.task_id, output.task_version) == ("lib-3", "hours", "1.0")
    assert (output.condition, output.model, output.theory) == ("north", "Quillon-1", " t ")
    assert (output.gold_expected, output.auto_cluster_id) == (("a", "b"), "k1")
    assert json.loads(output.raw) == {**given, "text": output.text}


def test_the_raw_line_is_sealed_byte_by_byte(uploads):
    line = jsonl(row(1, cost=9_007_199_254_740_993)).replace(b'"cost"', b'  "cost"').replace(b"9900", b"9900")
    assert uploads.outputs(line.replace(b"\n", b"\r\n"))[0].raw + b"\n" == line


def test_the_rest_is_without_the_long_shown_columns_and_otherwise_unchanged(uploads):
    line = jsonl(
        row(1, answer="long", text=..., task_statement="s", reference_material="r", prompt={"text": "p"})
    )
    (output,) = uploads.outputs(line, mapping={"answer": "text"})
    assert output.text == "long"
    expected = row(1, text=..., prompt={"text": "p"})
    assert json.loads(output.rest()) == expected


@pytest.mark.parametrize(
    "number",
    ["9007199254740993", "123456789012345678901234567890", "0.12345678901234567890", "1.10", "1E2", "-0.0"],
)
def test_the_rest_keeps_the_digits_of_numbers(uploads, number):
    line = jsonl(row(1, cost=["HERE"])).replace(b'"HERE"', number.encode())
    (output,) = uploads.outputs(line)
    assert f"[{number}]".encode() in output.rest()
    assert b"It opens" not in output.rest()


def test_outputs_of_a_csv(uploads):
    content = csv_rows(row(1, gold_expected="a|b", notes="n"), row(2, gold_expected="", notes=""))
    first, second = uploads.outputs(content, "a.csv")
    assert (first.number, first.gold_expected, first.theory) == (2, ("a", "b"), None)
    assert (second.number, second.gold_expected) == (3, None)
    assert json.loads(first.raw) == row(1, gold_expected="a|b", notes="n")
    assert json.loads(second.rest()) == row(2, gold_expected="", notes="", text=...)


def test_an_opened_upload_is_checked_and_then_read(uploads):
    opened = uploads.open("a.zip", zipped({"outputs.jsonl": jsonl(row(1), row(2))}, zipfile.ZIP_STORED))
    for _ in range(2):
        assert [output.output_id for output in read_outputs(opened, {}, clean)] == ["lib-1", "lib-2"]


def test_progress_reaches_the_end(uploads):
    opened = uploads.open("a.jsonl", jsonl(*(row(number) for number in range(1, 1_002))))
    seen: list[tuple[int, int]] = []
    assert len(list(read_outputs(opened, {}, clean, progress=lambda *step: seen.append(step)))) == 1_001
    assert seen[-1] == (opened.size, opened.size)


@pytest.mark.parametrize("line", [b"[]\n", jsonl(row(2, model=...))])
def test_a_file_that_is_not_the_one_that_was_checked_stops_the_import(uploads, line):
    with pytest.raises(FileChanged, match="row 2"):
        uploads.outputs(jsonl(row(1)) + line)
