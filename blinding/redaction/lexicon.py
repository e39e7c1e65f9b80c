"""The lexicon of what tells a model: names, phrases, machine tokens, links. Pure.

Data lie in `lexicon_data/*.toml`, whose headings explain the entries. Ids are stable: decisions of earlier
batches refer to them."""

import hashlib
import re
import tomllib
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import re2

from blinding.redaction import folding
from blinding.redaction.expressions import AFTER, BEFORE, bounds, expression, spelled

FILES = ("models.toml", "vendors.toml", "phrases.toml", "tokens.toml")
NAMES = ("model", "product", "vendor")
PHRASES = ("self", "cutoff", "refusal")
MACHINE = ("token", "link", "encoded")

WORD = (
    "turbo|preview|mini|nano|instruct|pro|ultra|flash|lite|instant|vision|thinking|reasoner|coder"
    r"|(?:opus|sonnet|haiku)(?: \d(?:\.\d)?)?"  # "Claude Sonnet 4": the number stands behind the word
    r"|\d{1,4}(?:\.\d)?[bkm]"
)
HYPHENED = (
    WORD
    + "|chat|base|plus|large|medium|small|tiny|xl|xxl|audio|realtime|code|math|vl|exp|experimental|latest"
    "|advanced|max|next|beta|alpha|high|low|hf|gguf|gptq|awq|it|sft|dpo|zero|distill|qwen|llama|uncensored|online|hermes"
    r"|v?\d{1,2}(?:\.\d{1,2})?|\d{4}|\d{6,8}|\d{4}-\d{2}-\d{2}|\d{1,2}x\d{1,3}b|a\d{1,2}b"
)
NUMBER = r"(?:v|version )?\d{1,3}(?: ?[._-] ?\d{1,2}){0,2}[A-Za-z]{0,2}"
TAIL = f"(?i:(?: (?:{WORD}))|(?:[-_:@](?:{HYPHENED})))"
VERSION = f"(?i:[-_ ]?{NUMBER})"
SPELLED_VERSION = f"(?i:[-_. ]{{0,3}}{NUMBER})"
REST = {
    "none": "s?",
    "optional": f"s?(?:{VERSION})?{TAIL}{{0,5}}",
    "required": f"(?:{VERSION}|{TAIL}){TAIL}{{0,5}}",
    "spelled": f"(?:{SPELLED_VERSION})?{TAIL}{{0,5}}",
}
MIDDLE = r"""(?:[A-Za-z0-9,;)][ \n]{1,2}|[^\x00-\x7f][ \n]{0,2})["'*_(]{0,3}"""  # not first in a sentence
LOOSE = ("", "(?:$|[^a-z])")


@dataclass(frozen=True, eq=False)
class Aside:
    """Another term for the same letters in another sense, known by what stands around them."""

    id: str
    term: str
    when: re.Pattern[str]


@dataclass(frozen=True, eq=False)
class Entry:
    """One thing to find; an empty `term` means that the name is shown as found."""

    id: str
    term: str
    join: str
    is_name: bool
    unless: Any  # one RE2 expression, or None
    aside: Aside | None


@dataclass(frozen=True, eq=False)
class Form:
    """One way to write an entry: RE2 expressions for what must stand before, the name, the rest, and
    after."""

    entry: Entry
    before: str
    name: str
    rest: str
    after: str


def _load() -> tuple[dict[str, Any], str]:
    """Return the sections of all data files, and a hash of the files and of the rules that read them."""
    sections: dict[str, Any] = {}
    rules = (REST, MIDDLE, LOOSE, BEFORE, AFTER, folding.LOOK_ALIKES, folding.DROPPED, folding.DECOMPOSED)
    digest = hashlib.sha256(repr(rules).encode())
    for name in FILES:
        content = files(__package__).joinpath("lexicon_data", name).read_bytes()
        digest.update(content)
        for section, entries in tomllib.loads(content.decode()).items():
            sections.setdefault(section, {}).update(entries)
    return sections, digest.hexdigest()


_SECTIONS, LEXICON_VERSION = _load()
CLEANED_TOKENS = "|".join(
    f"(?:{regex})" for entry in _SECTIONS["token"].values() if entry.get("clean") for regex in entry["regex"]
)


