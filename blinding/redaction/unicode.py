"""Cleaning of what is shown: invisible characters and what machines leave behind go, what scripts and emoji
need stays. Pure; the counts become warnings of the import."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from itertools import count

import re2

from blinding.redaction.lexicon import CLEANED_TOKENS

REPLACEMENT = "\ufffd"
MARKS = "\u200b\u2060\ufeff\u202d\u202e"  # zero-width space, word joiner, byte order mark, the two overrides
TAGS = "\U000e0000-\U000e007f"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
FLAGS = ("gbeng", "gbsct", "gbwls")  # England, Scotland, Wales: the subdivision flags every emoji font has
JOINING_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, N'Ko, Mandaic and their extensions
    (0x0900, 0x0DFF),  # the Indic scripts from Devanagari to Sinhala
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0x1A20, 0x1C4F),  # Tai Tham, Balinese, Sundanese, Batak, Lepcha
    (0x1CD0, 0x1CFF),  # Vedic marks
    (0xA840, 0xA8FF),  # Phags-pa, Saurashtra, Devanagari extended
    (0xA980, 0xA9FF),  # Javanese, Myanmar extended
    (0xAA60, 0xAAFF),  # Myanmar extended, Meetei Mayek
    (0xABC0, 0xABFF),
    (0xFB50, 0xFDFF),  # Arabic presentation forms
    (0xFE70, 0xFEFC),
    (0x10A00, 0x10FFF),  # Kharoshthi to Sogdian
    (0x11000, 0x11FFF),  # Brahmi and its descendants
    (0x1E900, 0x1E95F),  # Adlam
)
PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
ROUNDS = 8  # of removals that close up; a token hidden in more layers of others leaves a space

_flag = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in flag) for flag in FLAGS)
_HIDDEN = re.compile(f"(\U0001f3f4(?:{_flag})\U000e007f)|[{MARKS}{TAGS}]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINERS = re.compile("[\u200c\u200d]+")
_SELECTORS = re.compile(f"[{SELECTORS}]+")
_BEFORE_EMOJI_JOINER = re.compile(f"[{PICTOGRAPHS}\ufe0f\U0001f3fb-\U0001f3ff]")
_AFTER_EMOJI_JOINER = re.compile(f"[{PICTOGRAPHS}]")
_BASES_WITHOUT_SELECTOR = re.compile(r"[A-Za-z\s]")

_options = re2.Options()
_options.max_mem = 64 << 20
_TOKENS = re2.compile(CLEANED_TOKENS, _options)
_SUSPECT = re2.compile(f"[\\x00{MARKS}\u200c\u200d{TAGS}{SELECTORS}]|{CLEANED_TOKENS}", _options)

CLEANING_VERSION = hashlib.sha256(
    repr(
        (
            "NFC",
            unicodedata.unidata_version,
            MARKS,
            TAGS,
            SELECTORS,
            FLAGS,
            JOINING_SCRIPTS,
            PICTOGRAPHS,
            ROUNDS,
            CLEANED_TOKENS,
        )
    ).encode()
).hexdigest()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text as it may be shown, and what was replaced or taken out: characters, and control tokens."""

    text: str
    nul_replaced: int = 0
    surrogates_replaced: int = 0
    invisible_removed: int = 0
    control_tokens_removed: int = 0


def clean(text: str) -> Cleaned:
    """Return `text` in NFC without what is invisible or belongs to machines; cleaning twice changes
    nothing."""
    if _is_clean(text):
        return Cleaned(text)
    text, nuls = text.replace("\0", REPLACEMENT), text.count("\0")
    text, surrogates = _SURROGATES.subn(REPLACEMENT, text)
    invisible = tokens = 0
    for turn in count():
        before = text
        text, hidden = _without_invisible(text)
        text = unicodedata.normalize("NFC", text)
        text, taken = _TOKENS.subn("" if turn < ROUNDS else " ", text)
        invisible, tokens = invisible + hidden, tokens + taken
        if text == before:
            break
    return Cleaned(text, nuls, surrogates, invisible, tokens)


def _is_clean(text: str) -> bool:
    """Tell whether `text` surely needs no cleaning, at the speed of one automaton."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        return False
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        return False
    return _SUSPECT.search(encoded) is None


def _without_invisible(text: str) -> tuple[str, int]:
    size = len(text)
    text = _HIDDEN.sub(lambda found: found[1] or "", text)
    text = _JOINERS.sub(_needed_joiners, text)
    text = _SELECTORS.sub(_needed_selector, text)
    return text, size - len(text)


def _needed_joiners(found: re.Match[str]) -> str:
    """Keep the joiners that stand beside a letter of a joining script, and the one between two emoji."""
    run, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if run == "\u200d" and _BEFORE_EMOJI_JOINER.match(before) and _AFTER_EMOJI_JOINER.match(after):
        return run
    first, last = _is_joining_letter(before), _is_joining_letter(after)
    if len(run) == 1:
        return run if first or last else ""
    return (run[0] if first else "") + (run[-1] if last else "")


def _needed_selector(found: re.Match[str]) -> str:
    """Keep one variation selector after a base that can have one: a longer run is a channel, not a glyph."""
    selector, base = found[0][0], found.string[found.start() - 1 : found.start()]
    if not base or _BASES_WITHOUT_SELECTOR.match(base):
        return ""
    if selector > "\uffff" and not unicodedata.name(base, "").startswith("CJK"):
        return ""
    return selector


def _is_joining_letter(character: str) -> bool:
    if not character:
        return False
    point = ord(character)
    if not any(first <= point <= last for first, last in JOINING_SCRIPTS):
        return False
    return unicodedata.category(character)[0] in "LM"
