"""What becomes of each column of a file, told by names alone."""

from annotation_app.batch_file import ColumnsFound
from tests.annotation_app.batch_file.uploads import csv_bytes, csv_rows, jsonl, row


def test_columns_are_grouped_by_what_becomes_of_them(uploads):
    full = row(
        theory="mild",
        gold_expected=["open"],
        task_version="2",
        task_statement="When?",
        reference_material="A sign.",
        auto_cluster_id="k1",
        cluster_label="Early",
        positive_control=True,
        gold_classes=["open", "shut"],
        prompt="You are a librarian.",
        batch_note="kept cold",
    )
    assert uploads.check(jsonl(full)).columns == ColumnsFound(
        shown=["text", "task_statement", "reference_material", "cluster_label", "gold_classes"],
        coded=["task_id", "auto_cluster_id"],
        kept=["task_version", "positive_control"],
        sealed=["output_id", "condition", "model", "theory", "gold_expected", "batch_note", "prompt"],
        more=False,
    )


def test_columns_that_only_some_rows_have_are_found(uploads):
    found = uploads.check(jsonl(row(1), row(2, seed=7), row(3, prompt=None))).columns
    assert found.sealed == ["output_id", "condition", "model", "prompt", "seed"]


def test_a_renamed_column_goes_by_the_name_that_the_file_gives_it(uploads):
    rows = jsonl(row(model=..., generator="Quillon-1"))
    found = uploads.check(rows, mapping={"generator": "model"}).columns
    assert found.sealed == ["output_id", "condition", "generator"]


def test_a_column_whose_name_was_given_to_another_is_sealed_as_any_other(uploads):
    found = uploads.check(jsonl(row(body="It is shut.")), mapping={"body": "text"}).columns
    assert (found.shown, found.sealed) == (["body"], ["output_id", "condition", "model", "text"])


def test_a_header_tells_its_columns_even_where_the_file_is_refused(uploads):
    assert uploads.check(csv_bytes(["output_id", "tekst"]), "a.csv").columns == ColumnsFound(
        sealed=["output_id", "tekst"]
    )
    assert uploads.check(csv_rows(row(1, prompt="x")), "a.csv").columns.shown == ["text"]


def test_names_are_bounded_in_number_and_length(uploads):
    many = [row(n, **{f"key {n:03}": 1, "x" * 500: 1}) for n in range(150)]
    found = uploads.check(jsonl(*many)).columns
    assert len(found.sealed) == 3 + 100
    assert found.more
    assert found.sealed[3:5] == ["key 000", "key 001"]
    assert found.sealed[-1] == "x" * 79 + "…"
    late = uploads.check(jsonl(*many, row("last", theory="mild"))).columns
    assert late.sealed[:4] == ["output_id", "condition", "model", "theory"]


def test_no_value_is_among_the_names(uploads):
    told = str(
        uploads.check(jsonl(row(prompt="sentinel-of-a-value", condition="sentinel-of-an-arm"))).columns
    )
    assert "prompt" in told
    assert "sentinel" not in told
