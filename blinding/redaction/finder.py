"""What in a text tells where it came from: the lexicon, a batch's own labels, the study's vocabulary. Pure.

A term says no more than the text: it is the lexicon's word for what stands there, or what stands there."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from blinding.redaction.automaton import REMEMBERED, Automaton, Hit, Lookout, context
from blinding.redaction.expressions import bounds, expression
from blinding.redaction.folding import Folded, fold
from blinding.redaction.lexicon import Entry, Form, machine_forms, name_forms, phrase_forms
from blinding.redaction.spans import Kind, Span, merged

BLANK = "\ufffc"  # stands for what was found already: no letter, no gap
PASSES = 3  # what touched one find may be bounded once that is gone
TERMS = 5_000  # of a batch and its study together
TERM_LENGTH, ID_LENGTH = 200, 60
INFLECTED = 4  # letters beyond which a word of the vocabulary may have an ending
_common = (
    "the and for with without from not all none model models arm group condition control test run version"
    " base theory based prompt output text data set new old one two"
)
COMMON = frozenset(_common.split())

_camel = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_separators = re.compile(r"[\s\-_:@*·|/]+")
_digits = re.compile(r"\d{1,2}")


class Finder:
    """Finds what tells in the outputs of one batch.

    `labels` are the batch's own values of condition, model and theory, `vocabulary` the study's words; both
    are only suggested. `left_out` counts their terms beyond the most that are looked for."""

    def __init__(self, labels: Iterable[str] = (), vocabulary: Iterable[str] = ()):
        terms: dict[tuple[str, ...], Kind] = {}
        terms.update((part, "vocabulary") for word in vocabulary for part in wholes(word))
        terms.update((part, "label") for label in labels for part in (*wholes(label), *_parts(label)))
        chosen = sorted(terms, key=lambda part: (len("".join(part)), part))[:TERMS]
        self.left_out = len(terms) - len(chosen)
        self._own = Automaton([own_form(part, terms[part]) for part in chosen])

    def find(self, text: str) -> list[Span]:
        """Return the spans in a cleaned text, in order; those of different terms may overlap."""
        folded = fold(text)
        spans = [_lexicon_span(text, folded, hit) for hit in _lexicon_hits(folded.text)]
        for hit in self._own.hits(folded.text):
            start, end = folded.span(hit.start, hit.end)
            kind: Kind = "label" if hit.form.entry.id == "label" else "vocabulary"
            spans.append(Span(start, end, kind, _as_found(text[start:end])))
        return merged(spans) if spans else spans


@cache
def _lexicon() -> Lookout:
    return Lookout([Automaton(machine_forms()), Automaton(phrase_forms()), Automaton(name_forms())])


def _lexicon_hits(text: str) -> list[Hit]:
    """Return the hits of the lexicon in a folded text; what touches one is looked at again without it."""
    hits: list[Hit] = []
    for _ in range(PASSES):
        found = [hit for automaton in _lexicon().with_hits(text) for hit in automaton.hits(text)]
        hits += found
        if not any(_touches_a_letter(text, hit) for hit in found):
            break
        text = _blanked(text, found)
    return hits


def _touches_a_letter(text: str, hit: Hit) -> bool:
    return any(map(str.isalnum, (text[hit.start - 1 : hit.start], text[hit.end : hit.end + 1])))


def _blanked(text: str, hits: list[Hit]) -> str:
    pieces: list[str] = []
    position = 0
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.end)):
        pieces += text[position : hit.start], BLANK * (hit.end - max(hit.start, position))
        position = max(position, hit.end)
    return "".join([*pieces, text[position:]])


def _lexicon_span(text: str, folded: Folded, hit: Hit) -> Span:
    start, end = folded.span(hit.start, hit.end)
    aside = hit.form.entry.aside
    if aside and hit.rest in ("", "s") and aside.when.search(context(folded.text, hit.start, hit.end)):
        return Span(start, end, "lexicon", aside.term, aside.id)
    name = hit.name if hit.name.isascii() else text[start:end]
    return Span(start, end, "lexicon", *_term(hit.form.entry, name, hit.rest))


@lru_cache(REMEMBERED)
def _term(entry: Entry, name: str, rest: str) -> tuple[str, str]:
    """Return the term for a hit and its id: "GPT-4o Mini" and "model.gpt:4o-mini"."""
    shown = entry.term or _as_found(name)
    version = _version(rest) if entry.is_name else []
    slug = "-".join([*([] if entry.term else [shown]), *version]).lower().replace(" ", "-")
    term = " ".join([shown + entry.join + version[0], *version[1:]]) if version else shown
    return term[:TERM_LENGTH], (f"{entry.id}:{slug}" if slug else entry.id)[:ID_LENGTH]


def _version(rest: str) -> list[str]:
    """Return the parts of what stands behind a name, one way for "-3-5-sonnet" and " 3.5 Sonnet"."""
    parts = [part for part in _separators.split(rest.replace(" .", ".").replace(". ", ".").strip()) if part]
    if parts and parts[0].lower() in ("s", "v", "version"):
        parts = parts[1:]
    if len(parts) > 1 and _digits.fullmatch(parts[0]) and _digits.fullmatch(parts[1]):
        parts = [f"{parts[0]}.{parts[1]}", *parts[2:]]
    return [_unit(part) for part in parts]


def _unit(part: str) -> str:
    if part.isalpha():
        return part.capitalize()
    lower = part.lower()
    return f"{lower[:-1]}{lower[-1].upper()}" if lower.endswith(("b", "m")) else lower.removeprefix("v")


def _as_found(found: str) -> str:
    plain = fold(found).text
    return _separators.sub(" ", plain if plain.isascii() else found).strip().lower()[:TERM_LENGTH]


def own_form(part: tuple[str, ...], kind: Kind) -> Form:
    """Return what finds the words of a value, of the vocabulary or of a term of one's own."""
    source = "~".join(part)
    before, after = bounds(source)
    entry = Entry(id=kind, term="", join=" ", is_name=True, unless=None, aside=None)
    ending = "(?:e?s)?" if after else ""
    if after and kind == "vocabulary" and len(part[-1]) > INFLECTED:
        ending = "[a-z]{0,3}"
    return Form(entry, before, expression(source, is_name=False), ending, after)


def _tokens(label: str) -> tuple[str, ...]:
    """Return the words and numbers of a label, parted also where case or kind changes."""
    spaced = "".join(letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in label)
    return tuple(token for word in spaced.split() for token in _camel.split(word))


def wholes(label: str) -> Iterator[tuple[str, ...]]:
    """Yield the whole label, unless it is one character or a short number: those stand everywhere."""
    tokens = _tokens(label)
    letters = "".join(tokens)
    if len(letters) > (1 if not letters.isdecimal() else 3) and len(letters) <= TERM_LENGTH:
        yield tokens


def _parts(label: str) -> Iterator[tuple[str, ...]]:
    """Yield what people call the label for short: its beginnings, and its words that are not common."""
    tokens = _tokens(label)
    for size in range(2, min(len(tokens), 6)):
        yield tokens[:size]
    for token in tokens:
        if token.isalpha() and len(token) >= (3 if token.isascii() else 2) and token.lower() not in COMMON:
            yield (token,)