def section_of(lexicon_id: str) -> str:
    """Return what a lexicon id is about: model, product, vendor, self, cutoff, refusal, token, link or
    encoded."""
    return lexicon_id.partition(".")[0]


@cache
def name_forms() -> tuple[Form, ...]:
    """Return every way to write the name of a model, a product or a vendor."""
    return tuple(form for section in NAMES for form in _forms_of(section, _named_forms))


@cache
def phrase_forms() -> tuple[Form, ...]:
    """Return the phrases by which assistants speak of themselves, in folded RE2 syntax."""
    return tuple(form for section in PHRASES for form in _forms_of(section, _phrased_forms))


@cache
def machine_forms() -> tuple[Form, ...]:
    """Return tokens, links and encoded names."""
    return tuple(form for section in MACHINE for form in _forms_of(section, _raw_forms))


def _forms_of(section: str, make: Callable[[Entry, dict[str, Any]], Iterator[Form]]) -> Iterator[Form]:
    for key, data in _SECTIONS[section].items():
        yield from make(_entry(section, key, data), data)


def _entry(section: str, key: str, data: dict[str, Any]) -> Entry:
    aside = data.get("aside")
    return Entry(
        id=f"{section}.{data.get('id', key)}",
        term=data.get("term", ""),
        join=data.get("join", " "),
        is_name=section in NAMES,
        unless=_any_of(data.get("unless", ())),
        aside=Aside(f"{section}.{aside['id']}", aside["term"], re.compile(_alternatives(aside["when"])))
        if aside
        else None,
    )


def _any_of(patterns: Sequence[str]) -> Any:
    return re2.compile(_alternatives(patterns)) if patterns else None


def _alternatives(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{folding.fold(pattern).text})" for pattern in patterns)


def _named_forms(entry: Entry, data: dict[str, Any]) -> Iterator[Form]:
    rest = REST[data.get("version", "none")]
    for source in data.get("names", ()):
        before, after = bounds(source)
        yield Form(entry, before, expression(source), rest, after)
    for source in data.get("exact", ()):
        before, after = bounds(source)
        yield Form(entry, before, expression(source, any_case=False), rest, after)
    for source in data.get("mid", ()):
        yield Form(entry, MIDDLE, expression(source, any_case=False), rest, AFTER)
    for source in data.get("named", ()):
        yield Form(entry, _naming(), expression(source), rest, bounds(source)[1])
    for source in data.get("loose", ()):
        yield Form(entry, LOOSE[0], expression(source, any_case=False), rest, LOOSE[1])
    lists = ("names", "exact", "mid", "named")
    rest = REST["required" if data.get("version") == "required" else "spelled"]
    for source in dict.fromkeys(source for key in lists for source in data.get(key, ())):
        if letters := spelled(source):
            yield Form(entry, BEFORE, letters, rest, AFTER)


@cache
def _naming() -> str:
    """Return what may stand before a word to make it a name: "I am", "called", "my name is" in many
    languages."""
    parts = []
    for source in _SECTIONS["naming"]["words"]:
        before, after = bounds(source)
        parts.append(before + expression(source, is_name=False) + ("[ \n]{1,2}" if after else "[ \n]{0,2}"))
    return f"""(?:{"|".join(parts)})["'*_(]{{0,3}}"""


def _phrased_forms(entry: Entry, data: dict[str, Any]) -> Iterator[Form]:
    for source in data["patterns"]:
        before, after = bounds(source)
        yield Form(entry, before, expression(source, is_name=False), "", after)


def _raw_forms(entry: Entry, data: dict[str, Any]) -> Iterator[Form]:
    for regex in (*data.get("regex", ()), *map(_base64, data.get("base64", ()))):
        yield Form(entry, "", regex, "", "")


def _base64(word: str) -> str:
    """Return the letters of base64 that are the same wherever in a longer text `word` was encoded."""
    found = []
    for shift in range(3):
        encoded = b64encode(b"\0" * shift + word.encode()).decode().rstrip("=")
        first, last = -(-shift * 8 // 6), (shift + len(word)) * 8 // 6
        found.append(re.escape(encoded[first:last]))
    return "|".join(found)
