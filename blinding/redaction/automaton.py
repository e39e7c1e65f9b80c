"""Many forms in one automaton: where one of them stands, and which one it is. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import re2

from blinding.redaction.lexicon import REST, Form

MEMORY = 256 << 20  # bytes the states of one automaton may take
AROUND = 100  # characters of context that may decide
HERE = "▮"
REMEMBERED = 10_000  # places whose forms are kept: most names stand in a text again and again
REMEMBERED_LENGTH = 60
TRAILING_GAP = " -_.*\n\t·"

_plain_rest = re.compile(r"s?|[-_ ]?\d+")  # behind a word that may be one of everyday language
_a_count = re.compile(r"[ ]\d+")
_counted = re.compile(
    r" (?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|times|metres?|meters?|feet|foot|miles?|km|kg"
    r"|pounds?|people|points?|reasons?|ways|things|more|of|percent|euros?|dollars?)\b"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a folded text, in code points: its form, and its name and the rest as they stand there."""

    start: int
    end: int
    form: Form
    name: str
    rest: str


class Automaton:
    """All `forms` at once, compiled when first used; earlier forms win where two are equally long."""

    def __init__(self, forms: Sequence[Form]):
        self._forms = tuple(forms)
        self._exact: dict[int, Any] = {}
        self._known: dict[str, list[tuple[Form, int, int, int]]] = {}

    def hits(self, text: str) -> Iterator[Hit]:
        """Yield leftmost longest hits in a folded text, in order; none overlaps another."""
        if not self._forms:
            return
        encoded = text.encode()
        one_byte_each = len(encoded) == len(text)
        position = bytes_seen = first = 0
        while found := self._any.search(encoded, position):
            start, end = found.span()
            first = start if one_byte_each else first + len(encoded[bytes_seen:start].decode())
            last = end if one_byte_each else first + len(encoded[start:end].decode())
            bytes_seen = start
            hit = self._identified(text, first, last)
            if hit:
                yield hit
            # The last character of a hit stands before the next one; of what was none, only a step is taken.
            resume = hit.end - 1 if hit and hit.end - 1 > first else first + 1
            position = max(position + 1, start + len(text[first:resume].encode()))

    @cached_property
    def expression(self) -> str:
        """One RE2 expression for all forms, those with the same surroundings factored together."""
        groups: dict[tuple[str, str, str], list[str]] = {}
        for form in self._forms:
            groups.setdefault((form.before, form.rest, form.after), []).append(form.name)
        return "|".join(
            f"{before}(?:{'|'.join(names)})(?:{rest}){after}"
            for (before, rest, after), names in groups.items()
        )

    @cached_property
    def _any(self) -> Any:
        return _compiled(self.expression)

    @cached_property
    def _which(self) -> Any:
        """A set that tells which forms a match may begin with."""
        beginnings = re2.Set.MatchSet(_options())
        for form in self._forms:
            beginnings.Add(f"{form.before}(?:{form.name})")
        beginnings.Compile()
        return beginnings

    def _identified(self, text: str, start: int, end: int) -> Hit | None:
        """Return the hit that a match of any form stands for, or None where its context speaks against it."""
        for form, first, middle, last in self._readings(text[start:end]):
            name, rest = text[start + first : start + middle], text[start + middle : start + last]
            if hit := _settled(text, Hit(start + first, start + last, form, name, rest)):
                return hit
        return None

    def _readings(self, place: str) -> list[tuple[Form, int, int, int]]:
        """Return the forms `place` may be, best first: each with start and end of the name, end of the rest."""
        known = self._known.get(place)
        if known is None:
            found = []
            for index in self._which.Match(place) or ():
                if match := self._expression(index).match(place):
                    found.append((-match.end(2), -len(match[1]), index, match.start(1), match.end(1)))
            known = [
                (self._forms[index], first, middle, -last) for last, _, index, first, middle in sorted(found)
            ]
            if len(place) <= REMEMBERED_LENGTH and len(self._known) < REMEMBERED:
                self._known[place] = known
        return known

    def _expression(self, index: int) -> Any:
        if index not in self._exact:
            form = self._forms[index]
            self._exact[index] = _compiled(f"{form.before}({form.name})({form.rest}){form.after}")
        return self._exact[index]


def _compiled(expression: str) -> Any:
    pattern = re2.compile(expression, _options(longest=True))
    re2.purge()  # its cache would keep the labels of a batch in memory
    return pattern


def _options(longest: bool = False) -> Any:
    options = re2.Options()
    options.longest_match, options.max_mem = longest, MEMORY
    return options


class Lookout:
    """Tells at one look which of several automata have anything to find in a text."""

    def __init__(self, automata: Sequence[Automaton]):
        self._automata = tuple(automaton for automaton in automata if automaton.expression)

    def with_hits(self, text: str) -> list[Automaton]:
        """Return the automata that hit in a folded text."""
        return [self._automata[index] for index in sorted(self._all.Match(text) or ())]

    @cached_property
    def _all(self) -> Any:
        together = re2.Set.SearchSet(_options())
        for automaton in self._automata:
            together.Add(automaton.expression)
        together.Compile()
        return together


def context(text: str, start: int, end: int) -> str:
    """Return what stands before and after a place, with a mark instead of it."""
    return text[max(0, start - AROUND) : start] + HERE + text[end : end + AROUND]


def _settled(text: str, hit: Hit) -> Hit | None:
    """Return `hit` without a count that only follows it, or None where its context says that it is none."""
    entry = hit.form.entry
    if hit.rest and _a_count.fullmatch(hit.rest) and _counted.match(text, hit.end):
        if hit.form.rest == REST["required"]:
            return None
        hit = replace(hit, end=hit.end - len(hit.rest), rest="")
    if entry.unless and _plain_rest.fullmatch(hit.rest):
        around = context(text, hit.start, hit.end).lower()
        if entry.unless.search(around):
            return None
    if entry.is_name and text[hit.end - 1] in TRAILING_GAP:
        return replace(hit, end=hit.start + len(text[hit.start : hit.end].rstrip(TRAILING_GAP)))
    return hit
