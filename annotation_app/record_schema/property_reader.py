"""Turns the properties of a record schema into coded fields; notes, with its place, what no control shows."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.structure import FLAG, FLAG_REASON, CodedField, Kind, value_key
from annotation_app.record_schema.wording import gettext as _

ANNOTATIONS = frozenset({"title", "description", "$comment", "examples", "default"})
KEYWORDS = {
    "enum": {"enum", "type"},
    "boolean": {"type"},
    "number": {"type", "minimum", "maximum", "multipleOf"},
    "integer": {"type", "minimum", "maximum", "multipleOf"},
    "string": {"type", "minLength", "maxLength"},
    "array": {"type", "items", "uniqueItems"},
    "object": {"type", "properties", "required", "additionalProperties"},
}
NULLABLE = frozenset({"enum", "number", "integer", "string"})
_RESERVED_NAME = re.compile(
    rf"f[0-9]+(-.*)?|{FLAG_REASON}|", re.DOTALL
)  # neutral keys, the flag's reason, nothing
_CLUSTER_PARTS = {
    cluster.CLUSTER_PATH: Kind.PICKER,
    cluster.TARGET_PATH: Kind.TARGET,
    cluster.NOTES_PATH: Kind.TEXT,
}


def object_problems(node: dict[str, Any], place: str) -> Iterator[Problem]:
    """Yield what an object's `additionalProperties` and `required` say that cannot be honoured."""
    if not isinstance(node.get("additionalProperties", False), bool):
        yield Problem(f"{place}/additionalProperties", _("This can only be true or false."))
    for position, name in enumerate(node.get("required", ())):
        if name not in node["properties"]:
            yield Problem(
                f"{place}/required/{position}", _("A required property must be among the properties.")
            )


def _shape(node: Any) -> tuple[str, bool]:
    """Return what governs a property (`enum`, its one type, or nothing), and whether null may stand there."""
    if not isinstance(node, dict):
        return "", False
    if "enum" in node:
        return "enum", None in node["enum"]
    types = node.get("type", [])
    types = [types] if isinstance(types, str) else types
    others = [name for name in types if name != "null"]
    return others[0] if len(others) == 1 and others[0] in KEYWORDS else "", "null" in types


