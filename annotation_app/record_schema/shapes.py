"""The JSON Schemas beside this module: of documents that people write, and of what the product answers."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.wording import gettext as _

FOLDER = Path(__file__).parent


@cache
def shape(name: str) -> dict[str, Any]:
    """Return a shipped JSON Schema: `protocol`, `codebook`, `assignment`, `case`, `counts` or `findings`."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return document


def shape_problems(name: str, value: Any) -> list[Problem]:
    """Return where `value` departs from the named shape."""
    return [problem for error in _validator(name).iter_errors(value) for problem in _problems(error)]


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    resources = [(document["$id"], document) for document in map(shape, ("assignment",))]
    return jsonschema_rs.Draft202012Validator(
        shape(name), registry=jsonschema_rs.Registry(resources), offline=True
    )


def _problems(error: jsonschema_rs.ValidationError) -> list[Problem]:
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        return [
            Problem(pointer(*error.instance_path, key), _("This key is not known."))
            for key in error.kind.unexpected
        ]
    return [Problem(pointer(*error.instance_path), error.message[:300])]
