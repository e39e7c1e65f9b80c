"""What coders were told and asked, in a bundle: record schema, protocol, codebooks, label ↔ value, the schema of incidents."""

from collections.abc import Iterator
from typing import Any

from annotation_app.models import Study
from annotation_app.record_schema import label_mapping
from annotation_app.services.bundles.records import incident_schema
from annotation_app.services.forms import schema_of


def documents_of(study: Study) -> Iterator[tuple[str, Any]]:
    """Yield (name in the bundle, JSON value)."""
    schema = schema_of(study)
    books = list(study.codebooks.order_by("number"))
    yield "record.schema.json", study.record_schema
    yield "incident.schema.json", incident_schema()
    yield "protocol.json", study.protocol
    yield (
        "codebooks.json",
        [
            {
                "version": book.version,
                "number": book.number,
                "rule_version": book.rule_version,
                "kind": book.kind,
                "hash": book.hash,
                "mapping_hash": book.mapping_hash,
                "created_at": book.created_at,
                "document": book.document,
            }
            for book in books
        ],
    )
    yield (
        "mapping.json",
        [
            {
                "codebook_version": book.version,
                "hash": book.mapping_hash,
                "mapping": label_mapping(book.document, schema),
            }
            for book in books
        ],
    )
