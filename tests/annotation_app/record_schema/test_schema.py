import copy

import pytest

from annotation_app.record_schema import SchemaRefused, load_record_schema, shipped_documents, shipped_schema
from annotation_app.record_schema.structure import Kind


def document(**changes):
    base = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.org/small.json",
        "type": "object",
        "required": ["record_id"],
        "properties": {"record_id": {"type": "string"}, "tone": {"enum": ["calm", "loud"]}},
    }
    return copy.deepcopy(base) | changes


def with_property(name, node):
    return document(properties={"tone": {"enum": ["calm", "loud"]}, name: node}, required=[])


def places(refused):
    with pytest.raises(SchemaRefused) as caught:
        load_record_schema(refused)
    return [problem.place for problem in caught.value.problems]


def test_shipped_schema_splits_system_fields_from_coded_ones():
    schema = shipped_schema()
    assert [(field.path, field.kind) for field in schema.fields] == [
        ("semantic_cluster_decision", Kind.CLUSTER),
        ("gold_class_match", Kind.CHECKS),
        ("relevance", Kind.RADIO),
        ("factuality", Kind.RADIO),
        ("r_meta_class", Kind.RADIO),
        ("elicitation_signal", Kind.RADIO),
        ("confidence", Kind.SCALE),
        ("adjudication_required", Kind.FLAG),
    ]
    coded = {field.path for field in schema.fields}
    assert coded | set(schema.system_fields) == set(schema.document["properties"])
    assert len(schema.system_fields) == 14


def test_shipped_schema_is_registered_by_its_id():
    assert list(shipped_documents()) == ["https://www.t-1-t.com/T-GPT/data/pilot-v0.8-annotation-schema.json"]


def test_policy_of_the_shipped_schema_is_read():
    policy = shipped_schema().blinding_policy
    assert policy.minimum_annotators == 2
    assert policy.claims["condition_labels_removed"] is True


def test_hash_follows_the_content_and_not_the_layout():
    first = load_record_schema(document())
    reordered = load_record_schema(dict(reversed(document().items())))
    other = load_record_schema(document(title="Another"))
    assert first.hash == reordered.hash != other.hash
    assert first == reordered
    assert len(first.hash) == 64


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("minimum_independent_annotators_per_record", 3),
        ("minimum_independent_annotators_per_record", True),
        ("agreement_metric", "Fleiss_kappa"),
        ("condition_labels_removed", False),
        ("condition_labels_removed", 1),
        ("disagreement_policy", "majority"),
        ("annotators_may_talk", False),
    ],
)
def test_policy_that_cannot_be_kept_is_refused_by_its_place(claim, value):
    assert places(document(blinding_policy={claim: value})) == [f"/blinding_policy/{claim}"]


def test_policy_may_ask_for_less_or_be_absent():
    one = document(blinding_policy={"minimum_independent_annotators_per_record": 1})
    assert load_record_schema(one).blinding_policy.minimum_annotators == 1
    assert load_record_schema(document()).blinding_policy.claims == {}


@pytest.mark.parametrize(
    ("node", "below"),
    [
        (True, ""),
        ({}, ""),
        ({"type": ["string", "number"]}, ""),
        ({"type": "null"}, ""),
        ({"type": ["boolean", "null"]}, ""),
        ({"type": "string", "format": "email"}, "/format"),
        ({"type": "string", "pattern": "a"}, "/pattern"),
        ({"type": "number", "exclusiveMinimum": 0}, "/exclusiveMinimum"),
        ({"type": "number", "minimum": 2, "maximum": 1}, ""),
        ({"enum": []}, "/enum"),
        ({"enum": [True, False]}, "/enum"),
        ({"enum": ["1", 1]}, "/enum"),
        ({"type": "array", "items": {"type": "number"}}, ""),
        ({"type": "array"}, ""),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, "/minItems"),
        ({"type": "object"}, ""),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}, "/required/0"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {}},
            "/additionalProperties",
        ),
        ({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}}, "/properties/a"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
            },
            "/properties/a",
        ),
        ({"oneOf": [{"type": "string"}]}, ""),
    ],
)
def test_property_that_no_control_shows_is_refused_by_its_place(node, below):
    assert places(with_property("odd", node)) == [f"/properties/odd{below}"]


@pytest.mark.parametrize("name", ["f1", "f12-notes", "flag_reason", "a.b", ""])
def test_name_that_would_be_ambiguous_is_refused(name):
    assert places(with_property(name, {"type": "boolean"})) == [f"/properties/{name}"]


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("record_id", {"type": "integer"}),
        ("annotator_role", {"enum": ["coder"]}),
        ("model_visible_to_annotator", {"const": True}),
        ("auto_cluster_id", {"type": "string"}),
        ("timestamp_utc", {"type": "string", "format": "date"}),
    ],
)
def test_system_field_that_the_product_could_not_fill_is_refused(name, node):
    assert set(places(with_property(name, node))) == {f"/properties/{name}"}


def test_flag_is_true_or_false():
    assert places(with_property("adjudication_required", {"type": "string"})) == [
        "/properties/adjudication_required"
    ]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema"),
        ({"type": "array"}, "/type"),
        ({"properties": {}, "required": []}, "/properties"),
        ({"properties": {"record_id": {"type": "string"}}}, "/properties"),
        ({"required": ["missing"]}, "/required/0"),
        ({"allOf": [{"required": ["tone"]}]}, "/allOf"),
        ({"properties": {"tone": {"type": "nonsense"}}, "required": []}, "/properties/tone/type"),
    ],
)
def test_document_that_is_no_such_schema_is_refused_by_its_place(changes, place):
    assert places(document(**changes)) == [place]


def test_document_without_an_id_is_refused():
    nameless = document()
    del nameless["$id"]
    assert places(nameless) == ["/$id"]


@pytest.mark.parametrize("value", [None, [], "schema", 3])
def test_what_is_no_object_is_refused(value):
    assert places(value) == [""]


def test_references_are_not_followed():
    elsewhere = {"$ref": "http://127.0.0.1:9/never-asked.json"}
    assert places(with_property("odd", elsewhere)) == ["/properties/odd/$ref"]


def test_number_that_readers_of_json_disagree_about_is_refused():
    huge = with_property("odd", {"type": "number", "maximum": 2**60})
    assert places(huge) == [""]


def test_all_problems_are_named_at_once():
    bad = document(
        properties={"a": {}, "b": {"type": "string", "pattern": "x"}}, required=[], blinding_policy={"c": 1}
    )
    assert places(bad) == ["/properties/a", "/properties/b/pattern", "/blinding_policy/c"]


def test_object_that_only_looks_like_a_cluster_decision_is_a_fieldset():
    node = {
        "type": "object",
        "properties": {"cluster_id": {"type": "string"}, "decision": {"enum": ["yes", "no"]}},
    }
    schema = load_record_schema(with_property("semantic_cluster_decision", node))
    assert [field.kind for field in schema.fields] == [Kind.RADIO, Kind.FIELDSET]
    assert schema.cluster is None
