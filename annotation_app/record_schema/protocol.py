"""A study's protocol: defaults from `protocol.schema.json` and the record schema, checks, hash."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from annotation_app.record_schema.canonical import digest
from annotation_app.record_schema.problem import Problem
from annotation_app.record_schema.protocol_check import field_problems, list_problems, rule_problems
from annotation_app.record_schema.shapes import shape, shape_problems
from annotation_app.record_schema.structure import (
    CONFIDENCE,
    NUMERIC,
    WRITTEN,
    CodedField,
    Kind,
    RecordSchema,
)

MOST_EXEMPLARS = 2
_OPTIONAL = frozenset({Kind.TEXT, Kind.CHECKS, Kind.FLAG})
_UNCOMPARED = WRITTEN | {Kind.FLAG}


def complete_protocol(partial: Mapping[str, Any], schema: RecordSchema) -> dict[str, Any]:
    """Return a protocol with every key: what `partial`, in the protocol's shape, says, else the default."""
    whole = _filled(partial, shape("protocol"))
    given = whole["fields"]
    whole["fields"] = {path: _field_rule(field, given.get(path, {})) for path, field in schema.leaves.items()}
    if isinstance(whole["exemplars"], bool):
        whole["exemplars"] = MOST_EXEMPLARS * whole["exemplars"]
    return whole


def default_rule(field: CodedField) -> dict[str, Any]:
    """Return how a field is treated where the protocol does not say."""
    rule: dict[str, Any] = {
        "required": field.kind not in _OPTIONAL or (field.required and field.kind is Kind.TEXT),
        "compare": "exact",
        "tolerance": None,
        "level": "nominal",
        "distance": None,
        "missing": [],
    }
    if field.kind in NUMERIC:
        rule["level"] = "interval"
    if field.kind is Kind.CHECKS:
        rule |= {"compare": "set", "level": "set", "distance": "masi"}
    if field.kind in _UNCOMPARED:
        rule |= {"compare": "ignored", "level": None}
    if field.path == CONFIDENCE:
        rule["compare"] = "ignored"
    return rule


def _field_rule(field: CodedField, given: Mapping[str, Any]) -> dict[str, Any]:
    rule = default_rule(field) | dict(given)
    if rule["level"] != "set":
        rule["distance"] = given.get("distance")  # the default distance goes with the level of sets
    return rule


def check_protocol(document: Any, schema: RecordSchema) -> list[Problem]:
    """Return every problem of a protocol, complete or not."""
    problems = shape_problems("protocol", document)
    if problems:
        return problems
    whole = complete_protocol(document, schema)
    return [
        *field_problems(document.get("fields", {}), whole["fields"], schema),
        *rule_problems(whole["applicability"], schema),
        *list_problems(whole, schema),
    ]


def protocol_hash(protocol: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a complete protocol in canonical JSON, 64 hexadecimal digits."""
    return digest(protocol)


def _filled(given: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Return `given` with the defaults of an object's schema, objects in it filled alike."""
    out = dict(given)
    for name, child in node["properties"].items():
        value = out.get(name, deepcopy(child.get("default")))
        out[name] = _filled(value, child) if "properties" in child else value
    return out
