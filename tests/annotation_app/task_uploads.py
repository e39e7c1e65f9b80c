"""Uploads with task packages, and a search of the whole database for what must not be in it."""

import io
import zipfile
from collections.abc import Iterable
from typing import Any

from django.db import connection

from annotation_app.models import Batch
from tests.blinding.task_metadata.packages import packages
from tests.factories import StudyUnderTest, jsonl


def zipped(outputs: Iterable[dict[str, Any]] | None, *trees: dict[str, Any], **files: bytes) -> bytes:
    """Return a ZIP of an outputs file (None: without) and packages in folders of their task ids."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        if outputs is not None:
            archive.writestr("outputs.jsonl", jsonl(outputs))
        for name, content in (packages(*trees) | files).items():
            archive.writestr(name, content)
    return packed.getvalue()


def upload(
    study: StudyUnderTest,
    outputs: Iterable[dict[str, Any]] | None,
    *trees: dict[str, Any],
    purpose: str = "main",
) -> Batch:
    """Upload and import packages with outputs; return the batch as the import left it."""
    return study.import_batch(zipped(outputs, *trees), purpose, file_name="upload.zip")


def output(number: Any, task_id: str, **more: Any) -> dict[str, Any]:
    """Return a row of one of two conditions."""
    return {
        "output_id": f"out-{number}",
        "task_id": task_id,
        "text": f"Boil the stock, then add carrot number {number}.",
        "condition": "meadow" if str(number)[-1] in "13579" else "harbour",
        "model": "quartz-1",
        **more,
    }


def rows_that_hold(values: Iterable[str]) -> dict[str, list[str]]:
    """Return in which tables each of the values stands in a row, as text or within bytes."""
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()")
        for (table,) in cursor.fetchall():
            for value in values:
                cursor.execute(
                    f"SELECT count(*) FROM {table} r WHERE strpos(r::text, %s) > 0 OR strpos(r::text, %s) > 0",
                    [value, value.encode().hex()],
                )
                if cursor.fetchone()[0]:
                    found.setdefault(value, []).append(table)
    return found
