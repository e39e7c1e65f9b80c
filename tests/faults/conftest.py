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
