"""Writes the files of a bundle into a ZIP, chunk by chunk, and notes size, lines and SHA-256 of each."""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from blinding import clock

Part = tuple[str, Iterable[bytes]]  # a name in the bundle, and its chunks

_MODE = 0o600 << 16


@dataclass(frozen=True)
class FileEntry:
    """A file as the manifest names it; `lines` is None for what is not JSONL."""

    sha256: str
    bytes: int
    lines: int | None


class BundleWriter:
    """An open bundle; `tell` hears the number of lines written so far."""

    def __init__(self, archive: zipfile.ZipFile, tell: Callable[[int], None]) -> None:
        self._archive, self._tell = archive, tell
        self._moment = clock.now().timetuple()[:6]
        self._lines = 0
        self.files: dict[str, FileEntry] = {}

    def add(self, name: str, chunks: Iterable[bytes]) -> FileEntry:
        """Write one file; ValueError for a name that is there."""
        if name in self.files:
            raise ValueError(f"{name} is in the bundle already")
        info = zipfile.ZipInfo(name, self._moment)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, _MODE
        digest, size, lines = hashlib.sha256(), 0, 0
        with self._archive.open(info, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                lines += chunk.count(b"\n")
                self._tell(self._lines + lines)
        self._lines += lines
        entry = FileEntry(digest.hexdigest(), size, lines if name.endswith(".jsonl") else None)
        self.files[name] = entry
        return entry

    def add_json(self, name: str, value: Any) -> FileEntry:
        """Write one JSON document, indented for people."""
        return self.add(name, [as_json(value)])


@contextmanager
def open_bundle(path: Path, tell: Callable[[int], None]) -> Iterator[BundleWriter]:
    """Open a new ZIP at `path`, readable by the product only; one that is there is overwritten."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    with zipfile.ZipFile(path, "w") as archive:
        yield BundleWriter(archive, tell)


def as_json(value: Any) -> bytes:
    """Return indented JSON with a final newline; times in UTC with Z."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


def as_line(value: Any) -> bytes:
    """Return one line of JSONL."""
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


def as_lines(values: Iterable[Any], size: int = 500) -> Iterator[bytes]:
    """Yield JSONL in chunks of up to `size` lines."""
    waiting: list[bytes] = []
    for value in values:
        waiting.append(as_line(value))
        if len(waiting) == size:
            yield b"".join(waiting)
            waiting = []
    if waiting:
        yield b"".join(waiting)
