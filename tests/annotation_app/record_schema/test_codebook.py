import copy
import re

import pytest

from annotation_app.record_schema import (
    Codebook,
    check_codebook,
    codebook_hash,
    complete_codebook,
    default_codebook,
    label_mapping,
    mapping_hash,
    shipped_schema,
)
from tests.annotation_app.record_schema.builders import second_schema

SCHEMA = shipped_schema()


def no_hits(text):
    return ()


def hits_of(*words):
    return lambda text: [word for word in words if word in text.lower()]


def problems(fields=None, hits=no_hits, schema=SCHEMA, **changes):
    document = {"version": "2.0", "kind": "clarification", "text": "Rules.", "fields": fields or {}} | changes
    return [problem.place for problem in check_codebook(document, schema, hits)]


@pytest.mark.parametrize("schema", [SCHEMA, second_schema()])
def test_codebook_a_study_starts_with_has_no_problem(schema):
    assert check_codebook(default_codebook(schema), schema, no_hits) == []


def test_shipped_codebook_is_neutral_and_says_something_of_every_field_and_value():
    document = default_codebook(SCHEMA)
    telling = re.compile(
        r"t.theory|theor|r.meta|gold.class|positive.control|opposition|hierarch|\bmodel|\bcondition", re.I
    )
    assert not telling.search(document["text"])
    for path, entry in document["fields"].items():
        assert entry["label"], path
        assert entry["help"], path
        texts = [entry["label"], entry["help"]]
        for option in entry.get("options", {}).values():
            texts += [option["label"], option.get("anchor", "")]
        assert not any(telling.search(text) for text in texts)
    enums = ["semantic_cluster_decision", "relevance", "factuality", "r_meta_class", "elicitation_signal"]
    assert all(option["anchor"] for path in enums for option in document["fields"][path]["options"].values())


def test_shipped_codebook_covers_every_field_and_value():
    fields = default_codebook(SCHEMA)["fields"]
    nodes = SCHEMA.document["properties"]
    for path in ("relevance", "factuality", "r_meta_class", "elicitation_signal"):
        assert list(fields[path]["options"]) == nodes[path]["enum"]
    decision = nodes["semantic_cluster_decision"]["properties"]["decision"]["enum"]
    assert list(fields["semantic_cluster_decision"]["options"]) == decision


def test_partial_codebook_is_completed_from_the_shipped_one():
    document = {
        "version": "1.1",
        "kind": "clarification",
        "fields": {"relevance": {"help": "Read it twice."}},
    }
    whole = complete_codebook(document, SCHEMA)
    assert whole["fields"]["relevance"]["help"] == "Read it twice."
    assert whole["fields"]["relevance"]["label"] == "Relevance"
    assert whole["fields"]["relevance"]["options"]["irrelevant"]["hotkey"] == "w"
    assert whole["fields"].keys() == default_codebook(SCHEMA)["fields"].keys()
    assert whole["version"] == "1.1"


def test_own_hotkey_comes_before_one_that_is_filled_in():
    fields = {"relevance": {"options": {"relevant": {"hotkey": "A"}}}}
    assert problems(fields) == []
    whole = complete_codebook({"version": "2", "fields": fields}, SCHEMA)
    assert "hotkey" not in whole["fields"]["factuality"]["options"]["supported"]


def test_words_for_decisions_may_stand_under_the_path_of_the_decision():
    options = {"confirm": {"label": "It stays"}}
    whole = complete_codebook(
        {"version": "2", "fields": {"semantic_cluster_decision.decision": {"options": options}}}, SCHEMA
    )
    assert whole["fields"]["semantic_cluster_decision"]["options"]["confirm"]["label"] == "It stays"
    assert problems({"semantic_cluster_decision.decision": {"options": options}}) == []
    assert problems({"semantic_cluster_decision.decision": {"options": {"keep": {}}}}) == [
        "/fields/semantic_cluster_decision.decision/options/keep"
    ]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"version": ""}, "/version"),
        ({"version": "1.0\n"}, "/version"),
        ({"version": "a b"}, "/version"),
        ({"kind": "big"}, "/kind"),
        ({"text": 3}, "/text"),
        ({"colour": "red"}, "/colour"),
        ({"fields": {"relevance": {"label": "  "}}}, "/fields/relevance/label"),
        ({"fields": {"relevance": {"colour": "red"}}}, "/fields/relevance/colour"),
        (
            {"fields": {"relevance": {"options": {"relevant": {"hotkey": "ab"}}}}},
            "/fields/relevance/options/relevant/hotkey",
        ),
        ({"fields": {"nowhere": {"label": "x"}}}, "/fields/nowhere"),
        ({"fields": {"task_id": {"label": "x"}}}, "/fields/task_id"),
        (
            {"fields": {"relevance": {"options": {"maybe": {"label": "x"}}}}},
            "/fields/relevance/options/maybe",
        ),
    ],
)
def test_wrong_codebook_is_refused_by_its_place(changes, place):
    assert problems(**changes) == [place]


