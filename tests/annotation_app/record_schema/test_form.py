import json
import re

import pytest

from annotation_app.record_schema import (
    Codebook,
    Form,
    RecordContext,
    build_form,
    complete_protocol,
    default_codebook,
    placed,
    shape_problems,
    shipped_schema,
)
from tests.annotation_app.record_schema.builders import CONTROL, form_for

RAW_R_META = shipped_schema().document["properties"]["r_meta_class"]["enum"]
RAW_ELICITATION = shipped_schema().document["properties"]["elicitation_signal"]["enum"]


def shown(
    form: Form, context: RecordContext = RecordContext(clusters=("C1", "C2", "C3"), proposed_cluster="C2")
):
    return form.for_coder(
        context.classes, context.clusters, context.proposed_cluster, context.own_new_clusters
    )


def field(form_json, key):
    return next(field for field in form_json["fields"] if field["key"] == key)


def strings(value):
    if isinstance(value, dict):
        yield from value
        yield from (text for child in value.values() for text in strings(child))
    elif isinstance(value, list):
        yield from (text for child in value for text in strings(child))
    elif isinstance(value, str):
        yield value


def test_controls_have_neutral_keys_in_schema_order():
    form = form_for()
    assert {control.key: control.path for control in form.controls} == {
        "f1": "semantic_cluster_decision",
        "f2": "gold_class_match",
        "f3": "relevance",
        "f4": "factuality",
        "f5": "r_meta_class",
        "f6": "elicitation_signal",
        "f7": "confidence",
        "f8": "adjudication_required",
    }
    assert form.keys == {f"f{n}" for n in range(1, 9)} | {"f1-cluster", "f1-target", "f1-notes", "f8-reason"}


TELLING = re.compile(
    r"t.?theory|r.?meta|gold.?class|positive.?control|theor|opposition|visible_to", re.IGNORECASE
)


def tells(text):
    shared = {"not_applicable", "uncertain"}
    raw = (set(RAW_R_META) | set(RAW_ELICITATION)) - shared
    return bool(TELLING.search(text)) or any(value in text for value in raw)


@pytest.mark.parametrize(
    "known", [RecordContext(("C1", "C2"), "C2", own_new_clusters=("N1",)), CONTROL, RecordContext()]
)
def test_no_string_of_the_form_is_telling(known):
    rule = {
        "when": {"r_meta_class": "no_relevant_recurrence"},
        "then": {"elicitation_signal": "none_detected"},
    }
    texts = list(strings(shown(form_for(applicability=[rule]), known)))
    assert len(texts) > 100
    assert [text for text in texts if tells(text)] == []


@pytest.mark.parametrize(
    "planted", ["Gold class", "T-theory", "Opposition displaced", "x probable_mirroring"]
)
def test_telling_string_would_be_found(planted):
    document = default_codebook(shipped_schema())
    document["fields"]["relevance"]["options"]["relevant"]["anchor"] = planted
    codebook = Codebook.of(document, shipped_schema())
    form = build_form(shipped_schema(), codebook, complete_protocol({}, shipped_schema()))
    assert [text for text in strings(shown(form)) if tells(text)] == [planted]


def test_no_word_of_the_schema_is_in_the_form():
    names = set(shipped_schema().document["properties"]) | {"cluster_id", "merge_target", "confirm", "split"}
    values = {
        value for node in shipped_schema().document["properties"].values() for value in node.get("enum", ())
    }
    texts = set(strings(shown(form_for(), CONTROL)))
    assert texts & (names | values) == set()


def test_options_are_numbered_and_labelled_by_the_codebook():
    options = field(shown(form_for()), "f5")["options"]
    assert [option["value"] for option in options] == list("123456789")
    assert options[2]["label"] == "Becomes a ranking"
    assert [option["hotkey"] for option in options] == list("yuiophjkl")


def test_cluster_control_presets_the_proposed_cluster():
    cluster = field(
        shown(form_for(), RecordContext(("C1", "C2", "C3"), "C2", own_new_clusters=("N2", "N1"))), "f1"
    )
    assert cluster["picker"]["preset"] == "C2"
    values = [option["value"] for option in cluster["picker"]["options"]]
    assert values == ["C1", "C2", "C3", "N1", "N2", "new"]
    assert [option["implies"] for option in cluster["picker"]["options"]] == [None, None, None, "3", "3", "3"]
    assert [option["hotkey"] for option in cluster["target"]["options"]] == ["6", "7", "8"]
    assert cluster["options"][1]["opens"] == "f1-target"
    assert not cluster["options"][1]["disabled"]


@pytest.mark.parametrize("when", ["after_own_choice", "never"])
def test_proposed_cluster_is_not_preset_where_the_protocol_hides_it(when):
    form = form_for(show_proposed_cluster=when)
    assert field(shown(form), "f1")["picker"]["preset"] is None
    plain = shown(form, RecordContext(("C1", "C2", "C3")))
    assert shown(form) == plain


