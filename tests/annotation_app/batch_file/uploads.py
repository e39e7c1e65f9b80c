"""Small uploads to check: rows of a library's opening hours, written as JSONL, CSV or ZIP."""

import csv
import io
import json
import unicodedata
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation_app.batch_file import (
    CheckResult,
    Limits,
    Opened,
    OutputRow,
    check_file,
    open_upload,
    read_outputs,
)

TOKEN = "<|stop|>"
HIDDEN = "\u200b"


@dataclass(frozen=True)
class Plainly:
    text: str
    invisible_removed: int = 0
    control_tokens_removed: int = 0


def clean(text: str) -> Plainly:
    """Return `text` without the one invisible character and the one control token known here."""
    bare = text.replace(HIDDEN, "").replace(TOKEN, "")
    return Plainly(unicodedata.normalize("NFC", bare), text.count(HIDDEN), text.count(TOKEN))


def row(number: Any = 1, **columns: Any) -> dict[str, Any]:
    """Return a good row; columns given as ... are left out."""
    values = {
        "output_id": f"lib-{number}",
        "task_id": "hours",
        "text": f"It opens at {number}.",
        "condition": "north",
        "model": "Quillon-1",
        **columns,
    }
    return {name: value for name, value in values.items() if value is not ...}


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(values).encode() + b"\n" for values in rows)


def csv_bytes(*records: list[str]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(records)
    return out.getvalue().encode()


def csv_rows(*rows: Mapping[str, str]) -> bytes:
    return csv_bytes(list(rows[0]), *(list(values.values()) for values in rows))


def zipped(entries: Mapping[Any, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


class Uploads:
    """Writes uploads into a folder of their own and reads them."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.folder = folder
        self.limits = limits or Limits()

    def open(self, name: str, content: bytes) -> Opened:
        path = self.folder / "upload"
        path.write_bytes(content)
        return open_upload(path, name, self.limits)

    def check(
        self,
        content: bytes,
        name: str = "outputs.jsonl",
        mapping: Mapping[str, str] | None = None,
        **others: Any,
    ) -> CheckResult:
        return check_file(self.open(name, content), mapping or {}, clean=clean, **others)

    def errors(self, *arguments: Any, **others: Any) -> list[tuple[int | None, str | None, str]]:
        return [(e.row, e.column, e.code) for e in self.check(*arguments, **others).errors]

    def warnings(self, *arguments: Any, **others: Any) -> dict[str, tuple[int, list[int]]]:
        return {w.code: (w.count, w.rows) for w in self.check(*arguments, **others).warnings}

    def outputs(
        self, content: bytes, name: str = "outputs.jsonl", mapping: Mapping[str, str] | None = None
    ) -> list[OutputRow]:
        return list(read_outputs(self.open(name, content), mapping or {}, clean))
