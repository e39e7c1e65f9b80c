"""A record schema as the product sees it: what it fills in itself, and what a coder fills in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.problem import DocumentRefused

FLAG = "adjudication_required"
FLAG_REASON = "flag_reason"  # kept beside the record, never in it
CONFIDENCE = "confidence"
VISIBILITY_SUFFIX = "_visible_to_annotator"


class Kind(StrEnum):
    """What a coder sees of a property."""

    RADIO = "radio"
    CHECKBOX = "checkbox"
    SCALE = "scale"
    NUMBER = "number"
    TEXT = "text"
    LINE = "line"
    CHECKS = "checks"
    FIELDSET = "fieldset"
    CLUSTER = "cluster"
    PICKER = "picker"  # in a cluster decision: where the output is
    TARGET = "target"  # in a cluster decision: what to merge with
    FLAG = "flag"


NUMERIC = frozenset({Kind.SCALE, Kind.NUMBER})
WRITTEN = frozenset({Kind.TEXT, Kind.LINE})


class SchemaRefused(DocumentRefused):
    """A record schema that the product cannot honour."""


@dataclass(frozen=True)
class CodedField:
    """One property that a coder fills in; `path` is dotted, `required` is what the schema says."""

    path: str
    kind: Kind
    required: bool = False
    nullable: bool = False
    values: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    integer: bool = False
    min_length: int = 0
    max_length: int | None = None
    children: tuple[CodedField, ...] = ()


@dataclass(frozen=True)
class BlindingPolicy:
    """The schema's `blinding_policy`, all of whose claims the product honours."""

    claims: Mapping[str, Any]

    @property
    def minimum_annotators(self) -> int:
        return int(self.claims.get("minimum_independent_annotators_per_record", 2))


@dataclass(frozen=True, eq=False)
class RecordSchema:
    """A record schema split into what the product fills in and what a coder does; equal by hash."""

    id: str
    title: str
    document: dict[str, Any]
    system_fields: tuple[str, ...]
    fields: tuple[CodedField, ...]
    blinding_policy: BlindingPolicy
    hash: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordSchema) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    @cached_property
    def required(self) -> frozenset[str]:
        return frozenset(self.document.get("required", ()))

    @cached_property
    def cluster(self) -> CodedField | None:
        return next((field for field in self.fields if field.kind is Kind.CLUSTER), None)

    @cached_property
    def flag(self) -> CodedField | None:
        return next((field for field in self.fields if field.kind is Kind.FLAG), None)

    @cached_property
    def leaves(self) -> dict[str, CodedField]:
        """The fields that a protocol speaks of, by path: the cluster decision is one, its notes another."""
        return {leaf.path: leaf for field in self.fields for leaf in _leaves(field)}


def value_key(value: Any) -> str:
    """Return how a codebook writes an enum value as a JSON key: a string as it is, a number as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _leaves(field: CodedField) -> Iterator[CodedField]:
    if field.kind is Kind.FIELDSET:
        yield from field.children
        return
    yield field
    if field.kind is Kind.CLUSTER:
        yield from (child for child in field.children if child.path == cluster.NOTES_PATH)
