"""What is left of a row's JSON without its long shown columns. Boxes of labels are padded to the longest of
the batch, so texts, which have boxes of their own, are better not in them."""

import json
import re
from collections.abc import Container

_DECODER = json.JSONDecoder()
_PAIR = re.compile(r'[ \t\r\n]*[{,][ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*")[ \t\r\n]*:[ \t\r\n]*')


def without_columns(raw: bytes, names: Container[str]) -> bytes:
    """Return a JSON object (a valid one, as `Row.raw` is) without the keys in `names`.

    Every other key and value keeps its spelling, so numbers come out digit by digit as they went in.
    """
    text = raw.decode()
    at = 0
    kept: list[str] = []
    while pair := _PAIR.match(text, at):
        key = pair[1]
        _, at = _DECODER.raw_decode(text, pair.end())
        if (json.loads(key) if "\\" in key else key[1:-1]) not in names:
            kept.append(text[pair.start(1) : at])
    return f"{{{', '.join(kept)}}}".encode()
