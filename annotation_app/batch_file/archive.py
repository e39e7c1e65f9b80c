"""Opens an upload by its name and content. Nothing is ever written to disk, and nothing of an archive is
unpacked but the outputs file and the task packages."""

import gzip
import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from annotation_app.batch_file.faults import UploadRefused
from annotation_app.batch_file.limits import DEFAULT_LIMITS, Limits
from annotation_app.batch_file.zip_layout import ZIP_FAULTS, ZipLayout, read_layout

RowFormat = Literal["jsonl", "csv"]
Packing = Literal["plain", "gzip", "zip"]
Progress = Callable[[int, int], None]  # how far, of how much

ENDINGS: tuple[tuple[str, Packing, RowFormat], ...] = (
    (".jsonl.gz", "gzip", "jsonl"),
    (".jsonl", "plain", "jsonl"),
    (".csv", "plain", "csv"),
    (".zip", "zip", "jsonl"),
)
GZIP_MAGIC = b"\x1f\x8b"
# What people upload by mistake and what is never JSONL or CSV, by its first bytes.
FOREIGN = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    GZIP_MAGIC,
    b"BZh91AY&SY",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"%PDF-",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3\x00",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"\x7fELF",
)
DAMAGED = "The archive is damaged: it cannot be read to its end. Pack it again and send it anew."


class OutputsReader:
    """Reads the outputs file as bytes, telling `report` after each piece how far it is.

    Raises UploadRefused where an archive is damaged or unpacks to more than `ceiling` bytes. `position` says
    how far the file itself is read, where that is not what came out of it.
    """

    def __init__(
        self,
        stream: BinaryIO,
        report: Callable[[int], None],
        ceiling: int | None = None,
        position: Callable[[], int] | None = None,
    ) -> None:
        self._stream = stream
        self._report = report
        self._ceiling = ceiling
        self._position = position
        self._taken = 0

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the file."""
        try:
            chunk = self._stream.read(size)
        except (gzip.BadGzipFile, zlib.error, EOFError, zipfile.BadZipFile) as fault:
            raise UploadRefused("bad_archive", DAMAGED) from fault
        self._taken += len(chunk)
        if self._ceiling is not None and self._taken > self._ceiling:
            raise too_large()
        self._report(self._taken if self._position is None else self._position())
        return chunk


class TaskFiles(Mapping[str, bytes]):
    """The files of task packages in an open archive, read on demand and kept nowhere.

    Raises UploadRefused for one that is damaged or has more than `largest` bytes.
    """

    def __init__(self, archive: zipfile.ZipFile, entries: dict[str, str], largest: int) -> None:
        self._archive = archive
        self._entries = entries
        self._largest = largest

    def __getitem__(self, path: str) -> bytes:
        entry = self._entries[path]
        if self._archive.getinfo(entry).file_size > self._largest:
            raise UploadRefused("bad_archive", f"{path} has more than {self._largest:,} bytes.")
        try:
            return self._archive.read(entry)
        except ZIP_FAULTS as fault:
            raise UploadRefused("bad_archive", DAMAGED) from fault

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@dataclass(frozen=True, slots=True)
class Opened:
    """An upload whose kind is known, to be read any number of times; progress counts up to `size`."""

    path: Path
    packing: Packing
    row_format: RowFormat
    size: int
    limits: Limits
    layout: ZipLayout | None = None

    @contextmanager
    def outputs(self, progress: Progress | None = None) -> Iterator[OutputsReader]:
        """Yield a reader of the outputs file; raises UploadRefused where the archive turns out damaged."""

        def report(done: int) -> None:
            if progress is not None:
                progress(done, self.size)

        if self.has_tasks_only:
            yield OutputsReader(io.BytesIO(), report)
            return
        if self.packing == "zip":
            with zipfile.ZipFile(self.path) as archive, self._entry(archive) as entry:
                yield OutputsReader(entry, report)
            return
        with self.path.open("rb") as file:
            if self.packing == "plain":
                yield OutputsReader(file, report)
                return
            ceiling = max(self.limits.unpacked, self.limits.unpacked_ratio * self.size)
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield OutputsReader(unpacked, report, ceiling, file.tell)  # type: ignore[arg-type]

    @contextmanager
    def _entry(self, archive: zipfile.ZipFile) -> Iterator[BinaryIO]:
        assert self.layout is not None
        assert self.layout.outputs is not None
        try:
            entry = archive.open(self.layout.outputs)
        except ZIP_FAULTS as fault:
            raise UploadRefused("bad_archive", DAMAGED) from fault
        with entry:
            yield entry  # type: ignore[misc]

    @contextmanager
    def task_files(self) -> Iterator[Mapping[str, bytes]]:
        """Yield the files of task packages by their paths from tasks/ on, each read when it is asked for."""
        if self.layout is None:
            yield {}
            return
        with zipfile.ZipFile(self.path) as archive:
            yield TaskFiles(archive, dict(self.layout.task_files), self.limits.task_file)

    @property
    def has_tasks_only(self) -> bool:
        """Whether this is an archive of task packages without outputs."""
        return self.layout is not None and self.layout.outputs is None

    @property
    def task_ids(self) -> frozenset[str] | None:
        """The names of the folders that hold a task.toml; None where there is no tasks/ at all."""
        return None if self.layout is None else self.layout.task_ids


def open_upload(path: Path, name: str, limits: Limits = DEFAULT_LIMITS) -> Opened:
    """Return what the file at `path`, uploaded under `name`, is; raises UploadRefused."""
    packing, row_format = _kind_of(name)
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(16)
    if packing == "plain" and start.startswith(FOREIGN):
        raise UploadRefused(
            "unknown_format",
            "The file is named like a text file but is something else. Send JSONL, JSONL.gz, CSV or ZIP "
            "under a name that says which.",
        )
    if packing == "gzip" and not start.startswith(GZIP_MAGIC):
        raise UploadRefused("bad_archive", "The file is named .gz but is not compressed with gzip.")
    if packing == "zip":
        layout = read_layout(path, limits)
        return Opened(path, packing, layout.row_format, layout.outputs_size, limits, layout)
    return Opened(path, packing, row_format, size, limits)


def _kind_of(name: str) -> tuple[Packing, RowFormat]:
    for ending, packing, row_format in ENDINGS:
        if name.lower().endswith(ending):
            return packing, row_format
    raise UploadRefused(
        "unknown_format",
        "The name must end in .jsonl, .jsonl.gz, .csv or .zip; the ending says how the file is read.",
    )


def too_large() -> UploadRefused:
    return UploadRefused(
        "archive_too_large",
        "The archive unpacks to far more than its size and is not read further. "
        "Send the file uncompressed, or in parts.",
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal, read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
