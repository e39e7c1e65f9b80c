import pytest

from annotation_app.record_schema import (
    check_protocol,
    complete_protocol,
    protocol_hash,
    shape,
    shipped_schema,
)

SCHEMA = shipped_schema()


def places(**document):
    return [problem.place for problem in check_protocol(document, SCHEMA)]


def of_field(path, **rule):
    return places(fields={path: rule})


def test_defaults():
    protocol = complete_protocol({}, SCHEMA)
    assert protocol["grace_minutes"] == 10
    assert protocol["spacing"] == 3
    assert protocol["show_proposed_cluster"] == "from_start"
    assert protocol["adjudication"] == {"steps": 1, "sham_share": 0.1, "show_notes": False}
    assert protocol["audit_share"] == 0.1
    assert protocol["guess"] == {"share": 0, "conditions": [], "models": []}
    assert protocol["applicability"] == []
    assert protocol["disagreement"] == {"route_flagged": True}
    assert protocol["agreement"]["metric"] == "krippendorff_alpha"
    assert protocol["agreement"]["thresholds"] == {"tentative": 0.667, "reliable": 0.8}


def test_all_coded_fields_are_required_but_classes_notes_and_flag():
    fields = complete_protocol({}, SCHEMA)["fields"]
    assert {path for path, rule in fields.items() if not rule["required"]} == {
        "gold_class_match",
        "semantic_cluster_decision.notes",
        "adjudication_required",
    }


def test_fields_are_compared_exactly_and_nominal_with_the_stated_exceptions():
    fields = complete_protocol({}, SCHEMA)["fields"]
    assert {path: (rule["compare"], rule["level"], rule["distance"]) for path, rule in fields.items()} == {
        "semantic_cluster_decision": ("exact", "nominal", None),
        "semantic_cluster_decision.notes": ("ignored", None, None),
        "gold_class_match": ("set", "set", "masi"),
        "relevance": ("exact", "nominal", None),
        "factuality": ("exact", "nominal", None),
        "r_meta_class": ("exact", "nominal", None),
        "elicitation_signal": ("exact", "nominal", None),
        "confidence": ("ignored", "interval", None),
        "adjudication_required": ("ignored", None, None),
    }


def test_every_key_is_described_and_has_a_default():
    def keys(node, place):
        for name, child in node["properties"].items():
            yield f"{place}/{name}", child
            if "properties" in child:
                yield from keys(child, f"{place}/{name}")

    for place, child in keys(shape("protocol"), ""):
        assert child.get("description"), place
        assert "default" in child, place


def test_complete_protocol_is_left_as_it_is():
    protocol = complete_protocol({"grace_minutes": 5, "fields": {"confidence": {"compare": "exact"}}}, SCHEMA)
    assert protocol["grace_minutes"] == 5
    assert complete_protocol(protocol, SCHEMA) == protocol
    assert check_protocol(protocol, SCHEMA) == []


def test_completing_changes_nothing_that_was_given():
    given = {"fields": {"confidence": {"compare": "exact"}}, "guess": {"share": 0.1}}
    first = complete_protocol(given, SCHEMA)
    first["guess"]["conditions"].append("A")
    assert given == {"fields": {"confidence": {"compare": "exact"}}, "guess": {"share": 0.1}}
    assert complete_protocol({}, SCHEMA)["guess"]["conditions"] == []


@pytest.mark.parametrize(("given", "number"), [(True, 2), (False, 0), (1, 1), (0, 0)])
def test_exemplars_are_a_number_or_on_and_off(given, number):
    assert complete_protocol({"exemplars": given}, SCHEMA)["exemplars"] == number


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"grace": 10}, "/grace"),
        ({"grace_minutes": -1}, "/grace_minutes"),
        ({"grace_minutes": "10"}, "/grace_minutes"),
        ({"spacing": 1.5}, "/spacing"),
        ({"presentation": "html"}, "/presentation"),
        ({"adjudication": {"sham_share": 1.1}}, "/adjudication/sham_share"),
        ({"adjudication": {"shams": 1}}, "/adjudication/shams"),
        ({"fields": {"relevance": {"weight": 1}}}, "/fields/relevance/weight"),
        ({"agreement": {"metric": "pearson"}}, "/agreement/metric"),
        ({"agreement": {"thresholds": {"tentative": 0.9}}}, "/agreement/thresholds"),
        ({"guess": {"models": [""]}}, "/guess/models/0"),
        ({"forbidden_vocabulary": ["a", "a"]}, "/forbidden_vocabulary"),
        ({"claim_fields": ["relevance", "tone"]}, "/claim_fields/1"),
        ({"exemplars": 3}, "/exemplars"),
        ({"calibration": {"pass": 2}}, "/calibration/pass"),
    ],
)
def test_wrong_protocol_is_refused_by_its_place(document, place):
    assert places(**document) == [place]


