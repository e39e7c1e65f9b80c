"""What may come in from outside: text that can be stored, and JSON as it is defined. Everything else is refused here, once."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

DEEPEST = (
    64  # levels of objects and lists; a record schema, the deepest document that is sent, has about twenty
)
UNFIT = "A text holds a character that cannot be kept (U+0000, or half of a surrogate pair)."

_UNFIT = re.compile("[\0\ud800-\udfff]")


def is_fit(text: str) -> bool:
    """Return whether a text can be stored: it has no U+0000 and no lone surrogate, which PostgreSQL refuses."""
    return _UNFIT.search(text) is None


def read_json(body: bytes | str, *, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return what a JSON text says; `pairs` makes objects, where it is given.

    Raises ValueError for what is not JSON, NaN, infinity also by overflow, nesting deeper than DEEPEST, and texts that
    are not fit to be stored.
    """
    document = _loaded(body, pairs)
    for level in _levels(document):
        if not all(is_fit(value) for value in level if isinstance(value, str)):
            raise ValueError(UNFIT)
    return document


def read_typed(body: bytes | str) -> Any:
    """Return what a JSON text of a page's own script says, with U+FFFD for what is not fit: nobody loses what they typed.

    Raises ValueError for the rest that `read_json` refuses.
    """
    document = _loaded(body, None)
    for _level in _levels(document):
        pass
    return _mended(document)


def _loaded(body: bytes | str, pairs: Callable[[list[tuple[str, Any]]], Any] | None) -> Any:
    try:
        return json.loads(body, object_pairs_hook=pairs, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault


def _levels(document: Any) -> Iterator[list[Any]]:
    """Yield the values of a document, level by level. Raises ValueError where there are too many levels."""
    level: list[Any] = [document]
    for _depth in range(DEEPEST + 1):
        if not level:
            return
        yield level
        level = [part for value in level for part in _parts(value)]
    raise ValueError("nested too deeply")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _UNFIT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(name): _mended(part) for name, part in value.items()}
    return [_mended(part) for part in value] if isinstance(value, list) else value


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else ()


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number that no number format can hold")
    return number


def _no_constant(token: str) -> NoReturn:
    raise ValueError(token)
