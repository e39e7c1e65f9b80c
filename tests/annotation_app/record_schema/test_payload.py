import pytest

from annotation_app.record_schema import (
    FieldError,
    Payload,
    RecordContext,
    read_fields,
    readable,
    to_draft,
    to_neutral,
)
from tests.annotation_app.record_schema.builders import CONTROL, THREE, by_key, by_path, decision, form_for

FORM = form_for()
OWN = RecordContext(("C1", "C2", "C3"), "C2", own_new_clusters=("N1", "N2"))


def values(posted, context=THREE, form=FORM):
    read = read_fields(form, posted, context)
    assert isinstance(read, Payload), read
    return read.values


def errors(posted, context=THREE, form=FORM):
    read = read_fields(form, posted, context)
    assert isinstance(read, list), read
    return [(error.field, error.rule) for error in read]


def test_neutral_and_schema_names_give_the_same_payload():
    expected = {
        "semantic_cluster_decision": {"cluster_id": "C2", "decision": "confirm", "merge_target": None},
        "gold_class_match": [],
        "relevance": "relevant",
        "factuality": "mixed",
        "r_meta_class": "structural_pluralization",
        "elicitation_signal": "none_detected",
        "confidence": 0.7,
        "adjudication_required": False,
    }
    assert values(by_path()) == expected
    assert values(by_key(**{"f1-notes": ...})) == expected


def test_names_can_be_mixed_but_not_for_one_field():
    assert values(by_key(f3=..., relevance="relevant")) == values(by_key())
    assert errors(by_key(relevance="relevant")) == [("f3", "given_twice")]


@pytest.mark.parametrize(
    "name", ["record_id", "condition_visible_to_annotator", "cluster_id", "f9", "f1-other", ""]
)
def test_unknown_name_is_refused_without_being_repeated(name):
    read = read_fields(FORM, by_path() | {name: "x"}, THREE)
    assert read == [FieldError("", "unknown_key", "The form has no field of one of the names sent.")]


def test_every_missing_answer_is_named_in_the_order_of_the_form():
    assert errors({}) == [(key, "required") for key in ("f1", "f3", "f4", "f5", "f6", "f7")]
    assert errors({"f1-cluster": "C2", "f1-notes": "", "f7": "", "f3": None}) == errors({})


@pytest.mark.parametrize(
    ("posted", "error"),
    [
        (by_path(relevance="Relevant"), ("f3", "enum")),
        (by_path(relevance=None), ("f3", "enum")),
        (by_path(relevance=["relevant"]), ("f3", "enum")),
        (by_path(relevance="1"), ("f3", "enum")),
        (by_key(f3="5"), ("f3", "enum")),
        (by_key(f3="relevant"), ("f3", "enum")),
        (by_key(f3=True), ("f3", "enum")),
        (by_key(f3={"a": 1}), ("f3", "enum")),
        (by_path(confidence="0.7"), ("f7", "type")),
        (by_path(confidence=True), ("f7", "type")),
        (by_path(confidence=1.0000001), ("f7", "maximum")),
        (by_path(confidence=-0.1), ("f7", "minimum")),
        (by_path(confidence=float("nan")), ("f7", "type")),
        (by_path(confidence=float("inf")), ("f7", "type")),
        (by_path(confidence=10**30), ("f7", "maximum")),
        (by_key(f7="1,5"), ("f7", "type")),
        (by_key(f7="nan"), ("f7", "type")),
        (by_key(f7="1e999"), ("f7", "type")),
        (by_key(f7="٣"), ("f7", "type")),
        (by_key(f7="1.5"), ("f7", "maximum")),
        (by_path(semantic_cluster_decision="C1"), ("f1", "type")),
        (by_path(semantic_cluster_decision=None), ("f1", "type")),
        (by_path(semantic_cluster_decision={"decision": "confirm"}), ("f1-cluster", "required")),
        (by_path(semantic_cluster_decision={"cluster_id": "C2"}), ("f1", "required")),
        (by_path(semantic_cluster_decision=decision("merge", "C2")), ("f1", "enum")),
        (
            by_path(semantic_cluster_decision=decision("confirm") | {"sure": 1}),
            ("f1", "additionalProperties"),
        ),
        (by_path(semantic_cluster_decision=decision("confirm") | {"notes": None}), ("f1-notes", "type")),
        (
            by_path(semantic_cluster_decision=decision("confirm") | {"notes": "n" * 1201}),
            ("f1-notes", "maxLength"),
        ),
        (by_path(semantic_cluster_decision={"cluster_id": 2, "decision": "confirm"}), ("f1-cluster", "type")),
        (by_key(**{"f1-notes": "n" * 1201}), ("f1-notes", "maxLength")),
        (by_key(**{"f1-notes": 3}), ("f1-notes", "type")),
        (by_path(gold_class_match="opening"), ("f2", "type")),
        (by_path(gold_class_match=[1]), ("f2", "type")),
        (by_path(adjudication_required="true"), ("f8", "type")),
        (by_key(f8="maybe"), ("f8", "type")),
        (by_key(f8=True, f8_reason=["x"]), ("f8-reason", "type")),
        (by_key(f8=True, f8_reason="x" * 1201), ("f8-reason", "maxLength")),
    ],
)
def test_wrong_answer_is_one_error_under_its_neutral_key(posted, error):
    assert errors(posted) == [error]


