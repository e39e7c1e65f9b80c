"""Between TOML and JSON: a TOML table as JSON values, JSON Pointers into them, and their canonical bytes."""

import datetime as dt
import json
import math
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from blinding.task_metadata.findings import Hit

Path = tuple[str | int, ...]

_MAX_DEPTH = 16  # the schema itself goes five deep
_MAX_BITS = 14_000  # Python writes and reads integers of up to 4,300 digits


def pointer(path: Iterable[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) of a path of keys and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def as_json(table: dict[str, Any]) -> tuple[dict[str, Any], dict[Path, Hit]]:
    """Return the table with a placeholder for every value that JSON does not have, and those by path."""
    faults: dict[Path, Hit] = {}
    return {key: _converted(value, (key,), faults) for key, value in table.items()}, faults


def _converted(value: Any, path: Path, faults: dict[Path, Hit]) -> Any:
    message = _why_no_json(value, len(path))
    if message:
        faults[path] = Hit("schema", pointer(path), message=message)
        return {"no JSON value at": pointer(path)}  # distinct, so that no uniqueItems fails because of it
    if isinstance(value, dict):
        return {key: _converted(item, (*path, key), faults) for key, item in value.items()}
    if isinstance(value, list):
        return [_converted(item, (*path, index), faults) for index, item in enumerate(value)]
    return value


def _why_no_json(value: Any, depth: int) -> str:
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return "A TOML date or time is no JSON value: write it as text in quotes."
    if isinstance(value, float) and not math.isfinite(value):
        return "nan and inf are no JSON numbers: give a number, or leave the property out."
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return "The number is out of all bounds: correct it."
    if isinstance(value, dict | list) and depth >= _MAX_DEPTH:
        return "Tables and arrays are nested too deeply: remove what the schema does not know."
    return ""


def nul_characters(value: Any, path: Path = ()) -> Iterator[Hit]:
    """Yield a hit for every text within a JSON value that holds U+0000, which no database column takes."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from nul_characters(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from nul_characters(item, (*path, index))
    elif isinstance(value, str) and "\0" in value:
        yield Hit("nul_character", pointer(path))


def without(tree: dict[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """Return a copy with None, which TOML does not have, in place of the values at `paths`."""
    copy = deepcopy(tree)
    for path in sorted(paths, key=len, reverse=True):
        *parents, last = path
        holder: Any = copy
        for part in parents:
            holder = holder[part]
        holder[last] = None
    return copy


def at(tree: Any, *keys: str) -> Any:
    """Return the value below nested keys, or None where there is none."""
    for key in keys:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(key)
    return tree


def tables(tree: dict[str, Any], *keys: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield index and table of each table in the array below nested keys."""
    for index, item in enumerate(at(tree, *keys) or []):
        if isinstance(item, dict):
            yield index, item


def canonical(metadata: dict[str, Any]) -> bytes:
    """Return JSON in UTF-8 with sorted keys and no white space: equal bytes for equal values, whole and
    decimal numbers kept apart, integers of any size exact (RFC 8785 rounds them)."""
    text = json.dumps(metadata, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode()