class PropertyReader:
    """Reads one property after another and gathers the problems of all."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(self, path: str, node: Any, place: str, required: bool, parent: str = "") -> CodedField | None:
        """Return the coded field at `place`, or None after noting why there is none."""
        shape, nullable = _shape(node)
        problems = list(
            self._objections(path.removeprefix(parent), node, shape, nullable, place, bool(parent))
        )
        self.problems += problems
        if problems:
            return None
        if shape == "object":
            field = self._object(path, node, place)
        else:
            field = _scalar_or_list(path, node, shape)
        return replace(field, required=required, nullable=nullable)

    def _objections(
        self, name: str, node: Any, shape: str, nullable: bool, place: str, nested: bool
    ) -> Iterator[Problem]:
        if not shape:
            yield Problem(
                place, _("Only an enum or one type of value (with null beside it) can become a control.")
            )
            return
        if _RESERVED_NAME.fullmatch(name) or "." in name:
            yield Problem(place, _("This name is reserved, empty, or has a dot in it."))
        if nullable and shape not in NULLABLE:
            yield Problem(place, _("Null is not supported beside this type."))
        if name == FLAG and not nested and shape != "boolean":
            yield Problem(place, _("The flag for adjudication is true or false."))
        for keyword in sorted(node.keys() - KEYWORDS[shape] - ANNOTATIONS):
            yield Problem(
                f"{place}{pointer(keyword)}", _("This keyword is not supported: no control shows it.")
            )
        if shape == "enum":
            yield from _enum_problems(node, place)
        elif shape == "array" and not (isinstance(node.get("items"), dict) and _is_any_string(node["items"])):
            yield Problem(
                place, _("Only an array of strings can become a control: one box for each class of the task.")
            )
        elif shape == "object" and (nested or not node.get("properties")):
            yield Problem(place, _("An object needs properties, and cannot stand inside another object."))
        elif shape == "object":
            yield from object_problems(node, place)
        elif {"minimum", "maximum"} <= node.keys() and node["minimum"] >= node["maximum"]:
            yield Problem(place, _("The minimum must be below the maximum."))

    def _object(self, path: str, node: dict[str, Any], place: str) -> CodedField:
        required = frozenset(node.get("required", ()))
        if path == cluster.PATH and (decision := _cluster_decision(node, required)):
            return decision
        children = [
            self.read(
                f"{path}.{name}", child, f"{place}{pointer('properties', name)}", name in required, f"{path}."
            )
            for name, child in node["properties"].items()
        ]
        return CodedField(path, Kind.FIELDSET, children=tuple(child for child in children if child))


def _enum_problems(node: dict[str, Any], place: str) -> Iterator[Problem]:
    values = [value for value in node["enum"] if value is not None]
    if not values or not all(type(value) in (str, int, float) for value in values):
        yield Problem(f"{place}/enum", _("The values of an enum are strings or numbers, at least one."))
    elif len({value_key(value) for value in values}) < len(values):
        yield Problem(f"{place}/enum", _("Two values of this enum are written alike."))


def _is_any_string(node: dict[str, Any]) -> bool:
    return node.get("type") == "string" and not node.keys() - ANNOTATIONS - {"type"}


def _scalar_or_list(path: str, node: dict[str, Any], shape: str) -> CodedField:
    if path == FLAG:
        return CodedField(path, Kind.FLAG)
    if shape == "enum":
        return CodedField(
            path, Kind.RADIO, values=tuple(value for value in node["enum"] if value is not None)
        )
    if shape == "boolean":
        return CodedField(path, Kind.CHECKBOX)
    if shape == "array":
        return CodedField(path, Kind.CHECKS)
    if shape == "string":
        longest = node.get("maxLength")
        kind = Kind.LINE if longest is None else Kind.TEXT
        return CodedField(path, kind, min_length=node.get("minLength", 0), max_length=longest)
    low, high = node.get("minimum"), node.get("maximum")
    kind = Kind.NUMBER if low is None or high is None else Kind.SCALE
    integer = shape == "integer"
    return CodedField(path, kind, minimum=low, maximum=high, step=_step(node, kind, integer), integer=integer)


def _step(node: dict[str, Any], kind: Kind, integer: bool) -> float | None:
    """Return the step of a number: the schema's own, 1 for integers, else a twentieth of the range."""
    step: float | None = node.get("multipleOf", 1 if integer else None)
    if step is None and kind is Kind.SCALE:
        span: float = node["maximum"] - node["minimum"]
        return span / 20
    return step


def _cluster_decision(node: dict[str, Any], required: frozenset[str]) -> CodedField | None:
    """Return the control for a cluster decision, where the object is one, else None."""
    properties: dict[str, Any] = node["properties"]
    types = {name: child.get("type") for name, child in properties.items() if isinstance(child, dict)}
    decision = properties.get("decision")
    notes = types.pop("notes", "string")
    if not isinstance(decision, dict) or notes != "string" or not required <= {"cluster_id", "decision"}:
        return None
    values = [value for value in decision.get("enum", ()) if isinstance(value, str)]
    if set(values) != cluster.DECISIONS or len(values) != len(decision["enum"]):
        return None
    if types != {
        "cluster_id": "string",
        "decision": decision.get("type"),
        "merge_target": ["string", "null"],
    }:
        return None
    parts = [
        CodedField(path, kind, max_length=properties[name].get("maxLength"))
        for path, kind in _CLUSTER_PARTS.items()
        if (name := path.rpartition(".")[2]) in properties
    ]
    return CodedField(cluster.PATH, Kind.CLUSTER, values=tuple(values), children=tuple(parts))
