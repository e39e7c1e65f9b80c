import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.launcher import Launcher


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder in which the address of a unix socket fits; those of `tmp_path` grow with the test's name."""
    with tempfile.TemporaryDirectory(prefix="d") as name:
        yield Path(name)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder of ours that others cannot enter, where each folder above it lets everybody pass."""
    with tempfile.TemporaryDirectory(prefix="twinblind-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture(autouse=True)
def _way_in(tmp_path: Path) -> None:
    """Let others pass through pytest's folders: what the servers run as when root starts them is somebody else."""
    above = [folder for folder in tmp_path.parents if folder.is_relative_to(tempfile.gettempdir())][:-1]
    for folder in (tmp_path, *above):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o711)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Launcher]]:
    """Start `./run …` on a folder, the test's own where none is given; what runs at the end is killed."""
    started: list[Launcher] = []

    def start_launcher(*arguments: str, data: Path | None = None, **more: str) -> Launcher:
        started.append(Launcher(data or tmp_path / "data", *arguments, **more))
        return started[-1]

    yield start_launcher
    for launcher in started:
        launcher.signal(signal.SIGKILL)
    assert all(launcher.leaves_nothing() for launcher in started)
