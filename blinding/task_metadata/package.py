"""Task packages: which folders are some, which files belong to one, and the [metadata] of a task.toml."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import re2

from blinding.task_metadata.findings import Hit

TASK_FILE = "task.toml"
MATERIALS = "materials"
VERIFIERS = ("verifier", "tests")  # the first that is there
MAX_BYTES = 1_000_000

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_LONG_KEY = re2.compile(rf"(?:{_KEY}[ \t]*\.[ \t]*){{32}}")
_NOISE = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class Package:
    """A folder with a task.toml, and the files of its subfolders that are hashed, relative to each."""

    folder: str
    subfolders: dict[str, list[str]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"{self.folder}/{TASK_FILE}"

    @property
    def name(self) -> str:
        return self.folder.rpartition("/")[2]

    @property
    def verifier(self) -> str | None:
        return next((name for name in VERIFIERS if name in self.subfolders), None)


def is_noise(path: str) -> bool:
    """Say whether an operating system left the file there."""
    return any(part in _NOISE or part.startswith("._") for part in path.split("/"))


def task_entries(names: Iterable[str]) -> dict[str, str]:
    """Return, for the entries of an archive at `tasks/` or at `tasks/` in its one common top folder, their
    path from `tasks/` on; other entries, folders and noise are left out."""
    files = [name for name in names if not name.endswith("/") and not is_noise(name)]
    tops = {name.partition("/")[0] for name in files}
    common = "" if len(tops) != 1 or tops == {"tasks"} else f"{tops.pop()}/"
    return {name: name[len(common) :] for name in files if name.startswith(f"{common}tasks/")}


def find_packages(paths: Iterable[str]) -> list[Package]:
    """Return the packages among file paths, sorted: each folder that holds a task.toml, at any depth, unless
    it lies in the materials or the verifier of another."""
    files = sorted(path for path in paths if not is_noise(path))
    candidates = {path[: -len(TASK_FILE) - 1] for path in files if path.endswith(f"/{TASK_FILE}")}
    packages = {f: Package(f) for f in sorted(candidates) if not _place(f"{f}/{TASK_FILE}", candidates)}
    for path in files:
        if place := _place(path, packages.keys()):
            folder, subfolder, rest = place
            packages[folder].subfolders.setdefault(subfolder, []).append(rest)
    return list(packages.values())


def _place(path: str, folders: Iterable[str]) -> tuple[str, str, str] | None:
    """Return package, subfolder and the rest of a path within the materials or verifier of a package."""
    parts = path.split("/")
    for end in range(1, len(parts) - 1):
        folder = "/".join(parts[:end])
        if parts[end] in (MATERIALS, *VERIFIERS) and folder in folders:
            return folder, parts[end], "/".join(parts[end + 1 :])
    return None


def read_table(data: bytes) -> tuple[dict[str, Any], list[Hit]]:
    """Return the table [metadata] of a task.toml as TOML has it, or an empty one and why there is none."""
    if len(data) > MAX_BYTES:
        return {}, [Hit("task_file_too_large", "")]
    try:
        text = data.decode("utf-8-sig")
        if _LONG_KEY.search(text):  # tomllib takes minutes for a key of many parts
            return {}, [_bad_toml("a dotted key has more than 32 parts")]
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        return {}, [_bad_toml(f"byte {error.start} is not UTF-8")]
    except ValueError as error:  # TOMLDecodeError is one; so is an integer of too many digits
        return {}, [_bad_toml(_place_in_file(str(error)), str(error))]
    except RecursionError:
        return {}, [_bad_toml("nested too deeply")]
    table = document.get("metadata")
    return (table, []) if isinstance(table, dict) else ({}, [Hit("no_metadata_table", "")])


def _bad_toml(why: str, detail: str = "") -> Hit:
    return Hit("bad_toml", "", detail, f"The file is no TOML 1.0 in UTF-8, {why}: correct it.")


def _place_in_file(message: str) -> str:
    found = re.search(r"\((at (?:line \d+, column \d+|end of document))\)$", message)
    return found[1] if found else "somewhere"
