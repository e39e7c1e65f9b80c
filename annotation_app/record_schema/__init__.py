"""From a record schema to a form, and from what a coder posts to a record that validates. No Django."""

from annotation_app.record_schema.canonical import canonical, digest
from annotation_app.record_schema.codebook import (
    Codebook,
    codebook_hash,
    complete_codebook,
    default_codebook,
    label_mapping,
    mapping_hash,
)
from annotation_app.record_schema.codebook_check import check_codebook
from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.form import Form, build_form, placed
from annotation_app.record_schema.payload import (
    FieldValue,
    Payload,
    read_fields,
    read_value,
    to_draft,
    to_neutral,
)
from annotation_app.record_schema.problem import DocumentRefused, Problem
from annotation_app.record_schema.protocol import check_protocol, complete_protocol, protocol_hash
from annotation_app.record_schema.readable import readable
from annotation_app.record_schema.reading import FieldError
from annotation_app.record_schema.registry import DEFAULT_ID, shipped_documents, shipped_schema
from annotation_app.record_schema.schema import load_record_schema
from annotation_app.record_schema.shapes import shape, shape_problems
from annotation_app.record_schema.structure import RecordSchema, SchemaRefused
from annotation_app.record_schema.validation import Violation, check_record, is_date_time

__all__ = [
    "DEFAULT_ID",
    "Codebook",
    "DocumentRefused",
    "FieldError",
    "FieldValue",
    "Form",
    "Payload",
    "Problem",
    "RecordContext",
    "RecordSchema",
    "SchemaRefused",
    "Violation",
    "build_form",
    "canonical",
    "check_codebook",
    "check_protocol",
    "check_record",
    "codebook_hash",
    "complete_codebook",
    "complete_protocol",
    "default_codebook",
    "digest",
    "is_date_time",
    "label_mapping",
    "load_record_schema",
    "mapping_hash",
    "placed",
    "protocol_hash",
    "read_fields",
    "read_value",
    "readable",
    "shape",
    "shape_problems",
    "shipped_documents",
    "shipped_schema",
    "to_draft",
    "to_neutral",
]
