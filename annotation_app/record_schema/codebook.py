"""The words that coders read in place of a schema's: labels, help, anchors and hotkeys, per field and value.

A codebook may be partial: what it leaves out is taken from the shipped one, or generated from the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.canonical import digest
from annotation_app.record_schema.registry import DEFAULT_ID
from annotation_app.record_schema.structure import (
    FLAG,
    FLAG_REASON,
    CodedField,
    Kind,
    RecordSchema,
    value_key,
)

Hits = Callable[[str], Sequence[str]]
"""Says which words of a forbidden vocabulary a text contains."""

FOLDER = Path(__file__).parent / "codebooks"
SHIPPED = {DEFAULT_ID: "pilot-v0.8"}
HOTKEY_ROWS = ("12345", "qwer", "asdfg", "zxcvb", "yuiophjkl")  # one row of the keyboard per field


@dataclass(frozen=True)
class OptionText:
    label: str
    hotkey: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class FieldText:
    label: str
    help: str
    hotkey: str
    options: Mapping[str, OptionText]


@dataclass(frozen=True)
class Codebook:
    """A complete codebook: words for every field of the form, by path, and for every option, by value."""

    version: str
    kind: str
    text: str
    fields: Mapping[str, FieldText]

    @classmethod
    def of(cls, document: Mapping[str, Any], schema: RecordSchema) -> Codebook:
        """Read a codebook document that `check_codebook` finds no fault with."""
        whole = complete_codebook(document, schema)
        fields = {path: _field_text(entry) for path, entry in whole["fields"].items()}
        return cls(whole["version"], whole["kind"], whole["text"], fields)


def default_codebook(schema: RecordSchema, hits: Hits = lambda text: ()) -> dict[str, Any]:
    """Return the codebook a new study starts with, as a document: the shipped one, or one generated.

    Generated labels with a hit are replaced by a number.
    """
    name = SHIPPED.get(schema.id)
    document: dict[str, Any] = (
        deepcopy(_shipped(name)) if name else {"version": "1.0", "kind": "first", "text": ""}
    )
    words: dict[str, Any] = _common_words() | document.get("fields", {})
    rows = list(HOTKEY_ROWS)
    fields = {}
    for number, (path, values) in enumerate(described(schema).items(), 1):
        entry = words.get(path)
        if entry is None or list(entry.get("options", {})) != list(values):
            entry = _generated(path, values, number, hits)
            _give_hotkeys(entry, rows)
        fields[path] = entry
    return document | {"fields": fields}


def complete_codebook(document: Mapping[str, Any], schema: RecordSchema) -> dict[str, Any]:
    """Return `document` with every field and value of the schema; own hotkeys come before those filled in."""
    given = _under_one_path(document.get("fields", {}))
    base = default_codebook(schema)
    taken = {key for entry in given.values() for key in _hotkeys(entry)}
    fields = {}
    for path, default in base["fields"].items():
        own = given.get(path, {})
        _drop_hotkeys(default, taken)
        options = {
            value: text | own.get("options", {}).get(value, {})
            for value, text in default.get("options", {}).items()
        }
        fields[path] = default | own | {"options": options}
    head = {name: document.get(name, base[name]) for name in ("version", "kind", "text")}
    return head | {"fields": fields}


def described(schema: RecordSchema) -> dict[str, tuple[str, ...]]:
    """Return every path that a codebook has words for, with the keys of its options."""
    found = {field.path: _option_keys(field) for top in schema.fields for field in (top, *top.children)}
    return found | ({FLAG_REASON: ()} if schema.flag else {})


def label_mapping(document: Mapping[str, Any], schema: RecordSchema) -> dict[str, Any]:
    """Return which label stood for which field and value: `{path: {label, options: {value: label}}}`."""
    fields = complete_codebook(document, schema)["fields"]
    return {
        path: {
            "label": entry["label"],
            "options": {value: option["label"] for value, option in entry["options"].items()},
        }
        for path, entry in fields.items()
    }


def mapping_hash(document: Mapping[str, Any], schema: RecordSchema) -> str:
    """Return the SHA-256 of the mapping of labels to values, 64 hexadecimal digits."""
    return digest(label_mapping(document, schema))


def codebook_hash(document: Mapping[str, Any], schema: RecordSchema) -> str:
    """Return the SHA-256 of the complete codebook: one comma changed is another hash."""
    return digest(complete_codebook(document, schema))


def _option_keys(field: CodedField) -> tuple[str, ...]:
    if field.kind in (Kind.CHECKBOX, Kind.FLAG):
        return ("true",)
    if field.kind is Kind.SCALE:
        return value_key(field.minimum), value_key(field.maximum)
    return tuple(value_key(value) for value in field.values)


@cache
def _shipped(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document | {"text": (FOLDER / f"{name}.md").read_text(encoding="utf-8")}


def _common_words() -> dict[str, Any]:
    """Return the words of the controls that are the product's own, whatever the schema."""
    shipped = deepcopy(_shipped(SHIPPED[DEFAULT_ID])["fields"])
    return {
        path: entry for path, entry in shipped.items() if path.startswith((cluster.PATH, FLAG, FLAG_REASON))
    }


def _generated(path: str, values: Sequence[str], number: int, hits: Hits) -> dict[str, Any]:
    label = _in_words(path.rpartition(".")[2])
    options = {}
    for position, value in enumerate(values, 1):
        words = "Yes" if value == "true" else _in_words(value)
        options[value] = {"label": f"Option {position}" if hits(words) else words}
    return {"label": f"Field {number}" if hits(label) else label, "help": "", "options": options}


def _in_words(name: str) -> str:
    words = " ".join(name.replace("_", " ").split()) or name
    return words[:1].upper() + words[1:]


def _give_hotkeys(entry: dict[str, Any], rows: list[str]) -> None:
    """Give a field's options the first row of keys that is free and long enough, and take the row away."""
    options = list(entry["options"].values())
    row = next((row for row in rows if len(options) <= len(row)), None) if len(options) > 1 else None
    if row is None:
        return
    rows.remove(row)
    for option, key in zip(options, row, strict=False):
        option["hotkey"] = key


def _hotkeys(entry: Mapping[str, Any]) -> Iterator[str]:
    for text in (entry, *entry.get("options", {}).values()):
        if key := text.get("hotkey"):
            yield key.lower()


def _drop_hotkeys(entry: dict[str, Any], taken: set[str]) -> None:
    for text in (entry, *entry.get("options", {}).values()):
        if text.get("hotkey") in taken:
            del text["hotkey"]


def _under_one_path(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` with the words for the five decisions under the path of the cluster decision."""
    out = dict(fields)
    decision = out.pop(cluster.DECISION_PATH, None)
    if decision is not None:
        own = out.get(cluster.PATH, {})
        options = decision.get("options", {}) | own.get("options", {})
        out[cluster.PATH] = decision | own | {"options": options}
    return out


def _field_text(entry: Mapping[str, Any]) -> FieldText:
    options = {
        value: OptionText(text["label"], text.get("hotkey", "").lower(), text.get("anchor", ""))
        for value, text in entry["options"].items()
    }
    return FieldText(entry["label"], entry.get("help", ""), entry.get("hotkey", "").lower(), options)
