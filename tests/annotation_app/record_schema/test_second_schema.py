"""Another schema than the shipped one: two enums, an ordinal, a free text, a fieldset; no code knows it."""

from annotation_app.record_schema import (
    Payload,
    RecordContext,
    check_protocol,
    check_record,
    complete_protocol,
    default_codebook,
    read_fields,
    to_neutral,
)
from tests.annotation_app.record_schema.builders import form_for, second_schema

NOTHING = RecordContext()
ANSWERS = {
    "f1": "3",
    "f2": "2",
    "f3": "4",
    "f4": "Wants a new lamp.",
    "f5-1": "on",
    "f5-2": "2",
    "f5-3": "Mill  Lane",
}
CODED = {
    "tone": "angry",
    "asks_for": "money",
    "urgency": 4,
    "remark": "Wants a new lamp.",
    "sender": {"is_named": True, "people": 2, "street": "Mill Lane"},
}


def test_form_is_made_of_its_properties():
    form = form_for(second_schema()).for_coder()
    assert [(field["key"], field["kind"], field["label"]) for field in form["fields"]] == [
        ("f1", "radio", "Tone"),
        ("f2", "radio", "Asks for"),
        ("f3", "radio", "Urgency"),
        ("f4", "text", "Remark"),
        ("f5", "fieldset", "Sender"),
    ]
    assert [(part["key"], part["kind"]) for part in form["fields"][4]["fields"]] == [
        ("f5-1", "checkbox"),
        ("f5-2", "number"),
        ("f5-3", "line"),
    ]
    assert [option["label"] for option in form["fields"][1]["options"]][4] == "Several things"
    assert form["layout"] == {"columns": [["f1", "f2", "f4"], ["f3", "f5"]], "foot": []}


def test_answers_become_a_record_that_validates():
    read = read_fields(form_for(second_schema()), ANSWERS, NOTHING)
    assert read == Payload(CODED)
    record = {
        "record_id": "0c4e6d6e-8f7f-4a35-9d52-3f3f0b5f6a01",
        "annotator_id": "K4-71",
        "timestamp_utc": "2026-02-03T04:05:06.000007Z",
    }
    assert check_record(second_schema(), record | CODED, NOTHING) == []


def test_answers_can_be_given_by_path():
    form = form_for(second_schema())
    read = read_fields(form, CODED, NOTHING)
    assert read == Payload(CODED)
    assert to_neutral(form, Payload(CODED), NOTHING) == ANSWERS | {
        "f5-1": True,
        "f5-2": 2,
        "f5-3": "Mill Lane",
    }


def test_missing_and_wrong_answers_are_named():
    form = form_for(second_schema())
    read = read_fields(form, {"f3": "6", "f4": "x" * 201, "f5-2": "0"}, NOTHING)
    assert isinstance(read, list)
    assert [(error.field, error.rule) for error in read] == [
        ("f1", "required"),
        ("f2", "required"),
        ("f3", "enum"),
        ("f4", "maxLength"),
        ("f5-2", "minimum"),
        ("f5-3", "required"),
    ]
    assert read[4].message == "Give a number of at least 1."


def test_unticked_box_says_no_and_unknown_number_may_be_null():
    relaxed = form_for(second_schema(), fields={"sender.people": {"required": False}})
    read = read_fields(relaxed, CODED | {"sender": {"people": None, "street": "Mill Lane"}}, NOTHING)
    assert isinstance(read, Payload)
    assert read.values["sender"] == {"is_named": False, "people": None, "street": "Mill Lane"}
    posted = {key: value for key, value in ANSWERS.items() if key not in ("f5-1", "f5-2")}
    bare = read_fields(relaxed, posted, NOTHING)
    assert isinstance(bare, Payload)
    assert bare.values["sender"] == {"is_named": False, "street": "Mill Lane"}


def test_protocol_has_a_rule_for_every_leaf():
    fields = complete_protocol({}, second_schema())["fields"]
    assert {path: (rule["required"], rule["compare"], rule["level"]) for path, rule in fields.items()} == {
        "tone": (True, "exact", "nominal"),
        "asks_for": (True, "exact", "nominal"),
        "urgency": (True, "exact", "nominal"),
        "remark": (True, "ignored", None),
        "sender.is_named": (True, "exact", "nominal"),
        "sender.people": (True, "exact", "interval"),
        "sender.street": (True, "ignored", None),
    }
    assert check_protocol({"fields": {"urgency": {"level": "ordinal"}}}, second_schema()) == []


def test_generated_hotkeys_are_one_row_a_field():
    fields = default_codebook(second_schema())["fields"]
    keys = {
        path: "".join(option["hotkey"] for option in fields[path]["options"].values())
        for path in ("tone", "asks_for", "urgency")
    }
    assert keys == {"tone": "123", "asks_for": "yuioph", "urgency": "asdfg"}
