"""Controls of a form: neutral keys and values in front of a schema's fields and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.codebook import Codebook
from annotation_app.record_schema.structure import FLAG_REASON, CodedField, Kind, value_key

_REASON = CodedField(FLAG_REASON, Kind.TEXT, max_length=1200)
_CLUSTER_SUFFIXES = {
    cluster.CLUSTER_PATH: "-cluster",
    cluster.TARGET_PATH: "-target",
    cluster.NOTES_PATH: "-notes",
}


@dataclass(frozen=True)
class Option:
    """`value` is what the page knows, `raw` what the record holds."""

    value: str
    raw: Any
    label: str
    hotkey: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Control:
    """One control. A cluster decision has the key of its answers; picker, target and notes are children."""

    key: str
    field: CodedField
    label: str
    help: str
    hotkey: str
    required: bool
    options: tuple[Option, ...] = ()
    children: tuple[Control, ...] = ()

    @property
    def path(self) -> str:
        return self.field.path

    @property
    def name(self) -> str:
        """The property's name within its object."""
        return self.path.rpartition(".")[2]

    @property
    def kind(self) -> Kind:
        return self.field.kind

    @cached_property
    def raw_of(self) -> dict[str, Any]:
        """Raw values by neutral value."""
        return {option.value: option.raw for option in self.options}

    @cached_property
    def neutral_of(self) -> dict[str, str]:
        """Neutral values by the raw value as a codebook writes it (`value_key`)."""
        return {value_key(option.raw): option.value for option in self.options}

    def child(self, kind: Kind) -> Control | None:
        return next((child for child in self.children if child.kind is kind), None)


def build_control(key: str, field: CodedField, codebook: Codebook, settings: Mapping[str, Any]) -> Control:
    """Make the control of a field from the codebook's words and the protocol's `fields`."""
    words = codebook.fields[field.path]
    raws = {value_key(raw): raw for raw in field.values} or dict.fromkeys(words.options, True)
    options = tuple(
        Option(str(number), raws[name], text.label, text.hotkey, text.anchor)
        for number, (name, text) in enumerate(words.options.items(), 1)
    )
    return Control(
        key=key,
        field=field,
        label=words.label,
        help=words.help,
        hotkey=words.hotkey,
        required=_is_required(field, settings),
        options=options,
        children=tuple(
            build_control(child_key, child, codebook, settings) for child_key, child in _children(key, field)
        ),
    )


def _is_required(field: CodedField, settings: Mapping[str, Any]) -> bool:
    """Say whether an answer is required: by the protocol, or by the schema where it takes no null.

    A tick box is always answered, and classes are where none is ticked: only the protocol can ask for one.
    """
    if field.kind in (Kind.CHECKBOX, Kind.FLAG):
        return False
    by_schema = field.kind is Kind.PICKER or (
        field.required and not field.nullable and field.kind is not Kind.CHECKS
    )
    return by_schema or bool(settings.get(field.path, {}).get("required", False))


def _children(key: str, field: CodedField) -> list[tuple[str, CodedField]]:
    if field.kind is Kind.FLAG:
        return [(f"{key}-reason", _REASON)]
    if field.kind is Kind.CLUSTER:
        return [(key + _CLUSTER_SUFFIXES[child.path], child) for child in field.children]
    return [(f"{key}-{number}", child) for number, child in enumerate(field.children, 1)]
