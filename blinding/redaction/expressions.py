"""From the short notation of the lexicon to RE2: look-alike letters folded, gaps, word bounds. Pure.

A space is any gap, `~` a joint that may hold one, `-` a hyphen or what replaces it, `…` up to sixty
characters of the same sentence, `#` a digit; `( | ) [ ] ? * +` and a backslash as usual. Every other
character stands for itself."""

import re
from functools import cache

from blinding.redaction.folding import fold

LETTERS = "A-Za-zªµºÀ-ʯͰ-ϿЀ-ԯ"  # of scripts that part words by spaces and never glue them
BEFORE = f"(?:^|[^{LETTERS}])"
AFTER = f"(?:$|[^{LETTERS}])"
SPACE = r'(?:[\s*_"]{1,4})'
JOINT = r"(?:[ \-_.*\n·]{0,3})"
SPELLED = r"[ \-_.*\n·]{1,2}"
REST_OF_SENTENCE = r"(?:[^.!?\n。]{0,60})"
DIGITS_FOR_LETTERS = {"o": "0", "e": "3", "a": "4", "i": "1l|", "l": "1I|"}
LONG_NAME = 6  # letters from which a digit may stand for one of them

_bounded = re.compile(f"[{LETTERS}]")
_syntax = re.compile(r"\\.|[()\[\]|?*+~]")


def expression(source: str, *, any_case: bool = True, is_name: bool = True) -> str:
    """Return `source` in RE2 syntax, to be searched in folded text."""
    digits = any_case and is_name and sum(map(str.isalpha, source)) >= LONG_NAME
    out: list[str] = []
    position = 0
    while position < len(source):
        taken, piece = _piece(source, position, any_case, digits)
        out.append(piece)
        position += taken
    return "".join(out)


def spelled(source: str) -> str | None:
    """Return an expression for `source` letter by letter ("G P T"), or None where that cannot be a name."""
    letters = [letter for letter in source if letter not in "~ -"]
    plain = all(letter.isascii() and letter.isalnum() for letter in letters)
    if not plain or len(letters) < 3 or not letters[0].isalpha():
        return None
    return SPELLED.join(_letter(letter, True, False) for letter in letters)


def bounds(source: str) -> tuple[str, str]:
    """Return the word bounds `source` needs at its two ends; scripts without spaces need none."""
    literal = fold(_syntax.sub("", source)).text.strip()
    before = BEFORE if literal and _bounded.match(literal[0]) else ""
    after = AFTER if literal and _bounded.match(literal[-1]) else ""
    return before, after


def _piece(source: str, position: int, any_case: bool, digits: bool) -> tuple[int, str]:
    character = source[position]
    if character == "\\":
        return 2, source[position : position + 2]
    if character == "[":
        end = source.index("]", position) + 1
        content = fold(source[position:end]).text
        return end - position, f"(?i:{content})" if any_case else content
    fixed = {" ": SPACE, "~": JOINT, "…": REST_OF_SENTENCE, "#": r"\d", "-": "[-_ ]", "(": "(?:"}
    if character in fixed:
        return 1, fixed[character]
    if character in ")|?*+":
        return 1, character
    return 1, _letter(character, any_case, digits)


@cache
def _letter(character: str, any_case: bool, digits: bool) -> str:
    cases = (character, character.lower(), character.upper()) if any_case else (character,)
    found = {folded for case in cases if len(folded := fold(case).text) == 1}
    if digits:
        found.update(DIGITS_FOR_LETTERS.get(character.lower(), ""))
    if len(found) < 2:
        return "".join(map(re.escape, found))
    return "[" + "".join(re.escape(letter) for letter in sorted(found)) + "]"
