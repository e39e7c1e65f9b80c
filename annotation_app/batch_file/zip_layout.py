"""Where the outputs file and the task packages stand in a ZIP, found from its directory alone. An entry that
is unsafe or ambiguous refuses the whole archive; all others are ignored and never unpacked."""

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from annotation_app.batch_file.faults import UploadRefused
from annotation_app.batch_file.limits import Limits
from blinding.task_metadata.package import is_noise

# What zipfile raises on bytes that are no proper ZIP; a RuntimeError is an encrypted entry.
ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)
OUTPUTS: dict[str, Literal["jsonl", "csv"]] = {"outputs.jsonl": "jsonl", "outputs.csv": "csv"}
DRIVE = re.compile(r"[A-Za-z]:")
END_OF_DIRECTORY = b"PK\x05\x06"
ENCRYPTED = 0x1


class Entry(NamedTuple):
    """A file of the archive: its path as parts, and how the archive knows it."""

    parts: tuple[str, ...]
    info: zipfile.ZipInfo


@dataclass(frozen=True, slots=True)
class ZipLayout:
    """`outputs` is an entry name, None for task packages alone; `task_files` are (path below the top folder,
    entry name)."""

    outputs: str | None
    outputs_size: int
    row_format: Literal["jsonl", "csv"]
    task_files: tuple[tuple[str, str], ...]
    task_ids: frozenset[str] | None


def read_layout(path: Path, limits: Limits) -> ZipLayout:
    """Return where everything stands; raises UploadRefused: bad_archive, unsafe_path or archive_too_large."""
    _refuse_huge_directory(path, limits)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except ZIP_FAULTS as fault:
        raise UploadRefused(
            "bad_archive", "The file is named .zip but cannot be read as a ZIP archive."
        ) from fault
    if any(_is_unsafe(info) for info in infos):
        raise UploadRefused(
            "unsafe_path",
            "The archive holds an entry that is a link, is absolute, names a drive or leaves its folder. "
            "Pack plain files and folders only.",
        )
    total = sum(info.file_size for info in infos)
    if total > limits.unpacked and total > limits.unpacked_ratio * path.stat().st_size:
        raise UploadRefused(
            "archive_too_large",
            f"The archive would unpack to {total:,} bytes, more than {limits.unpacked_ratio} times its size.",
        )
    return _layout([entry for info in infos if (entry := _entry(info)) is not None])


def _refuse_huge_directory(path: Path, limits: Limits) -> None:
    """A directory is held in memory whole, some ten times its size, so look at its size first."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_557))
        tail = file.read()
    at = tail.rfind(END_OF_DIRECTORY)
    if at < 0 or len(tail) < at + 16:
        return
    (size,) = struct.unpack_from("<L", tail, at + 12)
    if size > limits.zip_directory:
        raise UploadRefused("bad_archive", "The archive has too many entries. Pack outputs and tasks only.")


def _is_unsafe(info: zipfile.ZipInfo) -> bool:
    name = info.orig_filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    return (
        "\0" in name
        or name.startswith("/")
        or DRIVE.match(name) is not None
        or ".." in name.split("/")
        or kind not in (0, stat.S_IFREG, stat.S_IFDIR)
    )


def _entry(info: zipfile.ZipInfo) -> Entry | None:
    """Return a file of the archive, None for a folder and for what operating systems leave behind."""
    name = info.orig_filename.replace("\\", "/")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if not parts or name.endswith("/") or is_noise("/".join(parts)):
        return None
    return Entry(parts, info)


def _layout(entries: Sequence[Entry]) -> ZipLayout:
    outputs = _the_outputs(entries)
    top = outputs.parts[:-1] if outputs else _top_of_packages(entries)
    tasks = [entry for entry in entries if _is_in_tasks(entry.parts, top)]
    if any(_is_package(entry.parts) and entry not in tasks for entry in entries):
        raise UploadRefused(
            "bad_archive", "The folder tasks/ must stand beside the outputs file, in the same folder."
        )
    for entry in [*([outputs] if outputs else []), *tasks]:
        _refuse_unreadable(entry)
    files = [("/".join(entry.parts[len(top) :]), entry.info.filename) for entry in tasks]
    if len({path for path, _ in files}) < len(files):
        raise UploadRefused("bad_archive", "The archive holds two files of one name below tasks/.")
    ids = {path.split("/")[-2] for path, _ in files if path.count("/") >= 2 and path.endswith("/task.toml")}
    return ZipLayout(
        outputs=outputs.info.filename if outputs else None,
        outputs_size=outputs.info.file_size if outputs else 0,
        row_format=OUTPUTS[outputs.parts[-1].lower()] if outputs else "jsonl",
        task_files=tuple(files),
        task_ids=frozenset(ids) if files else None,
    )


def _the_outputs(entries: Sequence[Entry]) -> Entry | None:
    """Return the one outputs file, None where there is none but task packages."""
    found = [
        entry
        for entry in entries
        if entry.parts[-1].lower() in OUTPUTS and len(entry.parts) <= 2 and entry.parts[0] != "tasks"
    ]
    if not found and _are_packages_alone(entries):
        return None
    if len(found) != 1:
        held = "no file" if not found else f"{len(found)} files"
        raise UploadRefused(
            "bad_archive",
            f"The archive holds {held} named outputs.jsonl or outputs.csv, and needs exactly one, "
            "at the top or in one top folder. Task packages may come without, if nothing but a README is "
            "beside tasks/.",
        )
    return found[0]


def _are_packages_alone(entries: Sequence[Entry]) -> bool:
    """Tell whether there are packages and nothing that may be a misspelt outputs file."""
    if not any(_is_package(entry.parts) for entry in entries):
        return False
    top = _top_of_packages(entries)
    beside = (entry.parts[-1].upper() for entry in entries if not _is_in_tasks(entry.parts, top))
    return all(name.startswith(("README", "LICENSE")) for name in beside)


def _top_of_packages(entries: Sequence[Entry]) -> tuple[str, ...]:
    first = next(entry.parts for entry in entries if _is_package(entry.parts))
    return first[: first.index("tasks")]


def _is_in_tasks(parts: tuple[str, ...], top: tuple[str, ...]) -> bool:
    return parts[: len(top) + 1] == (*top, "tasks") and len(parts) > len(top) + 1


def _is_package(parts: tuple[str, ...]) -> bool:
    return parts[-1] == "task.toml" and "tasks" in parts[:2]


def _refuse_unreadable(entry: Entry) -> None:
    if entry.info.flag_bits & ENCRYPTED:
        raise UploadRefused("bad_archive", "The archive is encrypted. Send it without a password.")
    if entry.info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UploadRefused(
            "bad_archive", "The archive is compressed in an unusual way. Use plain ZIP (deflate)."
        )
