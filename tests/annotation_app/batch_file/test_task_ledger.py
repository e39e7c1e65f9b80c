import pytest

from annotation_app.batch_file import Control, KnownStudy, TaskKey
from tests.annotation_app.batch_file.uploads import HIDDEN, TOKEN, csv_rows, jsonl, row

KEY: TaskKey = ("hours", None)
SHOWN = [
    ("task_statement", "conflicting_task_statement"),
    ("reference_material", "conflicting_reference_material"),
]


@pytest.mark.parametrize(("column", "code"), SHOWN)
def test_a_task_has_one_text_and_later_rows_are_told_of_the_first(uploads, column, code):
    result = uploads.check(
        jsonl(
            row(1),
            row(2, **{column: "Say when it opens."}),
            row(3, **{column: "Say when it closes."}),
            row(4, **{column: "Say when it opens."}),
            row(5, **{column: None}),
            row(6, **{column: "Say when it closes."}),
            row(7, **{column: "Say when it closes."}, task_version="2"),
            row(8, **{column: "Say how much."}, task_id="fees"),
        )
    )
    assert [(e.row, e.column, e.code) for e in result.errors] == [(3, column, code), (6, column, code)]
    assert all("its task has in row 2" in error.message for error in result.errors)


@pytest.mark.parametrize(("column", "code"), SHOWN)
def test_texts_are_compared_after_cleaning_and_without_outer_white_space(uploads, column, code):
    texts = ["Décris.", "De\u0301cris.", "\n Décris. \n", f"Dé{HIDDEN}cris.{TOKEN}"]
    result = uploads.check(jsonl(*(row(n, **{column: text}) for n, text in enumerate(texts))))
    assert result.errors == []
    found = result.tasks[KEY]
    assert (found.statement or found.reference_material) == "Décris."


@pytest.mark.parametrize(("column", "code"), SHOWN)
def test_a_text_of_an_earlier_batch_holds(uploads, column, code):
    texts: dict[TaskKey, str] = {KEY: "Say when."}
    known = KnownStudy(statements=texts, reference_materials=texts)
    result = uploads.check(
        jsonl(row(1, **{column: "Say when.\n"}), row(2, **{column: "Say why."}), row(3)), known=known
    )
    assert [(e.row, e.column, e.code) for e in result.errors] == [(2, column, code)]
    assert "its task has in an earlier batch" in result.errors[0].message


def test_a_statement_that_is_invisible_is_none(uploads):
    result = uploads.check(jsonl(row(1, task_statement=HIDDEN), row(2, task_statement="Say when.")))
    assert result.errors == []
    assert result.tasks[KEY].statement == "Say when."


def test_being_a_control_belongs_to_the_task(uploads):
    content = jsonl(
        row(1),
        row(2, positive_control=True, gold_classes=["a", "b"]),
        row(3, positive_control=False),
        row(4, gold_classes=["b", "a"]),
        row(5, gold_classes=["a"]),
        row(6, positive_control=True),
        row(7, positive_control=False, task_id="fees"),
    )
    result = uploads.check(content)
    assert [(e.row, e.column, e.code) for e in result.errors] == [
        (3, "positive_control", "conflicting_control"),
        (5, "gold_classes", "conflicting_control"),
    ]
    assert "in row 2" in result.errors[0].message
    hours, fees = result.tasks.values()
    assert (hours.positive_control, hours.classes, hours.outputs) == (True, ("a", "b"), 6)
    assert (fees.positive_control, fees.classes, fees.outputs) == (False, (), 1)


def test_a_control_needs_classes_from_any_row_of_its_task(uploads):
    content = jsonl(
        row(1, positive_control=True),
        row(2, positive_control=True, gold_classes=["a"]),
        row(3, positive_control=True, gold_classes=[], task_id="fees"),
        row(4, positive_control=True, task_id="fees"),
        row(5, positive_control=True, gold_classes="a", task_id="dogs"),
    )
    assert uploads.errors(content) == [
        (3, "gold_classes", "missing_field"),
        (4, "gold_classes", "missing_field"),
        (5, "gold_classes", "wrong_type"),
    ]


def test_a_control_of_an_earlier_batch_holds(uploads):
    known = KnownStudy(controls={KEY: Control(True, ("a", "b")), ("fees", None): Control(False)})
    content = jsonl(
        row(1, positive_control=True),
        row(2, gold_classes=["a", "c"]),
        row(3, positive_control=True, gold_classes=["a"], task_id="fees"),
    )
    result = uploads.check(content, known=known)
    assert [(e.row, e.column, e.code) for e in result.errors] == [
        (2, "gold_classes", "conflicting_control"),
        (3, "positive_control", "conflicting_control"),
    ]
    assert all("in an earlier batch" in error.message for error in result.errors)


def test_controls_in_csv(uploads):
    content = csv_rows(
        row(1, positive_control="TRUE", gold_classes="a|b"),
        row(2, positive_control="", gold_classes="b|a"),
        row(3, positive_control="0", gold_classes=""),
    )
    assert uploads.errors(content, "a.csv") == [(4, "positive_control", "conflicting_control")]


def test_a_cluster_has_one_label_within_its_task(uploads):
    content = jsonl(
        row(1, auto_cluster_id="k2"),
        row(2, auto_cluster_id="k2", cluster_label="opening"),
        row(3, auto_cluster_id="k1", cluster_label="closing"),
        row(4, auto_cluster_id="k2", cluster_label=f" opening{HIDDEN}"),
        row(5, auto_cluster_id="k2", cluster_label="closing"),
        row(6, auto_cluster_id="k2", cluster_label="prices", task_id="fees"),
        row(7, cluster_label="a label of no cluster"),
    )
    result = uploads.check(content)
    assert [(e.row, e.column, e.code) for e in result.errors] == [
        (5, "cluster_label", "conflicting_cluster_label")
    ]
    assert result.tasks[KEY].clusters == {"k2": "opening", "k1": "closing"}
    assert result.tasks["fees", None].clusters == {"k2": "prices"}


def test_clusters_may_have_no_label(uploads):
    assert uploads.check(jsonl(row(1, auto_cluster_id="k"))).tasks[KEY].clusters == {"k": None}


def test_rows_with_an_error_still_count_for_their_task(uploads):
    content = jsonl(row(1, model=..., task_statement="One."), row(2, task_statement="Two."))
    assert uploads.errors(content) == [
        (1, "model", "missing_field"),
        (2, "task_statement", "conflicting_task_statement"),
    ]
