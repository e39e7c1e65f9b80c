"""Reads a record schema and refuses, with the place, what the product cannot honour.

A property is a system field, the flag, or a control of the form. What the form could not show is refused.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema_rs

from annotation_app.record_schema.blinding_policy import read_policy
from annotation_app.record_schema.canonical import digest
from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.property_reader import ANNOTATIONS, PropertyReader, object_problems
from annotation_app.record_schema.structure import (
    VISIBILITY_SUFFIX,
    Kind,
    RecordSchema,
    SchemaRefused,
)
from annotation_app.record_schema.wording import gettext as _

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ROOT_KEYWORDS = ANNOTATIONS | {
    "$schema", "$id", "type", "required", "properties", "additionalProperties", "blinding_policy",
}  # fmt: skip
# What the product writes into each system field: a schema that refuses one of these cannot be honoured.
_ID = "00000000-0000-4000-8000-000000000000"
WRITTEN_VALUES: dict[str, tuple[Any, ...]] = {
    "record_id": (_ID,),
    "task_id": ("task 1",),
    "blinded_output_id": (_ID,),
    "annotator_id": ("K4-71",),
    "annotator_role": ("primary_A", "primary_B", "adjudicator", "audit"),
    "blind_version": ("0" * 64,),
    "codebook_version": ("1.0",),
    "auto_cluster_id": (None, "C1"),
    "adjudicator_id": (None, "K4-71"),
    "adjudicated_value": (None, "{}"),
    "timestamp_utc": ("2025-01-01T00:00:00.000000Z",),
}


def load_record_schema(document: Any) -> RecordSchema:
    """Read a record schema; SchemaRefused, with every place, for what the product cannot honour."""
    problems = list(_unsound(document))
    if problems:
        raise SchemaRefused(problems)
    reader = PropertyReader()
    required = frozenset(document.get("required", ()))
    properties: Mapping[str, Any] = document["properties"]
    coded, system = [], []
    for name, node in properties.items():
        if name in WRITTEN_VALUES or name.endswith(VISIBILITY_SUFFIX):
            system.append(name)
            problems += _system_field_problems(name, node)
        elif field := reader.read(name, node, pointer("properties", name), name in required):
            coded.append(field)
    policy, policy_problems = read_policy(document.get("blinding_policy", {}))
    problems += [*_root_problems(document), *reader.problems, *policy_problems]
    if not problems and all(field.kind is Kind.FLAG for field in coded):
        problems.append(Problem("/properties", _("No property is left for a coder to fill in.")))
    if problems:
        raise SchemaRefused(problems)
    return RecordSchema(
        id=document["$id"],
        title=document.get("title", ""),
        document=document,
        system_fields=tuple(system),
        fields=tuple(coded),
        blinding_policy=policy,
        hash=digest(document),
    )


def _unsound(document: Any) -> Iterable[Problem]:
    """Yield why `document` is no JSON Schema of an object that can be read further."""
    if not isinstance(document, dict):
        yield Problem("", _("A record schema is a JSON object."))
        return
    if document.get("$schema", DRAFT) not in (DRAFT, DRAFT + "#"):
        yield Problem("/$schema", _("Only JSON Schema draft 2020-12 is read."))
        return
    references = list(_references(document))
    yield from references
    if not references:
        yield from _uncompilable(document)
    if not isinstance(document.get("$id"), str):
        yield Problem("/$id", _("A record schema needs an $id, which names it in the registry."))
    if document.get("type") != "object":
        yield Problem("/type", _('A record is a JSON object: the type must be "object".'))
    if not isinstance(document.get("properties"), dict) or not document["properties"]:
        yield Problem("/properties", _("A record schema names the properties of a record."))


def _uncompilable(document: dict[str, Any]) -> Iterable[Problem]:
    try:
        digest(document)
        jsonschema_rs.meta.validate(document)
        jsonschema_rs.Draft202012Validator(document, offline=True)
    except jsonschema_rs.ValidationError as error:
        yield Problem(pointer(*error.instance_path), error.message)
    except (ValueError, RecursionError) as error:
        yield Problem("", _("This is no JSON that everyone reads alike: %(why)s") % {"why": error})


def _references(node: Any, *place: str | int) -> Iterable[Problem]:
    """Yield every reference below `node`: a form is read from one document, and nothing is fetched."""
    steps = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, child in steps:
        if step in ("$ref", "$dynamicRef"):
            yield Problem(pointer(*place, step), _("References are not followed: write the schema out."))
        elif step not in ("enum", "const", "default", "examples"):
            yield from _references(child, *place, step)


def _root_problems(document: dict[str, Any]) -> Iterable[Problem]:
    for keyword in sorted(document.keys() - ROOT_KEYWORDS):
        yield Problem(
            pointer(keyword), _("This keyword is not supported: the form could not show what it demands.")
        )
    yield from object_problems(document, "")


def _system_field_problems(name: str, node: Any) -> Iterable[Problem]:
    validator = jsonschema_rs.Draft202012Validator(node, validate_formats=True, offline=True)
    for value in WRITTEN_VALUES.get(name, (False,)):
        if not validator.is_valid(value):
            written = json.dumps(value)
            yield Problem(
                pointer("properties", name),
                _("The product fills this in and could not write %(value)s.") % {"value": written},
            )
