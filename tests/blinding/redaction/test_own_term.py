"""A term added at review is found as the values of a batch are."""

import pytest

from blinding.redaction.own_term import OwnTerm
from blinding.redaction.spans import Span


def found(term: str, text: str) -> list[str]:
    return [text[span.start : span.end] for span in OwnTerm(term).find(text)]


@pytest.mark.parametrize(
    ("term", "text", "places"),
    [
        ("Kestrel", "As Kestrel, I say: ask kestrel, not KESTREL.", ["Kestrel", "kestrel", "KESTREL"]),
        ("Kestrel", "The kestrels fly; kestrelling does not.", ["kestrels"]),
        ("blue heron", "A Blue-Heron and a blueheron.", ["Blue-Heron", "blueheron"]),
        ("Kestrel", "K\u0435str\u0435l with two letters that look Latin", ["K\u0435str\u0435l"]),
        ("2026", "In 2026 it rained.", ["2026"]),
        ("Kestrel", "Nothing of the kind.", []),
    ],
)
def test_a_term_is_found_as_whole_words_whatever_their_case(term: str, text: str, places: list[str]) -> None:
    assert found(term, text) == places


def test_all_its_places_are_under_the_term_as_it_was_written() -> None:
    assert OwnTerm("Kestrel").find("kestrel KESTREL") == [
        Span(0, 7, "own", "Kestrel"),
        Span(8, 15, "own", "Kestrel"),
    ]


@pytest.mark.parametrize("term", ["", " ", "x", "12", "?!"])
def test_what_would_stand_everywhere_or_says_nothing_is_refused(term: str) -> None:
    with pytest.raises(ValueError, match="nothing to look for"):
        OwnTerm(term)
