"""Places in a text, in code points, and the neutral word that takes their stead. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

MASK = "[name removed]"

Kind = Literal["lexicon", "label", "vocabulary", "own"]


@dataclass(frozen=True, slots=True)
class Span:
    """The code points `[start, end)` of a text, why they are named, and the term under which people decide
    on them.

    `lexicon_id` is empty for all but the lexicon."""

    start: int
    end: int
    kind: Kind
    term: str
    lexicon_id: str = ""


def united(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Return the places that `spans` cover, in order, overlapping and touching ones as one."""
    places: list[tuple[int, int]] = []
    for start, end in sorted((span.start, span.end) for span in spans):
        if places and start <= places[-1][1]:
            places[-1] = places[-1][0], max(end, places[-1][1])
        else:
            places.append((start, end))
    return places


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return `spans` in order, those of one kind and term that overlap as one; different terms may
    overlap."""
    places: dict[tuple[Kind, str, str], list[Span]] = {}
    for span in sorted(spans, key=_order):
        known = places.setdefault((span.kind, span.term, span.lexicon_id), [])
        if known and span.start < known[-1].end:
            known[-1] = replace(known[-1], end=max(span.end, known[-1].end))
        else:
            known.append(span)
    return sorted((span for known in places.values() for span in known), key=_order)


def _order(span: Span) -> tuple[int, int, str, str, str]:
    return span.start, span.end, span.kind, span.term, span.lexicon_id


def mask(text: str, spans: Iterable[Span]) -> str:
    """Return `text` with the neutral word in place of every span; overlapping and touching spans become one
    mask.

    Raises ValueError where a span lies outside the text."""
    pieces: list[str] = []
    position = 0
    for start, end in united(spans):
        if not 0 <= start < end <= len(text):
            raise ValueError("a span lies outside the text")
        pieces += text[position:start], MASK
        position = end
    return "".join([*pieces, text[position:]])


def masks(spans: Iterable[Span]) -> int:
    """Return how many masks `mask` would set for `spans`."""
    return len(united(spans))
