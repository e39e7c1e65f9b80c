import pytest

from annotation_app.record_schema import FieldValue, RecordContext, read_value
from tests.annotation_app.record_schema.builders import CONTROL, THREE, decision, form_for, second_schema

FORM = form_for()


@pytest.mark.parametrize(
    ("name", "value", "item", "path", "raw"),
    [
        ("f4", "1", THREE, "factuality", "supported"),
        ("factuality", "supported", THREE, "factuality", "supported"),
        ("f7", "0.9", THREE, "confidence", 0.9),
        ("f2", ["2"], CONTROL, "gold_class_match", ["closing"]),
        ("gold_class_match", [], THREE, "gold_class_match", []),
        (
            "f1",
            {"f1": "1", "f1-cluster": "C3"},
            THREE,
            "semantic_cluster_decision",
            decision("confirm", "C3"),
        ),
        (
            "f1",
            {"cluster_id": "new", "decision": "split"},
            THREE,
            "semantic_cluster_decision",
            decision("split", "N1"),
        ),
        (
            "semantic_cluster_decision",
            decision("confirm"),
            THREE,
            "semantic_cluster_decision",
            decision("confirm"),
        ),
        ("f1-notes", "a note", THREE, "semantic_cluster_decision.notes", "a note"),
    ],
)
def test_single_field_is_read_by_key_or_path(name, value, item, path, raw):
    assert read_value(FORM, name, value, item) == FieldValue(path, raw)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("f4", "9", ("f4", "enum")),
        ("f4", None, ("f4", "required")),
        ("factuality", "wrong", ("f4", "enum")),
        ("f1", {"f1": "2", "f1-cluster": "C2"}, ("f1-target", "merge_target_required")),
        ("f1", {"f1": "1", "f3": "1"}, ("f1", "required")),
        ("f1", "1", ("f1-cluster", "required")),
        ("f9", "1", ("", "unknown_key")),
        ("task_id", "x", ("", "unknown_key")),
        ("f1-target", "C1", ("", "unknown_key")),
    ],
)
def test_single_field_is_refused_as_in_a_whole_form(name, value, error):
    context = RecordContext(("C1", "C2", "C3"))
    read = read_value(FORM, name, value, context)
    assert isinstance(read, list)
    assert error in [(wrong.field, wrong.rule) for wrong in read]


def test_part_of_a_fieldset_is_read_alone():
    form = form_for(second_schema())
    key = form.by_path["sender.people"].key
    assert read_value(form, key, "3", RecordContext()) == FieldValue("sender.people", 3)
    assert isinstance(read_value(form, "sender.people", 0, RecordContext()), list)
