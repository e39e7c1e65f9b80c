import json

import pytest

from adjudication.comparison import adjudicated_value, disputed_fields, merged_record
from annotation_app.record_schema import RecordContext, check_record, complete_protocol, shipped_schema
from tests.annotation_app.record_schema.builders import THREE, decision, record, second_schema

SCHEMA = shipped_schema()
CODED = {
    "semantic_cluster_decision": decision("confirm", "C2"),
    "gold_class_match": [],
    "relevance": "relevant",
    "factuality": "mixed",
    "r_meta_class": "uncertain",
    "elicitation_signal": "none_detected",
    "confidence": 0.8,
    "adjudication_required": False,
}


def disputed(left=None, right=None, new_clusters=None, **fields):
    protocol = complete_protocol({"fields": fields}, SCHEMA)
    return disputed_fields(SCHEMA, CODED | (left or {}), CODED | (right or {}), protocol, new_clusters)


def cluster_disputed(left, right, new_clusters=None):
    found = disputed({"semantic_cluster_decision": left}, {"semantic_cluster_decision": right}, new_clusters)
    assert found in ([], ["semantic_cluster_decision"])
    return bool(found)


def test_equal_codings_are_not_disputed():
    assert disputed() == []


def test_disputed_fields_come_in_schema_order():
    other = {"elicitation_signal": "uncertain", "relevance": "uncertain", "factuality": "supported"}
    assert disputed(right=other) == ["relevance", "factuality", "elicitation_signal"]


def test_confidence_notes_and_flag_are_not_compared():
    noted = decision("confirm", "C2") | {"notes": "sure"}
    other = {"confidence": 0.1, "adjudication_required": True, "semantic_cluster_decision": noted}
    assert disputed(right=other) == []


def test_order_of_classes_does_not_matter():
    assert disputed({"gold_class_match": ["a", "b"]}, {"gold_class_match": ["b", "a"]}) == []
    assert disputed({"gold_class_match": ["a"]}, {"gold_class_match": ["b", "a"]}) == ["gold_class_match"]
    without = {name: value for name, value in CODED.items() if name != "gold_class_match"}
    assert disputed_fields(SCHEMA, CODED, without, complete_protocol({}, SCHEMA)) == []


@pytest.mark.parametrize(
    ("other", "found"), [(0.7, []), (0.9, []), (0.69, ["confidence"]), (0.91, ["confidence"])]
)
def test_tolerance_is_met_at_its_edge(other, found):
    rule = {"compare": "tolerance", "tolerance": 0.1}
    assert disputed(right={"confidence": other}, confidence=rule) == found


def test_numbers_are_compared_by_value():
    rule = {"compare": "exact"}
    assert disputed({"confidence": 1}, {"confidence": 1.0}, confidence=rule) == []
    assert disputed({"confidence": 1}, {"confidence": 0.99}, confidence=rule) == ["confidence"]


def test_answer_that_only_one_gave_is_disputed():
    without = {name: value for name, value in CODED.items() if name != "relevance"}
    protocol = complete_protocol({"fields": {"relevance": {"required": False}}}, SCHEMA)
    assert disputed_fields(SCHEMA, CODED, without, protocol) == ["relevance"]
    assert disputed_fields(SCHEMA, without, without, protocol) == []


@pytest.mark.parametrize("path", ["relevance", "semantic_cluster_decision"])
def test_ignored_field_is_never_disputed(path):
    other = {"relevance": "irrelevant", "semantic_cluster_decision": decision("confirm", "C1")}
    assert path not in disputed(right=other, **{path: {"compare": "ignored"}})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (decision("confirm", "C2"), decision("confirm", "C2")),
        (decision("confirm", "C2"), decision("split", "C2")),
        (decision("confirm", "C2"), decision("merge_with_other", "C1", "C2")),
        (decision("merge_with_other", "C1", "C3"), decision("merge_with_other", "C2", "C3")),
        (decision("reject_as_nonsemantic_noise", "C1"), decision("reject_as_nonsemantic_noise", "C2")),
        (decision("uncertain", "C1"), decision("uncertain", "C2")),
        (decision("split", "N1"), decision("split", "N4")),
        (decision("confirm", "N2"), decision("split", "N1")),
    ],
)
def test_same_place_is_agreement_whatever_the_words(left, right):
    assert not cluster_disputed(left, right)
    assert not cluster_disputed(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (decision("confirm", "C2"), decision("confirm", "C1")),
        (decision("confirm", "C2"), decision("merge_with_other", "C2", "C1")),
        (decision("confirm", "C2"), decision("split", "N1")),
        (decision("confirm", "C2"), decision("reject_as_nonsemantic_noise", "C2")),
        (decision("confirm", "C2"), decision("uncertain", "C2")),
        (decision("reject_as_nonsemantic_noise", "C2"), decision("uncertain", "C2")),
        (decision("split", "N1"), decision("uncertain", "C2")),
        (decision("split", "N1"), decision("reject_as_nonsemantic_noise", "N1")),
    ],
)
def test_another_place_is_a_dispute(left, right):
    assert cluster_disputed(left, right)
    assert cluster_disputed(right, left)


