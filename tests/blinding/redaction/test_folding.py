from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.redaction.folding import fold


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Сlаudе", "Claude"),
        ("ＧＰＴ－４", "GPT-4"),
        ("𝐂𝓁𝖺𝚞𝕕𝘦", "Claude"),
        ("ᴄʟᴀᴜᴅᴇ", "Claude".lower()),
        ("Ⓒⓛⓐⓤⓓⓔ", "Claude"),
        ("modèle d’été", "modele d'ete"),
        ("Cla\u00adu\u200ed\u0336e", "Claude"),
        ("Ελλάδα", "Eλλaδa"),
        ("がカ한국어中", "がカ한국어中"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_look_alikes_become_plain(text, plain):
    assert fold(text).text == plain


def test_offsets_point_into_the_text_as_it_was():
    text = "x C\u00adl\u0336a y"
    folded = fold(text)
    start, end = folded.span(2, 5)
    assert folded.text[2:5] == "Cla"
    assert text[start:end] == "C\u00adl\u0336a"


def test_marks_on_the_last_letter_belong_to_the_span():
    text = "e\u0336\u0336 x"
    assert fold(text).span(0, 1) == (0, 3)


@given(st.text(max_size=60))
def test_every_folded_character_has_one_origin(text):
    folded = fold(text)
    spans = [folded.span(place, place + 1) for place in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[0] < two[0] for one, two in pairwise(spans))


@given(st.text(max_size=60))
def test_folding_is_settled_after_one_time(text):
    once = fold(text).text
    assert fold(once).text == once
