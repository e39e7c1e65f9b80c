import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blinding.redaction.finder import Finder
from blinding.redaction.spans import MASK, Span, mask

FINDER = Finder()


def found(text, finder=FINDER):
    return [(text[span.start : span.end], span.term) for span in finder.find(text)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Claude, CLAUDE and claude", ["Claude"] * 3),
        ("C l a u d e and Сlaude", ["Claude"] * 2),
        ("GPT-4, gpt4, GPT 4 and G P T - 4", ["GPT-4"] * 4),
        ("GPT-4o-mini and gpt 4o mini", ["GPT-4o Mini"] * 2),
        ("claude-3-5-sonnet and Claude 3.5 Sonnet", ["Claude 3.5 Sonnet"] * 2),
        ("Chat GPT and ChatGPT", ["ChatGPT"] * 2),
        ("Llama 3.1 405B", ["Llama 3.1 405B"]),
        ("Mixtral-8x7B", ["mixtral 8x7B"]),
    ],
)
def test_spellings_of_one_name_share_a_term(text, terms):
    assert [term for _, term in found(text)] == terms


def test_spans_are_code_points_of_the_text_as_given():
    text = "👩‍🔬 é I am Cla\u00adude ok"
    assert FINDER.find(text) == [Span(11, 18, "lexicon", "Claude", "model.claude")]
    assert text[11:18] == "Cla\u00adude"


def test_versions_have_ids_of_their_own():
    assert [span.lexicon_id for span in FINDER.find("GPT-2 is not GPT-4, nor GPT.")] == [
        "model.gpt:2",
        "model.gpt:4",
        "model.gpt",
    ]


@pytest.mark.parametrize(
    "name", ["Claude Sonnet 4", "Claude Opus 4.1", "Claude Haiku 4.5", "Claude 3.5 Sonnet"]
)
def test_a_number_behind_the_last_word_belongs_to_the_name(name):
    text = f"As {name} I answer: {name}, made in May."
    assert mask(text, FINDER.find(text)) == f"As {MASK} I answer: {MASK}, made in May."


def test_a_count_behind_a_name_is_no_version():
    assert found("I asked Claude 3 times.") == [("Claude", "Claude")]
    assert found("The llama 3 years old.") == []


def test_a_person_can_be_kept_while_the_model_is_masked():
    text = "As Claude, I admire Claude Martin."
    assert found(text) == [("Claude", "Claude"), ("Claude", "Claude (with a surname or title)")]
    accepted = [span for span in FINDER.find(text) if span.term == "Claude"]
    assert mask(text, accepted) == f"As {MASK}, I admire Claude Martin."


@pytest.mark.parametrize(
    "text", ["Claude is here.", "Claude and claude", "Claude Opus wrote it.", "Ask Claude!"]
)
def test_a_model_is_not_taken_for_a_person(text):
    assert "Claude (with a surname or title)" not in [term for _, term in found(text)]


def test_a_vendor_can_be_kept_and_its_other_products_are_not_named():
    assert found("Windows from Microsoft") == [("Microsoft", "Microsoft")]
    assert found("Open it in Microsoft Word or Google Maps.") == []


@pytest.mark.parametrize(
    "text", ["A llama in a zoo.", "The bard sang.", "A cold mistral blew.", "I grok it."]
)
def test_everyday_words_are_left_alone(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("I am llama.", "Llama"),
        ("My name is bard", "Bard"),
        ("我是kimi", "Kimi"),
        ("Ich bin mistral.", "Mistral"),
    ],
)
def test_everyday_words_are_names_where_they_name(text, term):
    assert [found_term for _, found_term in found(text)] == [term]


def test_phrases_and_the_names_in_them_are_separate_terms():
    assert found("As an AI language model trained by OpenAI, I pass.") == [
        ("As an AI language model", "as an AI"),
        ("OpenAI", "OpenAI"),
    ]


def test_what_touches_a_token_is_found_too():
    assert found("turn0search3Claude") == [("turn0search3", "citation token"), ("Claude", "Claude")]


