import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.redaction.spans import MASK, Span, mask, masks, merged, united

TEXT = "ab cd ef gh"
UNBOUND = "ab,cd,ef,gh"  # no two words of it make up a name


def span(start, end, term="Claude"):
    return Span(start, end, "lexicon", term, f"model.{term.lower()}")


def test_each_span_becomes_one_neutral_word():
    assert (
        mask("I am Claude, not GPT-4.", [span(5, 11), span(17, 22, "GPT-4")]) == f"I am {MASK}, not {MASK}."
    )


def test_offsets_are_code_points():
    assert mask("👨‍👩 Claude é", [span(4, 10)]) == f"👨‍👩 {MASK} é"


def test_overlapping_and_touching_spans_become_one_mask():
    spans = [span(0, 4), span(3, 6, "GPT"), span(6, 8, "LLM")]
    assert mask(TEXT, spans) == f"{MASK} gh"[0 : len(MASK)] + TEXT[8:]
    assert masks(TEXT, spans) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("As <Claude> <3.5> <Sonnet>, I", "As #, I"),
        ("<OpenAI>\u00a0<GPT-4o mini>", "#"),
        ("<openai>/<gpt-4o>", "#"),
        ("<claude>-<3.5>-<sonnet>@<20241022>", "#"),
        ("<Meta> - <Llama> here", "# here"),
        ("<Anthropic>’s <Claude> and <Google>'s <Gemini>", "# and #"),
        ("<Claude>, <GPT-4> and <Gemini>", "#, # and #"),
        ("I am <Claude>. <OpenAI> made others.", "I am #. # made others."),
        ("- <Claude>\n- <Gemini>", "- #\n- #"),
        ("<ChatGPT> (<GPT-4>)", "# (#)"),
        ("<DeepSeek> <R1> Distill <Qwen> <32B>", "# Distill #"),
    ],
)
def test_the_words_of_one_name_become_one_mask_and_several_names_stay_several(text, shown):
    plain, found = marked(text)
    assert mask(plain, found).replace(MASK, "#") == shown
    assert masks(plain, found) == shown.count("#")


def marked(text):
    """Return the text without its angle brackets, and a span for what stands in each pair."""
    plain, found = "", []
    for piece in re.split(r"(<[^>]*>)", text):
        word = piece.strip("<>")
        if piece.startswith("<"):
            found.append(span(len(plain), len(plain) + len(word), word))
        plain += word
    return plain, found


def test_a_mask_joins_one_that_stands_there_already():
    text = f"I am {MASK} Sonnet 4, not {MASK}."
    assert mask(text, [span(20, 28, "Sonnet 4")]) == f"I am {MASK}, not {MASK}."
    assert masks(text, [span(20, 28, "Sonnet 4")]) == 0
    assert mask(text, []) == text


def test_spans_of_one_term_that_overlap_are_merged_others_are_kept():
    assert merged([span(3, 6), span(0, 4), span(2, 8, "GPT")]) == [span(0, 6), span(2, 8, "GPT")]


def test_a_span_outside_the_text_is_refused():
    with pytest.raises(ValueError, match="outside"):
        mask("short", [span(3, 9)])


spans = st.lists(
    st.tuples(st.integers(0, 10), st.integers(1, 6), st.sampled_from("AB")).map(
        lambda drawn: span(drawn[0], min(drawn[0] + drawn[1], 11), drawn[2])
    ),
    max_size=8,
)


@given(spans, st.randoms())
def test_merging_depends_on_no_order_and_covers_the_same(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert merged(found) == merged(shuffled) == merged(merged(found))
    assert united(merged(found)) == united(found)


@given(spans)
def test_masking_takes_out_what_is_covered_and_nothing_else(found):
    covered = {place for one in found for place in range(one.start, one.end)}
    left = mask(UNBOUND, found).replace(MASK, "")
    assert left == "".join(letter for place, letter in enumerate(UNBOUND) if place not in covered)
    assert mask(UNBOUND, found).count(MASK) == masks(UNBOUND, found)
