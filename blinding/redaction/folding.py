"""One plain spelling for letters that look alike: Latin look-alikes of other scripts, accents, wide and
mathematical letters. Pure; where each folded character stood in the text is kept."""

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

DROPPED = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x0300, 0x036F),  # combining marks
    (0x0483, 0x0489),
    (0x0591, 0x05BD),  # Hebrew points
    (0x05BF, 0x05BF),
    (0x05C1, 0x05C7),
    (0x061C, 0x061C),
    (0x0640, 0x0640),  # Arabic elongation and vowel marks
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x180B, 0x180F),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200B, 0x200F),  # zero width, joiners, direction marks
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xE0000, 0xE0FFF),
)
LOOK_ALIKES = {  # after Unicode's table of confusables, letters only
    "a": "аɑαᴀ",
    "b": "ЬьƄʙ",
    "c": "сϲⅽᴄ",
    "d": "ԁɖđⅾᴅ",
    "e": "еҽεɛᴇ",
    "f": "ƒꞙꜰ",
    "g": "ɡցԍɢ",
    "h": "һհħʜ",
    "i": "іιɩıɪӏ",
    "j": "јϳᴊ",
    "k": "кκᴋ",
    "l": "ⅼłʟ",
    "m": "мⅿᴍ",
    "n": "ոηɴ",
    "o": "оοօσøᴏ",
    "p": "рρᴘ",
    "q": "ԛգǫ",
    "r": "ᴦʀ",
    "s": "ѕꜱ",
    "t": "тτŧᴛ",
    "u": "υսʋᴜ",
    "v": "νѵᴠ",
    "w": "ԝωѡᴡ",
    "x": "хχ",
    "y": "уγүʏ",
    "z": "ᴢ",
    "A": "АΑᎪꓮ",
    "B": "ВΒᏴꓐ",
    "C": "СϹᏟꓚ",
    "D": "ᎠꓓĐ",
    "E": "ЕΕᎬꓰ",
    "F": "ϜꓝꞘ",
    "G": "ԌᏀꓖ",
    "H": "НΗᎻꓧĦ",
    "I": "ІΙӀꓲ",
    "J": "ЈᎫꓙͿ",
    "K": "КΚᏦꓗ",
    "L": "ᏞꓡŁ",
    "M": "МΜᎷꓟ",
    "N": "Νꓠ",
    "O": "ОΟՕꓳØ",
    "P": "РΡᏢꓑ",
    "Q": "Ԛ",
    "R": "ᎡᏒꓣ",
    "S": "ЅՏᏚꓢ",
    "T": "ТΤᎢꓔŦ",
    "U": "Սꓴ",
    "V": "ѴᏙꓦ",
    "W": "ԜᎳꓪ",
    "X": "ХΧꓫ",
    "Y": "УΥҮꓬ",
    "Z": "ΖᏃꓜ",
    "'": "‘’‛ʼ＇`´′",
    '"': "“”„‟«»″「」『』",
    "-": "‐‑‒–—―−⁃﹣－",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "|": "｜",
}
DECOMPOSED = ((0x80, 0x3000), (0xA700, 0xAC00), (0xF900, 0x10000), (0x1D400, 0x1D800), (0x1F100, 0x1F1A0))
NEGATIVE_LETTERS = ((0x1F150, 0x1F16A), (0x1F170, 0x1F18A))  # white on black, A to Z, without a decomposition
GONE = 0


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text; `origin[i]` is where its character `i` stood in `source`, None where nothing was
    dropped."""

    text: str
    source: str
    origin: NDArray[np.intp] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the code point offsets in `source` of a non-empty span, with the marks on its last
        letter."""
        if self.origin is None:
            return start, end
        stop = int(self.origin[end - 1]) + 1
        while unicodedata.category(self.source[stop : stop + 1] or " ") in ("Mn", "Me"):
            stop += 1
        return int(self.origin[start]), stop


def fold(text: str) -> Folded:
    """Return `text` with look-alike letters, accents and widths folded to plain ones; case is kept."""
    if text.isascii():
        return Folded(text, text)
    points = _table()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")]
    kept = points != GONE
    if kept.all():
        return Folded(points.tobytes().decode("utf-32-le"), text)
    return Folded(points[kept].tobytes().decode("utf-32-le"), text, np.flatnonzero(kept))


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(0x110000, dtype="<u4")
    for first, stop in DECOMPOSED:
        for point in range(first, stop):
            table[point] = _plain(chr(point))
    for first, stop in NEGATIVE_LETTERS:
        table[first:stop] = np.arange(ord("A"), ord("A") + stop - first)
    for letter, others in LOOK_ALIKES.items():
        table[[ord(other) for other in others]] = ord(letter)
    for first, last in DROPPED:
        table[first : last + 1] = GONE
    table[0xD800:0xE000] = 0xFFFD
    table[0] = 0xFFFD
    # An accented look-alike decomposes to a look-alike, which is folded in turn.
    twice: NDArray[np.uint32] = np.where(table == GONE, GONE, table[table]).astype("<u4")
    return twice


def _plain(character: str) -> int:
    """Return the base letter of `character` where it has exactly one, else itself."""
    base = [part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part)]
    if len(base) != 1 or unicodedata.name(character, "").startswith(("KATAKANA", "HIRAGANA")):
        return ord(character)
    return ord(base[0])