def test_messages_say_what_to_do_in_neutral_words():
    read = read_fields(
        FORM,
        by_path(confidence=2, relevance=..., semantic_cluster_decision=decision("merge_with_other")),
        THREE,
    )
    assert isinstance(read, list)
    assert [error.message for error in read] == [
        "Choose the cluster to merge with.",
        "Choose an answer.",
        "Give a number from 0 to 1.",
    ]


@pytest.mark.parametrize(
    ("typed", "number"),
    [("0.70", 0.7), (" 1 ", 1), ("0", 0), (".5", 0.5), ("5e-1", 0.5), (0.25, 0.25), ("-0", 0)],
)
def test_typed_number_is_read(typed, number):
    assert values(by_key(f7=typed))["confidence"] == number


@pytest.mark.parametrize(
    ("posted", "flagged"),
    [("on", True), (True, True), ("1", True), (False, False), ("", False), (..., False)],
)
def test_tick_box_is_read(posted, flagged):
    read = read_fields(FORM, by_key(f8=posted), THREE)
    assert isinstance(read, Payload)
    assert read.flagged is flagged
    assert read.values["adjudication_required"] is flagged


def test_reason_for_a_flag_stands_beside_the_record():
    read = read_fields(FORM, by_path(adjudication_required=True, flag_reason="The last line\x00."), THREE)
    assert isinstance(read, Payload)
    assert read.flag_reason == "The last line."
    assert "flag_reason" not in read.values
    unflagged = read_fields(FORM, by_key(f8_reason="left over"), THREE)
    assert isinstance(unflagged, Payload)
    assert unflagged.flag_reason == ""


def test_control_characters_in_notes_are_dropped_and_line_ends_are_one_kind():
    typed = "one\r\ntwo\rthree\tfour\x00\x07\x1b\x85\u009f می\u200cشود \ud800 \U0001f600"
    noted = values(by_key(**{"f1-notes": typed}))["semantic_cluster_decision"]["notes"]
    assert noted == "one\ntwo\nthree\tfour می\u200cشود \ufffd \U0001f600"
    posted = decision("confirm") | {"notes": typed}
    assert values(by_path(semantic_cluster_decision=posted))["semantic_cluster_decision"]["notes"] == noted


def test_notes_are_counted_in_code_points_after_cleaning():
    notes = "\U0001f600" * 1200 + "\x00"
    assert len(values(by_key(**{"f1-notes": notes}))["semantic_cluster_decision"]["notes"]) == 1200


