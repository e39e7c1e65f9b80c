"""Single values between page and record, neutral to raw and back; what stands for nothing is refused."""

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, Kind, value_key

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT", "__bool__": lambda self: False})()
"""Stands for a field that was not answered, where None would be a value."""

LARGEST = 2**53 - 1  # beyond it, readers of JSON disagree about integers
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][+-]?[0-9]{1,3})?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DEEPEST = 4
_TICKED = {
    True: True,
    "true": True,
    "on": True,
    "1": True,
    False: False,
    "false": False,
    "": False,
    None: False,
}


class Unreadable(Exception):
    """A posted value that stands for nothing the field could hold; `rule` is the keyword it breaks."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def raw_value(control: Control, value: Any, context: RecordContext) -> Any:
    """Return the raw value that a neutral one stands for, ABSENT for none; Unreadable."""
    if control.kind in (Kind.CHECKBOX, Kind.FLAG):
        return _ticked(value)
    if control.kind is Kind.CHECKS:
        return _chosen(value, context.classes)
    if value is ABSENT or value is None:
        return ABSENT
    if control.kind in WRITTEN:
        return written(control, value)
    if value == "":
        return ABSENT
    if control.kind in NUMERIC:
        return _number(value)
    if control.kind in (Kind.PICKER, Kind.TARGET):
        return _code(value)
    return _choice(control, value)


def neutral_value(control: Control, raw: Any, context: RecordContext) -> Any:
    """Return the neutral value of a raw one, None for one that the field does not have; classes only where the output
    has some, as the form shows them."""
    if control.kind in (Kind.RADIO, Kind.CLUSTER):
        return control.neutral_of.get(value_key(raw)) if isinstance(raw, (str, int, float)) else None
    if control.kind is Kind.CHECKS:
        if not context.classes:
            return None
        numbers = {name: str(number) for number, name in enumerate(context.classes, 1)}
        return [numbers[name] for name in raw if name in numbers] if isinstance(raw, list) else None
    return raw


def written(control: Control, value: Any) -> Any:
    """Return posted text without control characters; an empty text is an answer only where it may be one."""
    if not isinstance(value, str):
        raise Unreadable("type")
    text = clean_text(value)
    if control.kind is Kind.LINE:
        text = " ".join(text.split())
    return text if text or (control.kind is Kind.TEXT and not control.field.min_length) else ABSENT


def clean_text(text: str) -> str:
    """Return `text` with one kind of line end and without control characters but tab and line end."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")


def scrubbed(value: Any, depth: int = 0) -> Any:
    """Return posted JSON that can be stored: U+FFFD for lone surrogates, null below the depth of any form."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, (dict, list, tuple)) and depth == _DEEPEST:
        return None
    if isinstance(value, dict):
        return {scrubbed(str(key)): scrubbed(child, depth + 1) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrubbed(child, depth + 1) for child in value]
    return value


def is_storable(value: Any) -> bool:
    """Say whether a number survives JSON in every language."""
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= LARGEST


def _ticked(value: Any) -> bool:
    value = False if value is ABSENT else value
    if not isinstance(value, (bool, str, type(None))) or value not in _TICKED:
        raise Unreadable("type")
    return _TICKED[value]


def _chosen(value: Any, classes: Sequence[str]) -> list[str]:
    """Return the classes behind posted numbers, in the order posted and each once."""
    if value is ABSENT or value is None or value == "":
        return []
    numbers = [value] if isinstance(value, str) else value
    if not isinstance(numbers, list) or not all(isinstance(number, str) for number in numbers):
        raise Unreadable("type")
    names = {str(number): name for number, name in enumerate(classes, 1)}
    if not classes and numbers:
        raise Unreadable("class_not_allowed")
    if not set(numbers) <= names.keys():
        raise Unreadable("class_unknown")
    return [names[number] for number in dict.fromkeys(numbers)]


def _number(value: Any) -> int | float:
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip())
        if match is None or len(value) > 40:
            raise Unreadable("type")
        value = float(value) if any(match.groups()) else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not is_storable(value):
        raise Unreadable("type")
    return value or abs(value)  # no negative zero


def _code(value: Any) -> str:
    if not isinstance(value, str):
        raise Unreadable("type")
    return value


def _choice(control: Control, value: Any) -> Any:
    neutral = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(neutral, str) or neutral not in control.raw_of:
        raise Unreadable("enum")
    return control.raw_of[neutral]