def test_names_in_compounds_are_found():
    assert found("askClaude() my_gpt4_key") == [("Claude", "Claude"), ("gpt4", "GPT-4")]


# What the batch and the study add


def test_labels_and_their_parts_are_suggested():
    finder = Finder(labels=["Zephyrine-7", "arm-amber", "quiet_mode_b"])
    spans = finder.find("ZEPHYRINE 7, zephyrine, amber, quiet mode and QuietModeB.")
    assert {span.kind for span in spans} == {"label"}
    assert [span.term for span in spans] == ["zephyrine 7", "zephyrine", "amber", "quiet mode", "quietmodeb"]
    assert {span.lexicon_id for span in spans} == {""}


def test_a_label_term_says_no_more_than_the_text():
    label = "ostler-2-secret-checkpoint"
    spans = Finder(labels=[label]).find("An ostler keeps horses.")
    assert [span.term for span in spans] == ["ostler"]


@pytest.mark.parametrize("label", ["A", "7", "12", "", " - "])
def test_labels_that_stand_everywhere_are_not_looked_for(label):
    assert Finder(labels=[label]).find("A 7 12 B - x") == []


def test_common_words_of_a_label_are_not_looked_for_on_their_own():
    assert found("the model and the base prompt", Finder(labels=["base-model-prompt-x"])) == []


def test_vocabulary_is_suggested_with_its_inflections():
    spans = Finder(vocabulary=["quiverism", "dialectic"]).find("Quiverism is dialectical.")
    assert [(span.kind, span.term) for span in spans] == [
        ("vocabulary", "quiverism"),
        ("vocabulary", "dialectical"),
    ]


def test_a_word_that_is_label_and_vocabulary_is_a_label():
    assert [span.kind for span in Finder(["plain"], ["plain"]).find("plain")] == ["label"]


def test_labels_in_scripts_without_spaces_are_found_inside_a_sentence():
    assert [span.term for span in Finder(labels=["简洁条件"]).find("这是简洁条件下的回答")] == ["简洁条件"]


def test_labels_are_matched_through_look_alikes_and_odd_characters():
    assert [span.term for span in Finder(labels=["(amber)*[x]"]).find("аmbеr x")] == ["amber x"]


def test_terms_beyond_the_limit_are_counted():
    finder = Finder(labels=[f"label{number:05}x" for number in range(5_200)])
    assert finder.left_out > 0
    assert Finder(labels=["one-label"]).left_out == 0


# Properties

NAMES = [
    "Claude",
    "ChatGPT",
    "GPT-4",
    "OpenAI",
    "Anthropic",
    "Gemini",
    "DeepSeek",
    "Qwen2",
    "Mixtral",
    "Hugging Face",
]
FILLERS = [
    "",
    " ",
    ", ",
    ". ",
    "\n",
    " noon ",
    "é ",
    "中",
    "<|im_end|>",
    "turn0search3",
    "(",
    "x ",
    "_",
    "\u200e",
]
texts = st.lists(st.one_of(st.sampled_from(NAMES), st.sampled_from(FILLERS)), max_size=12).map("".join)


@settings(deadline=None)  # automata grow while they meet new texts
@given(texts)
def test_spans_lie_within_the_text_and_in_order(text):
    spans = FINDER.find(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert [span.start for span in spans] == sorted(span.start for span in spans)


@settings(deadline=None)
@given(texts)
def test_a_masked_text_names_nothing(text):
    masked = mask(text, FINDER.find(text))
    assert FINDER.find(masked) == []


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.text(st.characters(codec="utf-8", categories=["Z", "P"]), max_size=5))
def test_a_masked_text_lacks_the_name(name, around):
    text = f"{around} {name} {around}"
    assert name not in mask(text, FINDER.find(text))


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_searched(text):
    for span in Finder(labels=["amber"]).find(text):
        assert 0 <= span.start < span.end <= len(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("abc ,.\u00adé"), max_size=40), st.sampled_from(NAMES))
def test_offsets_hold_whatever_stands_before(before, name):
    text = f"{before} {name}"
    spans = FINDER.find(text)
    assert text[spans[-1].start : spans[-1].end] == name