@pytest.mark.parametrize(
    ("one", "two", "is_disputed"),
    [
        ("a", "a", False),
        ("abc", "abc", False),
        ("abc", "ab", False),
        ("abcd", "ab", True),
        ("abc", "ade", True),
    ],
)
def test_new_clusters_are_compared_by_their_members_and_not_by_name(one, two, is_disputed):
    members = (frozenset(one), frozenset(two))
    assert cluster_disputed(decision("split", "N1"), decision("split", "N2"), members) is is_disputed
    assert cluster_disputed(decision("split", "N1"), decision("split", "N1"), members) is is_disputed


def test_fields_inside_an_object_are_compared_one_by_one():
    protocol = complete_protocol({}, second_schema())
    left = {"tone": "angry", "sender": {"is_named": True, "people": 1}}
    right = {"tone": "angry", "sender": {"is_named": False, "people": 1}}
    assert disputed_fields(second_schema(), left, right, protocol) == ["sender.is_named"]


def test_adjudicated_value_is_canonical_json_by_dotted_path():
    values = {
        "relevance": "irrelevant",
        "semantic_cluster_decision": decision("confirm", "C3") | {"notes": "not a final value"},
        "factuality": None,
        "confidence": 1.0,
    }
    assert adjudicated_value(SCHEMA, values) == (
        '{"confidence":1,"factuality":null,"relevance":"irrelevant","semantic_cluster_decision.cluster_id":"C3",'
        '"semantic_cluster_decision.decision":"confirm","semantic_cluster_decision.merge_target":null}'
    )


def test_nothing_changed_is_an_empty_object():
    assert adjudicated_value(SCHEMA, {}) == "{}"


def test_undecided_cluster_decision_has_its_three_keys_too():
    assert json.loads(adjudicated_value(SCHEMA, {"semantic_cluster_decision": None})) == {
        "semantic_cluster_decision.cluster_id": None,
        "semantic_cluster_decision.decision": None,
        "semantic_cluster_decision.merge_target": None,
    }


def test_decided_values_are_put_into_the_record():
    coded = record(semantic_cluster_decision=decision("merge_with_other", "C2", "C1") | {"notes": "why"})
    values = {
        "semantic_cluster_decision": decision("confirm", "C3"),
        "factuality": "supported",
        "relevance": None,
    }
    merged = merged_record(coded, adjudicated_value(SCHEMA, values))
    assert merged["semantic_cluster_decision"] == decision("confirm", "C3") | {"notes": "why"}
    assert merged["factuality"] == "supported"
    assert merged["relevance"] == coded["relevance"]
    assert check_record(SCHEMA, merged, THREE) == []
    assert coded["semantic_cluster_decision"]["merge_target"] == "C1"


def test_undecided_cluster_decision_stays_as_it_was_coded():
    coded = record(semantic_cluster_decision=decision("merge_with_other", "C2", "C1"))
    merged = merged_record(coded, adjudicated_value(SCHEMA, {"semantic_cluster_decision": None}))
    assert merged == coded


def test_value_that_breaks_a_rule_is_found_in_the_merged_record():
    merged = merged_record(record(), adjudicated_value(SCHEMA, {"gold_class_match": ["opening"]}))
    assert [v.keyword_or_rule for v in check_record(SCHEMA, merged, RecordContext(("C2",)))] == [
        "gold_class_not_allowed"
    ]


def test_value_inside_an_object_is_put_where_it_belongs():
    text = adjudicated_value(second_schema(), {"sender.people": 3, "sender.is_named": None})
    merged = merged_record({"tone": "angry", "sender": {"is_named": True, "people": 1}}, text)
    assert merged == {"tone": "angry", "sender": {"is_named": True, "people": 3}}
