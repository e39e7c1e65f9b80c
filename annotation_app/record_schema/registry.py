"""The record schemas that ship with the product, by `$id`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from annotation_app.record_schema.schema import load_record_schema
from annotation_app.record_schema.structure import RecordSchema

FOLDER = Path(__file__).parent / "schemas"
DEFAULT_ID = "https://www.t-1-t.com/T-GPT/data/pilot-v0.8-annotation-schema.json"


@cache
def shipped_documents() -> dict[str, dict[str, Any]]:
    """Return the shipped schema documents by `$id`."""
    documents = (
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.schema.json"))
    )
    return {document["$id"]: document for document in documents}


@cache
def shipped_schema(schema_id: str = DEFAULT_ID) -> RecordSchema:
    """Return a shipped schema; KeyError for an `$id` that does not ship."""
    return load_record_schema(shipped_documents()[schema_id])
