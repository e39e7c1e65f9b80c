"""Schemas by `$id` from local folders, never from the network: what the product ships, and over it a folder
of the operator's. A stand-in answers for a schema published elsewhere until the real file is there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import jsonschema_rs

TASK_METADATA = "https://medgauge.org/schemas/0.1.0/task-metadata.schema.json"
RESULT = "https://medgauge.org/schemas/0.1.0/result.schema.json"
SHIPPED = Path(__file__).parent / "schemas"
STAND_IN = ".stand-in.json"


class RegistryError(Exception):
    """A folder of schemas that cannot be used; the message names the file or the missing schema."""


@dataclass(frozen=True)
class SchemaRegistry:
    """Schemas by `$id`, and which of those are stand-ins."""

    documents: Mapping[str, dict[str, Any]]
    stand_ins: frozenset[str]

    @property
    def stand_in_used(self) -> bool:
        return bool(self.stand_ins)

    def validator(self, schema_id: str) -> jsonschema_rs.Validator:
        """Return a validator of the schema, which follows references within this registry only.

        Raises RegistryError where the schema, or one that it refers to, is not there or is broken.
        """
        if schema_id not in self.documents:
            raise RegistryError(f"no schema with the $id {schema_id}")
        try:
            registry = jsonschema_rs.Registry(list(self.documents.items()), retriever=_refuse)
            return jsonschema_rs.validator_for(self.documents[schema_id], registry=registry, offline=True)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            reason = getattr(error, "message", str(error))
            raise RegistryError(f"the schema {schema_id} cannot be used: {reason}") from error


def load_registry(extra: Path | None = None) -> SchemaRegistry:
    """Read the schemas shipped and those of `extra` (`*.json`), which take precedence; a real file always
    takes precedence over a stand-in. Raises RegistryError for an unreadable file or folder."""
    real: dict[str, dict[str, Any]] = {}
    stand_ins: dict[str, dict[str, Any]] = {}
    for folder in [SHIPPED] if extra is None else [SHIPPED, extra]:
        real.update(_read_folder(folder, stand_in=False))
        stand_ins.update(_read_folder(folder, stand_in=True))
    return SchemaRegistry({**stand_ins, **real}, frozenset(stand_ins) - frozenset(real))


def _read_folder(folder: Path, *, stand_in: bool) -> dict[str, dict[str, Any]]:
    if not folder.is_dir():
        raise RegistryError(f"{folder} is no folder")
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith(STAND_IN) != stand_in:
            continue
        document = _read_schema(path)
        schema_id = document["$id"].rstrip("#")
        if schema_id in found:
            raise RegistryError(f"{path} has the $id of another file in its folder: {schema_id}")
        found[schema_id] = document
    return found


def _read_schema(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RegistryError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("$id"), str):
        raise RegistryError(f"{path} is no JSON Schema with an $id")
    return document


def _refuse(uri: str) -> NoReturn:
    raise LookupError(f"{uri} is in no local folder of schemas, and none is fetched")
