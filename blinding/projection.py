"""The only shape in which study data reach a template or a serializer: frozen, field by field, never a row.

Imports no model of a sibling. `sealed_from_rows` is the guard that page and API rendering call.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Manager, Model, QuerySet
from django.utils.safestring import SafeString

# Most of what a page is given; nothing can be in them.
_PLAIN = frozenset({str, int, float, bool, type(None), datetime, UUID, SafeString})


class RowInContext(TypeError):
    """A database row, queryset or manager was about to reach a template or serializer."""


def sealed_from_rows(value: Any, place: str = "context") -> Any:
    """Return `value` unchanged if no database row is in it, however deep; raise RowInContext, naming the place, if one is."""
    if type(value) in _PLAIN:
        return value
    if type(value) not in (dict, list) and isinstance(value, Model | QuerySet | Manager):
        raise RowInContext(f"{place} is a {type(value).__name__}; give the page a projection of it")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if type(item) not in _PLAIN:
                sealed_from_rows(item, f"{place}.{key}")
    elif isinstance(value, list | tuple | set | frozenset):
        for i, item in enumerate(value):
            sealed_from_rows(item, f"{place}[{i}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            sealed_from_rows(getattr(value, field.name), f"{place}.{field.name}")
    return value


def as_dict(projection: Any) -> dict[str, Any]:
    """Return the fields of a frozen projection as a dict, one level deep, in the order declared."""
    return {field.name: getattr(projection, field.name) for field in fields(projection)}