def test_codebook_without_a_version_is_refused():
    assert [p.place for p in check_codebook({"text": ""}, SCHEMA, no_hits)] == [""]
    assert [p.place for p in check_codebook([], SCHEMA, no_hits)] == [""]


@pytest.mark.parametrize("key", ["Q", "q"])
def test_two_options_with_one_hotkey_are_refused(key):
    fields = {
        "factuality": {"options": {"mixed": {"hotkey": key}}},
        "relevance": {"options": {"relevant": {"hotkey": "q"}}},
    }
    assert problems(fields) == ["/fields/factuality/options/mixed/hotkey"]


@pytest.mark.parametrize("key", ["/", "t", "T", "+", "-", "6", "9"])
def test_hotkey_that_the_page_uses_itself_is_refused(key):
    assert problems({"relevance": {"options": {"relevant": {"hotkey": key}}}}) == [
        "/fields/relevance/options/relevant/hotkey"
    ]


def test_digits_are_free_where_no_cluster_is_merged():
    fields = {"tone": {"options": {"angry": {"hotkey": "9"}}}}
    assert problems(fields, schema=second_schema()) == []


def test_labels_of_one_field_differ():
    fields = {"relevance": {"options": {"irrelevant": {"label": " relevant "}}}}
    assert problems(fields) == ["/fields/relevance/options/irrelevant/label"]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"text": "A word on Theory."}, "/text"),
        ({"version": "theory-1"}, "/version"),
        ({"fields": {"relevance": {"label": "Theory"}}}, "/fields/relevance/label"),
        ({"fields": {"relevance": {"help": "Think of theory."}}}, "/fields/relevance/help"),
        (
            {"fields": {"relevance": {"options": {"relevant": {"label": "theory"}}}}},
            "/fields/relevance/options/relevant/label",
        ),
        (
            {"fields": {"relevance": {"options": {"relevant": {"anchor": "in theory"}}}}},
            "/fields/relevance/options/relevant/anchor",
        ),
    ],
)
def test_forbidden_word_is_refused_by_its_place(changes, place):
    assert problems(hits=hits_of("theory"), **changes) == [place]


def test_schema_words_that_name_a_field_are_not_shown_and_not_refused():
    assert problems({"r_meta_class": {"label": "Pattern"}}, hits=hits_of("r_meta", "opposition")) == []


def test_generated_label_with_a_hit_is_replaced_by_a_number():
    document = default_codebook(second_schema(), hits_of("tone", "money"))
    assert document["fields"]["tone"]["label"] == "Field 1"
    assert document["fields"]["asks_for"]["options"]["money"]["label"] == "Option 2"
    assert document["fields"]["asks_for"]["options"]["several_things"]["label"] == "Several things"


def test_mapping_of_labels_to_values_is_hashed():
    document = default_codebook(SCHEMA)
    assert (
        label_mapping(document, SCHEMA)["r_meta_class"]["options"]["hierarchy_replaced_opposition"]
        == "Becomes a ranking"
    )
    helped, relabelled = copy.deepcopy(document), copy.deepcopy(document)
    helped["fields"]["relevance"]["help"] += "!"
    relabelled["fields"]["relevance"]["options"]["relevant"]["label"] = "On topic"
    assert mapping_hash(helped, SCHEMA) == mapping_hash(document, SCHEMA) != mapping_hash(relabelled, SCHEMA)
    assert codebook_hash(helped, SCHEMA) != codebook_hash(document, SCHEMA)


def test_codebook_is_not_shared_between_studies():
    default_codebook(SCHEMA)["fields"]["relevance"]["label"] = "Changed"
    assert default_codebook(SCHEMA)["fields"]["relevance"]["label"] == "Relevance"


def test_hotkeys_are_read_in_lower_case():
    fields = {"relevance": {"options": {"relevant": {"hotkey": "Q"}}}}
    codebook = Codebook.of({"version": "2", "fields": fields}, SCHEMA)
    assert codebook.fields["relevance"].options["relevant"].hotkey == "q"
