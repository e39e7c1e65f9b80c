"""Is a record what its schema and its task allow? Asked before it is stored, and of every exported line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

import jsonschema_rs

from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.problem import pointer
from annotation_app.record_schema.rules_v08 import Rule, class_rules, cluster_rules
from annotation_app.record_schema.structure import Kind, RecordSchema
from annotation_app.record_schema.wording import gettext as _

RULES: dict[Kind, Rule] = {Kind.CLUSTER: cluster_rules, Kind.CHECKS: class_rules}
_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


@dataclass(frozen=True)
class Violation:
    """`pointer` names the value (for a missing or unknown property, its object; empty for the record)."""

    kind: Literal["schema", "rule"]
    pointer: str
    keyword_or_rule: str
    message: str


def check_record(schema: RecordSchema, record: Any, context: RecordContext) -> list[Violation]:
    """Return what is wrong with a whole record; rules are looked at only where the schema finds nothing."""
    validator = record_validator(schema)
    if not validator.is_valid(record):
        return [_schema_violation(error) for error in validator.iter_errors(record)]
    return list(rule_violations(schema, record, context))


def rule_violations(
    schema: RecordSchema, record: Mapping[str, Any], context: RecordContext
) -> Iterator[Violation]:
    """Yield the rules that the coded fields of a schema-valid record break; absent fields break none."""
    for top in schema.fields:
        for field in (top, *top.children):
            rule = RULES.get(field.kind)
            steps = tuple(field.path.split("."))
            if rule is None or (value := value_at(record, steps)) is None:
                continue
            for step, name in rule(value, context):
                place = pointer(*steps, step) if step else pointer(*steps)
                yield Violation("rule", place, name, _("The rule %(name)s is broken.") % {"name": name})


def value_at(record: Any, steps: tuple[str, ...]) -> Any:
    """Return the value at a path of property names, None where it is absent."""
    for step in steps:
        record = record.get(step) if isinstance(record, Mapping) else None
    return record


@lru_cache(maxsize=64)
def record_validator(schema: RecordSchema) -> jsonschema_rs.Validator:
    """Return the compiled validator of a whole record."""
    return _compile(schema.document)


@lru_cache(maxsize=64)
def payload_validator(schema: RecordSchema) -> jsonschema_rs.Validator:
    """Return the compiled validator of a record's coded part: fields that are present, no unknown key."""
    nodes = schema.document["properties"]
    properties = {field.path: _closed(nodes[field.path]) for field in schema.fields}
    return _compile({"type": "object", "properties": properties, "additionalProperties": False})


def is_date_time(text: str) -> bool:
    """Say whether `text` is an RFC 3339 date-time that Python can hold: no leap second, no year 0."""
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in match.groups())
    try:
        datetime(year, month, day, hour, minute, second)  # noqa: DTZ001  the zone was matched above
    except ValueError:
        return False
    return True


def _compile(document: dict[str, Any]) -> jsonschema_rs.Validator:
    formats = {"date-time": is_date_time}
    return jsonschema_rs.Draft202012Validator(document, validate_formats=True, formats=formats, offline=True)


def _closed(node: dict[str, Any]) -> dict[str, Any]:
    return node | {"additionalProperties": False} if "properties" in node else node


def _schema_violation(error: jsonschema_rs.ValidationError) -> Violation:
    return Violation("schema", pointer(*error.instance_path), error.kind.name, error.message)
