"""Places in a text, in code points, and the neutral word that takes their stead. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

MASK = "[name removed]"

# What stands between the words of one name, within a line: spaces, a genitive, or a mark that binds ("a/b", "a-b", "a - b").
# What separates names in a sentence or a list (comma, full stop with a space, bracket, line break) does not.
_SPACE = r"[ \t\u00A0\u2000-\u200A\u202F\u205F\u3000]"
_WITHIN_A_NAME = re.compile(
    rf"(?:['’]s)?{_SPACE}{{1,3}}|{_SPACE}?[-\u2010\u2011/]{_SPACE}?|[\u2012\u2013\u2212_.:@+·・]"
)

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
    """Return `text` with the neutral word in place of every span.

    Spans that overlap, touch or make up one name become one mask, together with a mask that stands there already: how
    many words a name has tells which it is. Raises ValueError where a span lies outside the text."""
    pieces: list[str] = []
    position = 0
    for place in _names(text, spans):
        pieces += text[position : place.start], MASK
        position = place.end
    return "".join([*pieces, text[position:]])


def masks(text: str, spans: Iterable[Span]) -> int:
    """Return how many masks more than `text` its masked form has: 0 where a new one joins one that was there."""
    return sum(1 - place.masks for place in _names(text, spans))


class _Place(NamedTuple):
    """What one mask takes the stead of; `masks`: how many are in it already."""

    start: int
    end: int
    masks: int
    is_new: bool


def _names(text: str, spans: Iterable[Span]) -> list[_Place]:
    """Return in order the places of whole names that are to be masked."""
    places = united(spans)
    if any(not 0 <= start < end <= len(text) for start, end in places):
        raise ValueError("a span lies outside the text")
    new = [_Place(start, end, 0, True) for start, end in places]
    joined: list[_Place] = []
    for place in sorted([*new, *_masks_in(text, places)]) if new else ():
        last = joined[-1] if joined else None
        if last and _WITHIN_A_NAME.fullmatch(text, last.end, place.start):
            joined[-1] = _Place(last.start, place.end, last.masks + place.masks, last.is_new or place.is_new)
        else:
            joined.append(place)
    return [place for place in joined if place.is_new]


def _masks_in(text: str, places: Sequence[tuple[int, int]]) -> Iterator[_Place]:
    """Yield the masks that stand in a text already and outside of `places`."""
    found = text.find(MASK)
    while found >= 0:
        end = found + len(MASK)
        before = bisect_left(
            places, (end,)
        )  # so many begin before the mask ends; the last of them may reach into it
        if not before or places[before - 1][1] <= found:
            yield _Place(found, end, 1, False)
        found = text.find(MASK, end)