@pytest.mark.parametrize(
    ("made", "item", "stored"),
    [
        (decision("confirm", "C3"), THREE, decision("confirm", "C3")),
        (
            {"cluster_id": "C1", "decision": "uncertain", "merge_target": ""},
            THREE,
            decision("uncertain", "C1"),
        ),
        (decision("merge_with_other", "C1", "C3"), THREE, decision("merge_with_other", "C1", "C3")),
        (decision("split", "C2"), THREE, decision("split", "C2")),
        (decision("split", "new"), THREE, decision("split", "N1")),
        (decision("split", "N1"), THREE, decision("split", "N1")),
        (decision("split", "new"), OWN, decision("split", "N3")),
        (decision("split", "N2"), OWN, decision("split", "N2")),
        (decision("split", "N3"), OWN, decision("split", "N3")),
        (decision("reject_as_nonsemantic_noise"), THREE, decision("reject_as_nonsemantic_noise")),
        (decision("confirm", "new"), RecordContext(), decision("confirm", "N1")),
        (decision("uncertain", "N1"), RecordContext(own_new_clusters=("N1",)), decision("uncertain", "N1")),
        (decision("split", "new"), RecordContext(own_new_clusters=("N1", "N10")), decision("split", "N11")),
    ],
)
def test_cluster_decision_is_stored(made, item, stored):
    assert values(by_path(semantic_cluster_decision=made), item)["semantic_cluster_decision"] == stored


@pytest.mark.parametrize(
    ("made", "item", "error"),
    [
        (decision("merge_with_other"), THREE, ("f1-target", "merge_target_required")),
        (decision("merge_with_other", "C2", ""), THREE, ("f1-target", "merge_target_required")),
        (decision("merge_with_other", "C2", "C2"), THREE, ("f1-target", "merge_target_is_cluster")),
        (decision("merge_with_other", "C2", "C9"), THREE, ("f1-target", "merge_target_unknown")),
        (decision("confirm", "C2", "C1"), THREE, ("f1-target", "merge_target_not_null")),
        (decision("confirm", "C9"), THREE, ("f1-cluster", "cluster_unknown")),
        (decision("confirm", ""), THREE, ("f1-cluster", "cluster_unknown")),
        (decision("confirm", "new"), THREE, ("f1-cluster", "cluster_unknown")),
        (decision("confirm", "N1"), OWN, ("f1-cluster", "cluster_unknown")),
        (decision("split", "N4"), OWN, ("f1-cluster", "cluster_unknown")),
        (decision("split", "mine"), OWN, ("f1-cluster", "cluster_unknown")),
        (decision("confirm", "C1"), RecordContext(), ("f1-cluster", "cluster_unknown")),
        (decision("confirm", "N2"), RecordContext(), ("f1-cluster", "cluster_unknown")),
    ],
)
def test_cluster_decision_that_breaks_a_rule_is_refused(made, item, error):
    assert errors(by_path(semantic_cluster_decision=made), item) == [error]


def test_task_without_clusters_has_nothing_to_merge():
    made = decision("merge_with_other", "new", "N1")
    assert errors(by_path(semantic_cluster_decision=made), RecordContext(own_new_clusters=("N1",))) == [
        ("f1-cluster", "cluster_unknown"),
        ("f1-target", "merge_target_unknown"),
    ]


def test_picker_left_alone_stands_where_it_was_preset():
    assert values(by_key(**{"f1-cluster": ...}))["semantic_cluster_decision"]["cluster_id"] == "C2"
    assert errors(by_key(**{"f1-cluster": ...}), RecordContext(("C1", "C2"))) == [("f1-cluster", "required")]
    hidden = form_for(show_proposed_cluster="never")
    assert errors(by_key(**{"f1-cluster": ""}), form=hidden) == [("f1-cluster", "required")]


def test_target_left_over_in_the_page_counts_only_with_a_merge():
    assert values(by_key(f1_target="C3"))["semantic_cluster_decision"] == decision("confirm") | {"notes": ""}
    assert values(by_key(f1="2", f1_target="C3"))["semantic_cluster_decision"]["merge_target"] == "C3"


def test_classes_are_read_by_number_and_by_name():
    at_home = {"f1-cluster": "C1"}
    assert values(by_key(f2=["3", "1", "3"], **at_home), CONTROL)["gold_class_match"] == [
        "elsewhere",
        "opening",
    ]
    assert values(by_key(f2="2", **at_home), CONTROL)["gold_class_match"] == ["closing"]
    assert values(by_key(**at_home), CONTROL)["gold_class_match"] == []
    named = by_path(gold_class_match=["closing", "opening", "closing"])
    assert values(named, CONTROL)["gold_class_match"] == ["closing", "opening"]


