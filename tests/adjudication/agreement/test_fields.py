import pytest

from adjudication.agreement.fields import FieldSpec, read
from tests.adjudication.agreement.sample import specs


def by_path(found):
    return {spec.path: spec for spec in found}


def test_the_schema_gives_its_coded_fields_and_the_place():
    kinds = {spec.path: (spec.kind, spec.metric.level) for spec in specs()}
    assert kinds == {
        "semantic_cluster_decision.decision": ("ordinary", "nominal"),
        "semantic_cluster_decision": ("place", "nominal"),
        "gold_class_match": ("set-in-task", "set:masi"),
        "relevance": ("ordinary", "nominal"),
        "factuality": ("ordinary", "nominal"),
        "r_meta_class": ("ordinary", "nominal"),
        "elicitation_signal": ("ordinary", "nominal"),
        "confidence": ("confidence", "interval"),
    }


def test_values_keep_the_order_of_the_schema_and_confidence_its_bounds():
    found = by_path(specs())
    assert found["relevance"].values == ("relevant", "irrelevant", "uncertain", "not_applicable")
    assert found["confidence"].bounds == (0, 1)
    assert (found["relevance"].not_applicable, found["relevance"].uncertain) == (
        "not_applicable",
        "uncertain",
    )
    assert found["semantic_cluster_decision.decision"].not_applicable is None


def test_only_fields_whose_values_live_in_a_task_have_chance_within_tasks():
    assert {spec.path for spec in specs() if spec.within_tasks} == {
        "semantic_cluster_decision",
        "gold_class_match",
    }


def test_the_protocol_sets_level_distance_and_missing_values():
    found = by_path(
        specs(
            relevance={"level": "ordinal", "missing": ["uncertain"]},
            gold_class_match={"level": "set", "distance": "overlap"},
            confidence={"level": None},
        )
    )
    assert (found["relevance"].metric.level, found["relevance"].missing) == ("ordinal", ("uncertain",))
    assert found["gold_class_match"].metric.level == "set:overlap"
    assert "confidence" not in found


def test_a_distance_matrix_belongs_to_its_level():
    assert FieldSpec("f", "F", "matrix", ((0, 1), (1, 0))).metric.matrix == ((0, 1), (1, 0))
    with pytest.raises(ValueError, match="matrix"):
        _ = FieldSpec("f", "F", "matrix").metric


def test_values_have_names():
    spec = FieldSpec("f", "F", value_labels={"a_b": "Alpha"})
    assert [spec.name_of(value) for value in ("a_b", "not_applicable", frozenset("ba"), frozenset())] == [
        "Alpha",
        "Not applicable",
        "a + b",
        "none",
    ]


def test_paths_are_dotted():
    assert read({"a": {"b": 1}}, "a.b") == 1
    assert read({"a": {"b": 1}}, "a.c") is None
    assert read({"a": 3}, "a.b") is None