@pytest.mark.parametrize("document", [None, [], "protocol"])
def test_what_is_no_object_is_refused(document):
    assert [problem.place for problem in check_protocol(document, SCHEMA)] == [""]


@pytest.mark.parametrize(
    ("path", "rule", "place"),
    [
        ("tone", {}, "/fields/tone"),
        ("record_id", {}, "/fields/record_id"),
        ("semantic_cluster_decision.decision", {}, "/fields/semantic_cluster_decision.decision"),
        ("semantic_cluster_decision", {"required": False}, "/fields/semantic_cluster_decision/required"),
        ("semantic_cluster_decision", {"compare": "set"}, "/fields/semantic_cluster_decision/compare"),
        ("relevance", {"compare": "tolerance", "tolerance": 1}, "/fields/relevance/compare"),
        ("relevance", {"tolerance": 1}, "/fields/relevance/tolerance"),
        ("confidence", {"compare": "tolerance"}, "/fields/confidence/tolerance"),
        ("relevance", {"level": "interval"}, "/fields/relevance/level"),
        ("gold_class_match", {"level": "nominal"}, "/fields/gold_class_match/level"),
        ("gold_class_match", {"compare": "exact"}, "/fields/gold_class_match/compare"),
        ("relevance", {"distance": "masi"}, "/fields/relevance/distance"),
        ("gold_class_match", {"distance": None}, "/fields/gold_class_match/distance"),
        ("adjudication_required", {"compare": "exact"}, "/fields/adjudication_required/compare"),
        (
            "semantic_cluster_decision.notes",
            {"level": "nominal"},
            "/fields/semantic_cluster_decision.notes/level",
        ),
        ("relevance", {"missing": ["maybe"]}, "/fields/relevance/missing"),
    ],
)
def test_rule_that_does_not_fit_its_field_is_refused_by_its_place(path, rule, place):
    assert of_field(path, **rule) == [place]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("confidence", {"compare": "tolerance", "tolerance": 0.1}),
        ("confidence", {"required": False, "level": "ordinal"}),
        ("relevance", {"required": False, "compare": "ignored", "level": None}),
        ("factuality", {"level": "ordinal", "missing": ["uncertain"]}),
        ("gold_class_match", {"required": True, "distance": "overlap"}),
        ("gold_class_match", {"compare": "ignored", "level": None}),
        ("semantic_cluster_decision.notes", {"required": True}),
    ],
)
def test_rule_that_fits_is_accepted(path, rule):
    assert of_field(path, **rule) == []


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ({"when": {"relevance": "irrelevant"}, "then": {"factuality": "not_applicable"}}, None),
        (
            {"when": {"semantic_cluster_decision.decision": "uncertain"}, "then": {"relevance": "uncertain"}},
            None,
        ),
        ({"when": {"relevance": ["irrelevant", "uncertain"]}, "then": {"factuality": "uncertain"}}, None),
        ({"when": {"tone": "angry"}, "then": {"factuality": "uncertain"}}, "/when/tone"),
        ({"when": {"relevance": "bad"}, "then": {"factuality": "uncertain"}}, "/when/relevance"),
        ({"when": {"relevance": "irrelevant"}, "then": {"factuality": "bad"}}, "/then/factuality"),
        ({"when": {"relevance": "irrelevant"}, "then": {"confidence": 1}}, "/then/confidence"),
        ({"when": {"relevance": "irrelevant"}, "then": {"relevance": "relevant"}}, "/then/relevance"),
        (
            {
                "when": {"relevance": "irrelevant"},
                "then": {"semantic_cluster_decision.decision": "uncertain"},
            },
            "/then/semantic_cluster_decision.decision",
        ),
        ({"when": {}, "then": {"factuality": "uncertain"}}, "/when"),
    ],
)
def test_applicability_rules_name_fields_and_values(rule, place):
    assert places(applicability=[rule]) == ([] if place is None else [f"/applicability/0{place}"])


def test_hash_is_over_canonical_json():
    protocol = complete_protocol({}, SCHEMA)
    backwards = dict(reversed(protocol.items()))
    assert protocol_hash(protocol) == protocol_hash(backwards)
    assert protocol_hash(protocol | {"grace_minutes": 11}) != protocol_hash(protocol)
    assert protocol_hash(protocol | {"grace_minutes": 10.0}) == protocol_hash(protocol)
