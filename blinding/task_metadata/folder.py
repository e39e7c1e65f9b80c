"""The files of a folder on disk as a mapping from paths to contents, read when they are asked for."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path


class FolderFiles(Mapping[str, bytes]):
    """Files below a folder by path with slashes. Links are neither followed nor listed.

    Paths are relative to `root`, or begin with its name if that is `tasks` or if it is itself a task package.
    """

    def __init__(self, root: Path) -> None:
        root = root.absolute()
        self._base = _base(root)
        self._paths = sorted(path.relative_to(self._base).as_posix() for path in _walk(root))
        self._known = frozenset(self._paths)

    def __getitem__(self, path: str) -> bytes:
        if path not in self._known:
            raise KeyError(path)
        return (self._base / path).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _base(root: Path) -> Path:
    if (root / "tasks").is_dir():
        return root
    is_named = root.name == "tasks" or (root / "task.toml").is_file()
    return root.parent if is_named else root


def _walk(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path
