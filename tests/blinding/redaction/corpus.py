"""The corpus of labelled sentences, and how the finder does on it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from blinding.redaction.finder import Finder
from blinding.redaction.spans import Span, united

PATH = Path(__file__).with_name("corpus.jsonl")


@dataclass(frozen=True)
class Sentence:
    """`expect` are the pieces of the text that must be found whole; an innocent sentence has none."""

    text: str
    lang: str
    group: str
    expect: tuple[str, ...]

    @property
    def is_innocent(self) -> bool:
        return self.group == "innocent"

    def missed(self, spans: Iterable[Span]) -> list[str]:
        places = united(spans)
        return [piece for piece in self.expect if not _covered(self.text, piece, places)]


def sentences() -> list[Sentence]:
    with PATH.open(encoding="utf-8") as lines:
        return [Sentence(**{**row, "expect": tuple(row["expect"])}) for row in map(json.loads, lines)]


def recall(finder: Finder, corpus: Iterable[Sentence]) -> float:
    """Return the share of expected pieces that are found."""
    named = [sentence for sentence in corpus if not sentence.is_innocent]
    missed = sum(len(sentence.missed(finder.find(sentence.text))) for sentence in named)
    return 1 - missed / sum(len(sentence.expect) for sentence in named)


def false_alarms(finder: Finder, corpus: Iterable[Sentence]) -> float:
    """Return the share of innocent sentences in which anything is found."""
    innocent = [sentence for sentence in corpus if sentence.is_innocent]
    return sum(bool(finder.find(sentence.text)) for sentence in innocent) / len(innocent)


def _covered(text: str, piece: str, places: list[tuple[int, int]]) -> bool:
    start = text.index(piece)
    return any(first <= start and start + len(piece) <= last for first, last in places)
