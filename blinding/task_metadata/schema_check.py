"""What the schema says about a table of metadata: hits whose messages quote the schema, never the table."""

from typing import Any

import jsonschema_rs

from blinding.task_metadata.findings import Hit
from blinding.task_metadata.values import Path, pointer

_OF_THE_OBJECT = {"required", "additionalProperties"}  # the object itself stays sound
_MESSAGES = {
    "required": "The property “{property}” is missing here: add it.",
    "additionalProperties": (
        "There is a property here that the schema does not know: remove it or correct its name."
    ),
    "type": "The value has the wrong type: it must be of type {types}.",
    "enum": "The value is none of those allowed: use {options}.",
    "const": "The value must be {expected_value}.",
    "pattern": "The text does not match the pattern {pattern}: correct it.",
    "minLength": "The text is too short: it has at least {limit} characters.",
    "minimum": "The number is too small: it is at least {limit}.",
    "maximum": "The number is too large: it is at most {limit}.",
    "minItems": "The list is too short: it has at least {limit} entries.",
    "maxItems": "The list is too long: it has at most {limit} entries.",
    "uniqueItems": "An entry is listed twice: remove one.",
}


def check_schema(
    validator: jsonschema_rs.Validator, tree: dict[str, Any], faults: dict[Path, Hit]
) -> tuple[list[Hit], set[Path]]:
    """Return every breach of the schema and the paths whose values no rule can read.

    `faults` are the places where `tree` has a placeholder for what is no JSON value: told once, as they are.
    """
    hits, unsound = list(faults.values()), set(faults)
    for error in validator.iter_errors(tree):
        path = tuple(error.instance_path)
        if path in faults or _is_told_by_a_rule(error, path):
            continue
        hits.append(Hit("schema", pointer(path), _detail(error), _message(error)))
        if error.kind.name not in _OF_THE_OBJECT:
            unsound.add(path)
    return hits, unsound


def _is_told_by_a_rule(error: jsonschema_rs.ValidationError, path: Path) -> bool:
    """high_risk_needs_unsafe_advice says the same in words."""
    return error.kind.name == "contains" and path == ("veto_categories",)


def _message(error: jsonschema_rs.ValidationError) -> str:
    facts = {key: _written(value) for key, value in error.kind.as_dict().items()}
    template = _MESSAGES.get(error.kind.name, f"The value breaks the rule “{error.kind.name}” of the schema.")
    return template.format_map(facts)


def _written(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _detail(error: jsonschema_rs.ValidationError) -> str:
    return "" if error.kind.name == "required" else error.message
