from collections import defaultdict

import pytest

from blinding.redaction.finder import Finder
from blinding.redaction.spans import mask
from tests.blinding.redaction.corpus import false_alarms, recall, sentences

CORPUS = sentences()
FINDER = Finder()


def test_the_corpus_is_as_large_and_wide_as_the_figures_claim():
    innocent = [sentence for sentence in CORPUS if sentence.is_innocent]
    assert len({sentence.text for sentence in CORPUS}) == len(CORPUS) >= 350
    assert len(innocent) >= 140
    assert len({sentence.lang for sentence in CORPUS if sentence.group == "self"}) >= 25


def test_recall_on_the_corpus():
    assert recall(FINDER, CORPUS) >= 0.985


def test_false_alarms_on_the_corpus():
    assert false_alarms(FINDER, CORPUS) <= 0.015


@pytest.mark.parametrize(
    ("group", "least"),
    [
        ("self", 0.99),
        ("later", 0.97),
        ("disguised", 0.90),
        ("named", 1.0),
        ("token", 1.0),
        ("link", 1.0),
        ("cutoff", 1.0),
        ("refusal", 1.0),
        ("ambiguous", 1.0),
    ],
)
def test_recall_by_group(group, least):
    assert recall(FINDER, [sentence for sentence in CORPUS if sentence.group == group]) >= least


def test_self_naming_is_found_in_every_language_of_the_corpus():
    by_language = defaultdict(list)
    for sentence in CORPUS:
        if sentence.group == "self":
            by_language[sentence.lang].append(sentence)
    assert {lang: round(recall(FINDER, found), 2) for lang, found in by_language.items()} == dict.fromkeys(
        by_language, 1.0
    )


def test_a_term_has_one_lexicon_id_and_an_id_one_term():
    pairs = {(span.term, span.lexicon_id) for sentence in CORPUS for span in FINDER.find(sentence.text)}
    assert len({term for term, _ in pairs}) == len(pairs) == len({lexicon_id for _, lexicon_id in pairs})


def test_nothing_is_found_in_the_corpus_once_it_is_masked():
    for sentence in CORPUS:
        masked = mask(sentence.text, FINDER.find(sentence.text))
        assert FINDER.find(masked) == [], sentence.text
