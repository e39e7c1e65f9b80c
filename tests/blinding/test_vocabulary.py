import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.vocabulary import Hit, Vocabulary, lint_texts, stem, words_of_schema
from tests.shared_folder import shared

SCHEMA = {
    "properties": {
        "record_id": {"type": "string"},
        "t_theory_visible_to_annotator": {"const": False},
        "condition_visible_to_annotator": {"const": False},
        "gold_class_match": {"type": "array", "description": "only used for preregistered positive controls"},
        "semantic_cluster_decision": {
            "type": "object",
            "properties": {
                "decision": {"enum": ["confirm", "split", "reject_as_nonsemantic_noise", "uncertain"]}
            },
        },
        "relevance": {"enum": ["relevant", "irrelevant", "uncertain", "not_applicable"]},
        "r_meta_class": {
            "enum": ["structural_pluralization", "opposition_displaced", "not_applicable", "uncertain"]
        },
        "elicitation_signal": {
            "enum": ["none_detected", "possible_mirroring", "not_applicable", "uncertain"]
        },
    }
}
WORDS = words_of_schema(SCHEMA)


def words_in(text, words=WORDS):
    return [hit.word for hit in Vocabulary(words).hits(text)]


def test_the_telling_names_of_a_schema_are_its_theory_its_gold_classes_and_their_values():
    names = {
        "t_theory",
        "t_theory_visible_to_annotator",
        "r_meta",
        "r_meta_class",
        "gold_class",
        "gold_class_match",
    }
    values = {"structural_pluralization", "opposition_displaced"}
    spaced = {name.replace("_", " ") for name in names | values}
    assert names | values | spaced | {"positive control", "none_detected", "possible_mirroring"} == WORDS


def test_a_value_two_telling_fields_share_tells_neither():
    enums = {"r_one": {"enum": ["both", "first"]}, "r_two": {"enum": ["both", "second"]}}
    assert {"first", "second"} <= words_of_schema({"properties": enums})
    assert "both" not in words_of_schema({"properties": enums})


def test_a_schema_without_telling_names_forbids_nothing():
    assert words_of_schema({"properties": {"quality": {"enum": ["good", "bad"]}}}) == frozenset()
    assert words_of_schema({}) == frozenset()


def test_the_shipped_schema_of_version_08():
    schema = json.loads(shared("seeds", "pilot-v0.8-annotation.schema.json").read_text("utf-8"))
    words = words_of_schema(schema)
    assert {"t_theory", "r_meta", "gold class", "positive control", "hierarchy_replaced_opposition"} <= words
    assert not words & {"uncertain", "not_applicable", "confirm", "relevance", "elicitation_signal"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Pick the gold class.", "gold class"),
        ("Pick the Gold Classes.", "gold class"),
        ("GOLD-CLASS", "gold class"),
        ("goldClass", "gold class"),
        ("goldclass", "gold class"),
        ("g o l d  c l a s s", "gold class"),
        ("gоld clаss", "gold class"),
        ("go\u200bld cla\u00adss", "gold class"),
        ("gold\nclass", "gold class"),
        ("**gold** class", "gold class"),
        ("positively controlled", "positive control"),
        ("/studies/r-meta-2/", "r meta"),
        ("T theory", "t theory"),
        ("the opposition was none; oppositions displaced", "opposition displaced"),
        ("structural pluralisation", "structural pluralization"),
        ("possible_mirrorings", "possible_mirroring"),
        ("possible-mirroring", "possible_mirroring"),
        ("possibleMirroring", "possible_mirroring"),
    ],
)
def test_words_are_seen_in_any_case_inflection_spacing_and_look_alike(text, word):
    assert word in words_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Confirm, split, or reject the output as noise. Not applicable or uncertain.",
        "Rate the relevance and say how confident you are.",
        "You don't theorise about the text.",
        "Your meta-data stay out; that theory is another.",
        "Possible mirroring. None detected.",
        "A golden class reunion, the control group, positive answers.",
        "Class of gold.",
        "gold. Class dismissed.",
        "",
    ],
)
def test_plain_instructions_are_left_alone(text):
    assert words_in(text) == []


def test_offsets_are_code_points_of_the_text_as_given():
    text = "👩‍🔬 é go\u00adld classes!"
    assert Vocabulary(["gold class"]).hits(text) == [Hit("gold class", 6, 19)]
    assert text[6:19] == "go\u00adld classes"


def test_long_words_are_seen_where_a_hyphen_parts_them_and_short_ones_are_not():
    assert words_in("dia-lectic and dia lectics", ["dialectic"]) == ["dialectic"] * 2
    assert words_in("pl ain", ["plain"]) == []


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("оппозиция", "две оппозиции"),
        ("对立", "主要对立面"),
        ("対立", "対立する"),
        ("übergang", "Übergänge Übergangs"),
    ],
)
def test_other_scripts_and_languages(word, text):
    assert words_in(text, [word])[:1] == [word]


def test_places_are_named_once_for_each_word():
    places = {
        "help of f3": "the gold class, the gold class",
        "title": "Pilot two",
        "key of f5": "possible_mirroring of a gold class",
    }
    assert lint_texts(places, WORDS) == [
        ("help of f3", "gold class"),
        ("key of f5", "possible_mirroring"),
        ("key of f5", "gold class"),
    ]


def test_the_words_are_not_in_what_a_vocabulary_prints():
    assert "gold" not in repr(Vocabulary(WORDS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opposition", "oppositions"),
        ("opposition", "opposed"),
        ("displacement", "displaced"),
        ("mirroring", "mirrored"),
        ("class", "classes"),
        ("control", "controlled"),
        ("theory", "theories"),
        ("pluralization", "pluralising"),
    ],
)
def test_forms_of_a_word_share_a_stem(one, other):
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("noise", "nose"), ("confirm", "conform"), ("status", "state")])
def test_different_words_keep_different_stems(one, other):
    assert stem(one) != stem(other)


words = st.sampled_from(sorted(WORDS))


@given(words, st.text(st.sampled_from("ab .\n,é"), max_size=20))
def test_a_forbidden_word_is_found_in_any_surroundings(word, around):
    text = f"{around}\n{word} {around}"
    assert any(word.startswith(hit.word) or hit.word == word for hit in Vocabulary([word]).hits(text))


@given(st.text(max_size=60))
def test_any_text_can_be_linted(text):
    hits = Vocabulary(WORDS | {"对立", "e"}).hits(text)
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)
    assert all(one.end <= two.start for one, two in pairwise(hits))