@pytest.mark.parametrize("clusters", [(), ("C1",)])
def test_nothing_can_be_merged_without_two_clusters(clusters):
    cluster = field(shown(form_for(), RecordContext(clusters)), "f1")
    assert cluster["options"][1]["disabled"]


def test_new_cluster_goes_with_any_answer_where_the_task_has_none():
    picks = field(shown(form_for(), RecordContext()), "f1")["picker"]["options"]
    assert picks == [{"value": "new", "label": "A new cluster", "implies": None}]


def test_many_clusters_run_out_of_hotkeys_but_not_of_options():
    codes = [f"C{n}" for n in range(1, 8)]
    targets = field(shown(form_for(), RecordContext(codes)), "f1")["target"]["options"]
    assert [target["hotkey"] for target in targets] == ["6", "7", "8", "9", None, None, None]


def test_classes_are_there_only_where_the_task_offers_some():
    assert "f2" not in [item["key"] for item in shown(form_for())["fields"]]
    assert field(shown(form_for(), CONTROL), "f2")["options"] == [
        {"value": "1", "label": "opening", "hotkey": "shift+1", "anchor": ""},
        {"value": "2", "label": "closing", "hotkey": "shift+2", "anchor": ""},
        {"value": "3", "label": "elsewhere", "hotkey": "shift+3", "anchor": ""},
    ]


def test_scale_has_bounds_step_and_words_for_its_ends():
    confidence = field(shown(form_for()), "f7")
    assert {name: confidence[name] for name in ("min", "max", "step", "low", "high")} == {
        "min": 0,
        "max": 1,
        "step": 0.05,
        "low": "a guess",
        "high": "certain",
    }


def test_required_marks_follow_the_protocol():
    marks = {item["key"]: item["required"] for item in shown(form_for(), CONTROL)["fields"]}
    assert marks == {
        "f1": True,
        "f2": False,
        "f3": True,
        "f4": True,
        "f5": True,
        "f6": True,
        "f7": True,
        "f8": False,
    }
    relaxed = shown(form_for(fields={"confidence": {"required": False}}))
    assert not field(relaxed, "f7")["required"]
    assert field(relaxed, "f1")["picker"]["required"]


def test_layout_is_that_of_the_page():
    layout = shown(form_for(), CONTROL)["layout"]
    assert layout == {"columns": [["f1", "f3", "f2", "f1-notes"], ["f4", "f5", "f6"]], "foot": ["f7", "f8"]}
    assert shown(form_for())["layout"]["columns"][0] == ["f1", "f3", "f1-notes"]


def test_placed_gives_templates_the_fields_themselves():
    places = placed(shown(form_for()))
    assert [[item["label"] for item in column] for column in places["columns"]] == [
        ["Cluster decision", "Relevance", "Notes on the clusters"],
        ["Factuality", "Recurrence pattern", "Elicitation signal"],
    ]
    assert [item["label"] for item in places["foot"]] == ["Confidence", "Third opinion"]


def test_short_options_stand_two_in_a_row():
    dense = {item["key"]: item.get("dense") for item in shown(form_for())["fields"]}
    assert [dense[key] for key in ("f3", "f4", "f5", "f6")] == [True, True, False, True]


def test_applicability_rules_are_served_in_neutral_terms():
    rule = {"when": {"relevance": "irrelevant"}, "then": {"factuality": "not_applicable"}}
    assert shown(form_for(applicability=[rule]))["rules"] == [{"when": {"f3": ["2"]}, "then": {"f4": "4"}}]


@pytest.mark.parametrize(
    "known", [RecordContext(), CONTROL, RecordContext(("C1",), "C1", own_new_clusters=("N1",))]
)
def test_form_has_the_published_shape(known):
    item = {
        "task_code": "QF-208",
        "task_statement": "…",
        "reference_material": "",
        "text": "…",
        "classes": [],
        "clusters": [{"code": "C1", "label": "", "exemplars": []}],
        "proposed_cluster": None,
        "form": json.loads(json.dumps(shown(form_for(), known))),
        "codebook_version": "1.0",
        "draft": {"fields": {}, "version": 0},
    }
    place = {"assignment_uid": "0c4e6d6e-8f7f-4a35-9d52-3f3f0b5f6a01", "position": 1, "total": 9}
    assert shape_problems("assignment", item | place) == []
    case = {"case_uid": place["assignment_uid"], "step": 1, "claim_no": 1}
    assert shape_problems("case", item | case) == []
    assert (
        shape_problems(
            "case", item | case | {"step": 2, "disputed": ["f1"], "left": {}, "right": {}, "own": None}
        )
        == []
    )
    assert shape_problems("case", item | case | {"left": {}}) != []
    assert shape_problems("assignment", item | place | {"condition": "x"}) != []
