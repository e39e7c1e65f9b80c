import gzip

import pytest

from annotation_app.batch_file import (
    Control,
    KnownStudy,
    Limits,
    MappingError,
    OutputRow,
    RowError,
    check_file,
)
from tests.annotation_app.batch_file.uploads import (
    HIDDEN,
    TOKEN,
    Uploads,
    clean,
    csv_bytes,
    csv_rows,
    jsonl,
    row,
    zipped,
)


def test_a_good_file_has_rows_labels_and_tasks(uploads):
    result = uploads.check(
        jsonl(row(1, theory="mild"), row(2, condition="south", task_id="fees"), row(3, task_version="2"))
    )
    assert (result.rows, result.errors, result.errors_total, result.warnings) == (3, [], 0, [])
    assert result.labels == {
        "condition": {"north", "south"},
        "model": {"Quillon-1"},
        "theory": {"mild"},
    }
    assert list(result.tasks) == [("hours", None), ("fees", None), ("hours", "2")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("content", [b"", b"\n \r\n"])
def test_a_file_without_rows_is_an_error(uploads, name, content):
    assert uploads.errors(content, name) == [(None, None, "no_rows")]


def test_a_csv_with_a_header_alone_has_no_rows(uploads):
    assert uploads.errors(csv_bytes(list(row())), "a.csv") == [(None, None, "no_rows")]


def test_a_file_of_unreadable_lines_has_their_errors_alone(uploads):
    assert uploads.errors(b"{\n[]\n") == [(1, None, "bad_json"), (2, None, "not_an_object")]


def test_a_csv_without_a_column_is_told_once_and_its_rows_are_still_checked(uploads):
    content = csv_rows(row(1, model=...), row(2, model=..., text=""))
    assert uploads.errors(content, "a.csv") == [(1, "model", "missing_field"), (3, "text", "empty_text")]


def test_a_csv_with_other_separators_is_told_of_its_header_alone(uploads):
    content = csv_rows(row(1, text="one, two")).replace(b",", b";").replace(b"one;", b"one,")
    assert [row for row, _, _ in uploads.errors(content, "a.csv")] == [1] * 5


def test_a_mapping_renames_columns(uploads):
    rows = [row(1, model=..., generator="Quillon-1"), row(2, model=..., generator="Ostrava-2")]
    for name, content in (("a.jsonl", jsonl(*rows)), ("a.csv", csv_rows(*rows))):
        result = uploads.check(content, name, {"generator": "model"})
        assert result.errors == []
        assert result.labels["model"] == {"Quillon-1", "Ostrava-2"}


def test_a_bad_mapping_is_refused_at_once(uploads):
    with pytest.raises(MappingError):
        uploads.check(jsonl(row()), mapping={"a": "no_such"})


def test_ids_used_twice_are_told_at_the_later_rows_with_the_first_one_named(uploads):
    result = uploads.check(jsonl(row(1), row(2), row(1), row(2, model=...), row(1)))
    assert [(e.row, e.column, e.code) for e in result.errors] == [
        (3, "output_id", "duplicate_output_id"),
        (4, "model", "missing_field"),
        (4, "output_id", "duplicate_output_id"),
        (5, "output_id", "duplicate_output_id"),
    ]
    assert "already used in row 1 of this file" in result.errors[0].message
    assert "already used in row 2 of this file" in result.errors[2].message


def test_ids_are_compared_code_point_by_code_point(uploads):
    ids = ["é", "e\u0301", "É", "é ", " é"]
    assert uploads.errors(jsonl(*(row(output_id=output_id) for output_id in ids))) == []


def test_ids_of_earlier_batches_are_asked_for_in_portions(uploads):
    asked = []

    def used_ids(ids):
        asked.append(ids)
        return {"lib-7", "lib-2400"} & set(ids)

    content = jsonl(*(row(number) for number in range(1, 2_501)), row(7))
    result = uploads.check(content, known=KnownStudy(used_ids=used_ids))
    assert [(e.row, e.code) for e in result.errors] == [
        (7, "duplicate_output_id"),
        (2400, "duplicate_output_id"),
        (2501, "duplicate_output_id"),
    ]
    assert "an earlier batch" in result.errors[0].message
    assert [len(ids) for ids in asked] == [1_000, 1_000, 500]


@pytest.mark.parametrize(
    "text", [HIDDEN, TOKEN, f" {TOKEN}{HIDDEN}\n", "\u200e\u200f", "\ufe0f", "\u3164", "\u00ad\u2028"]
)
def test_text_that_leaves_nothing_to_see_is_empty(uploads, text):
    assert uploads.errors(jsonl(row(1, text=text))) == [(1, "text", "empty_text")]


@pytest.mark.parametrize("text", ["\ufffd", "\U0001f600", "ا", "\u200f!", "\ue000", "."])
def test_text_with_anything_to_see_is_not_empty(uploads, text):
    assert uploads.errors(jsonl(row(1, text=text))) == []


def test_what_cleaning_takes_out_of_texts_and_statements_is_counted(uploads):
    content = jsonl(
        row(1, text=f"a{TOKEN}b{TOKEN}"),
        row(2, text="plain", task_statement=f"Say{HIDDEN} when.{HIDDEN}"),
        row(3, task_statement=f"Say{HIDDEN} when.{HIDDEN}", text=f"{HIDDEN}c"),
        row(4, condition=f"{HIDDEN}x", reference_material=f"{TOKEN}r"),
    )
    assert uploads.warnings(content) == {
        "control_token_removed": (2, [1]),
        "invisible_removed": (5, [2, 3]),
    }


def test_all_kinds_of_warnings_are_counted_with_their_rows(uploads):
    lines = [
        jsonl(row(1, text="a\0\0")),
        b"\n",
        jsonl(row(2, text="\ud800")),
        jsonl(row(3, text=f"b{HIDDEN}")),
    ]
    assert uploads.warnings(b"".join(lines)) == {
        "blank_line": (1, [2]),
        "invisible_removed": (1, [4]),
        "nul_replaced": (2, [1]),
        "surrogate_replaced": (1, [3]),
    }


def test_the_first_thousand_errors_are_listed_by_row_with_the_total(uploads):
    known = KnownStudy(used_ids=lambda ids: {"lib-3"})
    rows = [row(number, model=... if number > 50 else "m") for number in range(1, 6_001)]
    result = uploads.check(jsonl(*rows), known=known)
    assert result.errors_total == 5_951
    assert [error.row for error in result.errors] == [3, *range(51, 1_050)]


def test_how_many_errors_are_listed_is_a_limit(tmp_path):
    result = Uploads(tmp_path, Limits(errors_listed=2)).check(b"[]\n" * 9)
    assert (len(result.errors), result.errors_total) == (2, 9)


@pytest.mark.parametrize(
    ("name", "packing"),
    [
        ("a.jsonl", bytes),
        ("a.jsonl.gz", gzip.compress),
        ("a.zip", lambda rows: zipped({"outputs.jsonl": rows})),
    ],
)
def test_progress_rises_to_the_size_of_the_upload_whatever_its_rows(uploads, name, packing):
    opened = uploads.open(name, packing(b"[]\n" * 200_000 + jsonl(row(1))))
    seen: list[tuple[int, int]] = []
    check_file(opened, {}, clean=clean, progress=lambda *step: seen.append(step))
    assert len(seen) >= 3
    assert {total for _, total in seen} == {opened.size}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert 0 < seen[0][0] <= seen[-1][0] == opened.size


def test_tasks_of_a_zip_must_be_there_or_in_the_study(uploads):
    rows = jsonl(row(1), row(2, task_id="fees"), row(3, task_id="dogs", task_version="2"), row(4, task_id=7))
    content = zipped({"outputs.jsonl": rows, "tasks/x/hours/task.toml": b""})
    known = KnownStudy(task_ids={"fees"})
    assert uploads.errors(content, "a.zip", known=known) == [
        (3, "task_id", "unknown_task"),
        (4, "task_id", "wrong_type"),
    ]
    assert uploads.errors(zipped({"outputs.jsonl": jsonl(row(1))}), "a.zip") == []


def test_the_check_of_tasks_gets_the_files_and_its_findings_are_handed_on(uploads):
    def check_tasks(files):
        assert list(files) == ["tasks/hours/task.toml"]
        error = RowError(None, None, "metadata_invalid", "Wrong.", "tasks/hours/task.toml")
        return [error], files["tasks/hours/task.toml"]

    content = zipped({"outputs.jsonl": jsonl(row(1), row(1)), "tasks/hours/task.toml": b"x = 1"})
    result = uploads.check(content, "a.zip", check_tasks=check_tasks)
    assert [(e.row, e.code, e.path) for e in result.errors] == [
        (None, "metadata_invalid", "tasks/hours/task.toml"),
        (2, "duplicate_output_id", None),
    ]
    assert result.metadata == b"x = 1"


def test_a_file_without_tasks_is_not_given_to_the_check_of_tasks(uploads):
    result = uploads.check(jsonl(row(1)), check_tasks=lambda files: pytest.fail("no tasks here"))
    assert result.metadata is None


def test_no_message_holds_the_value_of_a_sealed_column(uploads):
    secret = "zebrafinch"
    sealed = dict.fromkeys(
        ("output_id", "condition", "model", "theory", "gold_expected", "auto_cluster_id", "prompt"), secret
    )
    rows = [
        row(1, **sealed, task_statement="One", cluster_label="a", positive_control=True, gold_classes=["x"]),
        row(2, **sealed, task_statement="Two", cluster_label="b", positive_control=False, gold_classes=["y"]),
        row(3, **{name: [secret] for name in sealed}),
        row(4, **{name: {secret: secret} for name in sealed}),
        row(5, **dict.fromkeys(sealed, secret * 60)),
        row(6, **sealed, task_id="fees", text="", positive_control=secret, gold_classes=secret),
    ]
    broken = [
        f'{{"model": "{secret}"',
        f'{{"model": "{secret}" "a"}}',
        f'{{"model": "{secret}", "model": "{secret}"}}',
        f'{{"prompt": {{"{secret}": 1, "{secret}": 2}}}}',
        f'"{secret}"',
        f'{{"model": "{secret}", "n": NaN}}',
        f"{secret}",
    ]
    badly_encoded = f'{{"model": "{secret}'.encode() + b'\xff"}'
    content = jsonl(*rows) + b"\n".join([*(line.encode() for line in broken), badly_encoded])
    result = uploads.check(content, known=KnownStudy(used_ids=set))
    assert {error.code for error in result.errors} == {
        "bad_encoding",
        "bad_json",
        "bad_number",
        "not_an_object",
        "empty_text",
        "wrong_type",
        "too_long",
        "duplicate_output_id",
        "conflicting_task_statement",
        "conflicting_cluster_label",
        "conflicting_control",
    }
    assert secret not in repr([error.message for error in result.errors])


def test_no_message_about_a_csv_holds_the_value_of_a_cell(uploads):
    secret = "zebrafinch"
    records = [[secret] * 6, [secret] * 5, [f'{secret}"'], [secret, "", *[secret * 60] * 3]]
    content = csv_bytes(list(row()), *records) + f'"{secret}"{secret},\n"{secret}'.encode()
    result = uploads.check(content, "a.csv")
    assert {error.code for error in result.errors} == {
        "bad_csv",
        "missing_field",
        "too_long",
        "duplicate_output_id",
    }
    assert secret not in repr([error.message for error in result.errors])


def test_the_longest_label_box_is_found_for_padding(uploads):
    content = jsonl(row(1, prompt="p" * 50), row(2, text="t" * 9_000), row(3, model="m" * 40))
    result = uploads.check(content, label_box_size=lambda output: len(output.rest()))
    assert result.longest_label_box == max(len(output.rest()) for output in uploads.outputs(content))
    assert 50 < result.longest_label_box < 500
    assert uploads.check(content).longest_label_box == 0


def test_no_labels_are_measured_once_a_file_has_an_error(uploads):
    content = jsonl(row(1), row(2, model=...), row(3))
    seen: list[int] = []

    def measure(output: OutputRow) -> int:
        seen.append(output.number)
        return 1

    uploads.check(content, label_box_size=measure)
    assert seen == [1]


def test_the_same_upload_can_be_checked_twice(uploads):
    opened = uploads.open("a.jsonl", jsonl(row(1), row(2)))
    known = KnownStudy(controls={("hours", None): Control(True, ("a",))})
    first = check_file(opened, {}, clean=clean, known=known)
    assert check_file(opened, {}, clean=clean, known=known) == first
