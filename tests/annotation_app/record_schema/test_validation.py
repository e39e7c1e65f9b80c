import pytest

from annotation_app.record_schema import RecordContext, check_record, is_date_time, shipped_schema
from tests.annotation_app.record_schema.builders import CONTROL, THREE, decision, record, second_schema


def found(context=THREE, **changes):
    return [
        (v.kind, v.pointer, v.keyword_or_rule)
        for v in check_record(shipped_schema(), record(**changes), context)
    ]


def test_whole_record_is_accepted():
    assert found() == []


@pytest.mark.parametrize(
    ("changes", "pointer", "keyword"),
    [
        ({"condition_visible_to_annotator": True}, "/condition_visible_to_annotator", "const"),
        ({"semantic_cluster_decision": decision("keep")}, "/semantic_cluster_decision/decision", "enum"),
        ({"confidence": 1.01}, "/confidence", "maximum"),
        ({"timestamp_utc": "2026-02-29T00:00:00Z"}, "/timestamp_utc", "format"),
        ({"unheard_of": 1}, "", "additionalProperties"),
    ],
)
def test_schema_violation_names_the_value_and_the_keyword(changes, pointer, keyword):
    assert found(**changes) == [("schema", pointer, keyword)]


@pytest.mark.parametrize(
    ("made", "part", "rule"),
    [
        (decision("merge_with_other"), "merge_target", "merge_target_required"),
        (decision("merge_with_other", target=""), "merge_target", "merge_target_required"),
        (decision("merge_with_other", target="C2"), "merge_target", "merge_target_is_cluster"),
        (decision("merge_with_other", target="C7"), "merge_target", "merge_target_unknown"),
        (decision("split", target="C1"), "merge_target", "merge_target_not_null"),
        (decision("uncertain", "C7"), "cluster_id", "cluster_unknown"),
        (decision("merge_with_other", "N1", "C1"), "cluster_id", "cluster_unknown"),
    ],
)
def test_cluster_rule_names_the_part(made, part, rule):
    assert found(semantic_cluster_decision=made) == [("rule", f"/semantic_cluster_decision/{part}", rule)]


@pytest.mark.parametrize(
    "made", [decision("split", "N4"), decision("split", "C3"), decision("merge_with_other", target="C3")]
)
def test_cluster_decision_within_the_rules_is_accepted(made):
    assert found(semantic_cluster_decision=made) == []


@pytest.mark.parametrize("verdict", ["confirm", "split", "reject_as_nonsemantic_noise", "uncertain"])
def test_task_without_clusters_takes_a_new_one_with_any_decision_but_merge(verdict):
    assert found(RecordContext(), semantic_cluster_decision=decision(verdict, "N1")) == []


def test_task_without_clusters_takes_no_merge_and_no_made_up_name():
    merge = found(RecordContext(), semantic_cluster_decision=decision("merge_with_other", "N1", "N2"))
    assert {rule for _, _, rule in merge} == {"cluster_unknown", "merge_target_unknown"}
    named = found(RecordContext(), semantic_cluster_decision=decision("confirm", "mine"))
    assert [rule for _, _, rule in named] == ["cluster_unknown"]


def test_classes_belong_to_their_control():
    assert (
        found(
            CONTROL,
            gold_class_match=["closing", "opening"],
            semantic_cluster_decision=decision("confirm", "C1"),
        )
        == []
    )
    assert found(
        CONTROL, gold_class_match=["Closing"], semantic_cluster_decision=decision("confirm", "C1")
    ) == [("rule", "/gold_class_match", "gold_class_unknown")]
    assert found(gold_class_match=["closing"]) == [("rule", "/gold_class_match", "gold_class_not_allowed")]


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-03T04:05:06Z",
        "2024-02-29t23:59:59.5z",
        "2026-02-03T04:05:06.123456789+05:30",
        "0001-01-01T00:00:00-23:59",
    ],
)
def test_date_time_is_rfc_3339(text):
    assert is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-03T04:05:06",
        "2026-02-03 04:05:06Z",
        "2016-12-31T23:59:60Z",
        "2025-02-29T00:00:00Z",
        "2026-02-03T24:00:00Z",
        "2026-02-03T04:05:06+24:00",
        "2026-02-03T04:05:06+05:60",
        "2026-02-03T04:05:06.Z",
        "0000-01-01T00:00:00Z",
        "2026-02-03T04:05:06Z\n",
        "２026-02-03T04:05:06Z",
        "20260203T040506Z",
        "",
    ],
)
def test_date_time_refuses_what_python_cannot_hold_or_rfc_3339_lacks(text):
    assert not is_date_time(text)


def test_formats_of_another_schema_are_checked():
    letter = {
        "record_id": "no uuid",
        "annotator_id": "K4-71",
        "tone": "neutral",
        "asks_for": "money",
        "remark": "",
    }
    violations = check_record(second_schema(), letter, RecordContext())
    assert [(v.pointer, v.keyword_or_rule) for v in violations] == [("/record_id", "format")]