def test_classes_only_where_offered_and_only_those_under_neutral_names():
    assert errors(by_path(gold_class_match=["opening"])) == [("f2", "class_not_allowed")]
    assert errors(by_key(f2=["1"])) == [("f2", "class_not_allowed")]
    assert errors(by_path(gold_class_match=["Opening"]), CONTROL) == [("f2", "class_unknown")]
    assert errors(by_key(f2=["4"], **{"f1-cluster": "C1"}), CONTROL) == [("f2", "class_unknown")]


def test_protocol_decides_what_is_required():
    free = form_for(fields={"confidence": {"required": False}, "r_meta_class": {"required": False}})
    assert "confidence" not in values(by_path(confidence=..., r_meta_class=...), form=free)
    strict = form_for(
        fields={"semantic_cluster_decision.notes": {"required": True}, "gold_class_match": {"required": True}}
    )
    assert errors(by_path(), CONTROL, strict) == [("f1-notes", "required"), ("f2", "required")]
    assert errors(by_key(**{"f1-notes": "  \n"}), form=strict) == [("f1-notes", "required")]


RULES = [
    {"when": {"relevance": ["irrelevant", "not_applicable"]}, "then": {"factuality": "not_applicable"}},
    {"when": {"factuality": "not_applicable"}, "then": {"elicitation_signal": "not_applicable"}},
    {"when": {"semantic_cluster_decision.decision": "uncertain"}, "then": {"r_meta_class": "uncertain"}},
]


def test_applicability_rules_fill_in_what_follows():
    form = form_for(applicability=RULES)
    filled = values(by_path(relevance="irrelevant", factuality=..., elicitation_signal=...), form=form)
    assert (filled["factuality"], filled["elicitation_signal"]) == ("not_applicable", "not_applicable")


def test_applicability_rules_refuse_what_contradicts_them():
    form = form_for(applicability=RULES)
    read = read_fields(form, by_path(relevance="irrelevant", elicitation_signal="not_applicable"), THREE)
    assert read == [
        FieldError(
            "f4", "applicability", "With “Irrelevant” under Relevance, this can only be “Not applicable”."
        )
    ]
    doubtful = by_path(semantic_cluster_decision=decision("uncertain"))
    assert errors(doubtful, form=form) == [("f5", "applicability")]
    assert values(by_path(), form=form)


def test_notes_can_be_left_out_of_what_an_adjudicator_reads():
    payload = Payload(values(by_key(**{"f1-notes": "mine"})), "why")
    assert to_neutral(FORM, payload, THREE) == {
        "f1": "1",
        "f1-cluster": "C2",
        "f1-notes": "mine",
        "f3": "1",
        "f4": "3",
        "f5": "5",
        "f6": "1",
        "f7": 0.7,
        "f8": False,
        "f8-reason": "why",
    }
    assert not {"f1-notes", "f8-reason"} & to_neutral(FORM, payload, THREE, notes=False).keys()


def test_draft_keeps_what_was_typed_under_neutral_keys():
    typed = {"f1-cluster": "new", "f7": "0,7", "f2": ["1"], "f8": True, "f1-notes": "half a sen\ud800"}
    assert to_draft(FORM, typed, THREE) == typed | {"f1-notes": "half a sen\ufffd"}
    named = {
        "relevance": "irrelevant",
        "factuality": "nonsense",
        "semantic_cluster_decision": {"decision": "split"},
    }
    assert to_draft(FORM, named | {"unknown": 1, "f3": {"a": 1}}, THREE) == {"f3": "2", "f1": "3"}


def test_codes_are_shown_in_the_words_of_the_codebook():
    shown = readable(
        FORM, values(by_path(semantic_cluster_decision=decision("merge_with_other", "C2", "C3")))
    )
    assert shown == {
        "f1": "Merge with another cluster: C2 with C3",
        "f2": "None",
        "f3": "Relevant",
        "f4": "Mixed",
        "f5": "Several views side by side",
        "f6": "None detected",
        "f7": "0.7",
        "f8": "No",
    }
    moved = readable(FORM, values(by_path(semantic_cluster_decision=decision("split", "new"))))
    assert moved["f1"] == "Split off: a new cluster"


def test_deep_nesting_is_an_error_and_not_a_failure():
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    assert errors(by_path(relevance=deep)) == [("f3", "enum")]
    assert errors(by_key(f3=deep)) == [("f3", "enum")]
