"""Lint of what we write for coders against words that would tell the theory or the arms. Pure.

The words stay on the server; whoever wrote a text learns where it has one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from blinding.redaction.folding import fold

LONG = 6  # letters from which a word is also seen where a space or hyphen parts it elsewhere
STEM = 4  # letters that stay when an ending is taken off
_endings = (
    "s es ed er ers ing ings ly y ies ity ities e al ally als ic ics ical ism ist ists ise ised ises"
    " ising ize ized izes izing isation isations ization izations alize alized alizing alization"
    " alizations etic etical etically ate ated ates ating ator ators ation ations ational ion ions"
    " ition itions ite ites ive ively ment ments ement ements ness nesses ful able ible ance ances"
    " ence ences ant ants ent ents ous ary ory"
)
ENDINGS = sorted(_endings.split(), key=len, reverse=True)
NEVER_AFTER = {"s": "sui"}  # "class", "status", "analysis" are no plurals
TELLING_NAME = re.compile(r"^[a-z]_|(^|_)(gold|theory|hypothesis)(_|$)")
TELLING_VALUES = re.compile(r"(^|_)elicitation(_|$)")
TELLING_PHRASES = ("gold class", "gold standard", "positive control", "negative control", "ground truth")
FIELD_SUFFIXES = ("_visible_to_annotator", "_class", "_match")

_token = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_gap = re.compile(r"[\s\-_/*·|'\"()]{0,3}|\.")
_spaceless = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A forbidden word and where it stands in the text, in code points."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Token:
    letters: str
    start: int
    end: int


class Vocabulary:
    """Forbidden words, found in any case, inflection, spacing and look-alike spelling.

    A word with an underscore is the name of a value: "possible_mirroring" is not seen where spaces part it,
    and would have to be given with spaces too."""

    def __init__(self, words: Iterable[str]):
        self._sequences: dict[tuple[str, ...], str] = {}
        self._joined: dict[str, str] = {}
        self._spaceless: dict[str, str] = {}
        for word in sorted(set(words)):
            letters = [token.letters for token in _tokens(fold(word).text)]
            if not letters:
                continue
            if _spaceless.search(word):
                self._spaceless[fold(word).text.lower()] = word
            self._sequences.setdefault(tuple(map(stem, letters)), word)
            self._joined.setdefault(stem("".join(letters)), word)
        self._words = max(map(len, self._sequences), default=0) + 1
        self._letters = max(map(len, self._joined), default=0) + max(map(len, ENDINGS))

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self._sequences)} words>"

    def hits(self, text: str) -> list[Hit]:
        """Return where `text` contains forbidden words, in order, the longest at each place."""
        folded = fold(text)
        tokens = _tokens(folded.text)
        places = [*self._token_hits(folded.text, tokens), *self._letter_hits(folded.text)]
        out: list[Hit] = []
        for start, end, word in sorted(places, key=lambda place: (place[0], -place[1], place[2])):
            hit = Hit(word, *folded.span(start, end))
            if not out or hit.start >= out[-1].end:
                out.append(hit)
        return out

    def _token_hits(self, text: str, tokens: list[_Token]) -> Iterator[tuple[int, int, str]]:
        for first in range(len(tokens)):
            for stop in range(first + 1, len(tokens) + 1):
                run = tokens[first:stop]
                if len(run) > 1 and not _gap.fullmatch(text[run[-2].end : run[-1].start]):
                    break
                if len(run) > (self._letters if run[-1].end - run[-1].start == 1 else self._words):
                    break
                word = self._word_of([token.letters for token in run])
                if word and not ("_" in word and _has_space(text[run[0].start : run[-1].end])):
                    yield run[0].start, run[-1].end, word

    def _word_of(self, letters: list[str]) -> str | None:
        """Return the forbidden word that some tokens in a row spell: as its own words, as one, or letter by
        letter."""
        if word := self._sequences.get(tuple(map(stem, letters))):
            return word
        joined = "".join(letters)
        one = len(letters) == 1
        spelled = max(map(len, letters)) == 1
        if one or spelled or (len(joined) >= LONG and len(letters) == 2):
            return self._joined.get(stem(joined))
        return None

    def _letter_hits(self, text: str) -> Iterator[tuple[int, int, str]]:
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        for letters, word in self._spaceless.items():
            start = lowered.find(letters)
            while start >= 0:
                yield start, start + len(letters), word
                start = lowered.find(letters, start + 1)


@lru_cache(10_000)
def stem(token: str) -> str:
    """Return what inflected and derived forms of a token share; rough, and the same on both sides of a
    comparison."""
    letters = token.lower()
    if not letters.isascii():
        return letters[:-2] if len(letters) >= LONG else letters
    letters = _without_ending(_without_ending(letters))
    return letters[:-1] if letters[-2:-1] == letters[-1:] else letters


def _without_ending(letters: str) -> str:
    for ending in ENDINGS:
        rest = letters.removesuffix(ending)
        if rest != letters and len(rest) >= STEM and rest[-1] not in NEVER_AFTER.get(ending, ""):
            return rest
    return letters


def words_of_schema(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names and raw values of a record schema that would tell the theory behind it.

    These are names of fields in a theory's notation (`t_…`, `r_…`) or about gold classes and the values that
    no other field has, both also with spaces; raw values of fields about elicitation; and phrases that name
    controls."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    named = {name for name in fields if TELLING_NAME.search(name)}
    telling = named | {name for name in fields if TELLING_VALUES.search(name)}
    plain = {value for name in fields.keys() - telling for value in _values(fields[name])}
    shared = plain | _repeated(fields[name] for name in telling)
    words = {value for name in telling for value in _values(fields[name])} - shared
    notation = {value for name in named for value in _values(fields[name])} - shared
    for name in named:
        notation |= {name, *(name.removesuffix(suffix) for suffix in FIELD_SUFFIXES)}
    words |= notation | {name.replace("_", " ") for name in notation}
    prose = " ".join([*fields, *_descriptions(schema)]).replace("_", " ").lower()
    return frozenset(words | {phrase for phrase in TELLING_PHRASES if phrase in prose})


def lint_texts(places: Mapping[str, str], words: Iterable[str]) -> list[tuple[str, str]]:
    """Return `(place, word)` for each forbidden word in each of the named texts, in the order of `places`."""
    vocabulary = Vocabulary(words)
    return [
        (place, word)
        for place, text in places.items()
        for word in dict.fromkeys(hit.word for hit in vocabulary.hits(text))
    ]


def _tokens(text: str) -> list[_Token]:
    """Return words and numbers, parted where case or kind changes; the "t" of "don't" is none."""
    return [
        _Token(found[0], found.start(), found.end())
        for found in _token.finditer(text)
        if len(found[0]) > 1 or text[found.start() - 1 : found.start()] != "'"
    ]


def _has_space(text: str) -> bool:
    return any(map(str.isspace, text))


def _values(node: Any) -> Iterator[str]:
    """Yield the strings that a schema offers as values, at any depth."""
    if isinstance(node, Mapping):
        yield from (value for value in node.get("enum", ()) if isinstance(value, str))
        if isinstance(node.get("const"), str):
            yield node["const"]
        for child in node.values():
            yield from _values(child)
    elif isinstance(node, list):
        for child in node:
            yield from _values(child)


def _repeated(nodes: Iterable[Any]) -> set[str]:
    seen: set[str] = set()
    again: set[str] = set()
    for node in nodes:
        values = set(_values(node))
        again |= values & seen
        seen |= values
    return again


def _descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("description"), str):
            yield node["description"]
        for child in node.values():
            yield from _descriptions(child)
