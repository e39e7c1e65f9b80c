import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from launch import supervisor as module
from launch.identity import myself
from launch.processes import Child, complete
from launch.speech import Trouble
from launch.supervisor import Stopped, Supervisor, stoppable


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with Supervisor() as started:
        yield started


def child(folder: Path, code: str, **more: float) -> Child:
    """Return a child that runs a line of Python."""
    command = [sys.executable, "-c", code]
    return Child("A child", command, os.environ, myself(), folder, folder / "log", **more)  # type: ignore[arg-type]


def test_a_child_that_fails_to_start_is_told_with_its_last_words(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    supervisor.start(child(tmp_path, "raise SystemExit('no room')"))
    with pytest.raises(Trouble, match="A child has ended while starting:\nno room"):
        supervisor.wait_for(lambda: False, seconds=30, what="It")


def test_a_child_that_never_stays_up_is_given_up(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FALLS", 2)
    supervisor.start(child(tmp_path, "raise SystemExit('no room')"))
    with pytest.raises(Trouble, match="A child does not stay up:\nno room"):
        supervisor.watch()


def test_a_child_that_ignores_its_signal_is_killed(supervisor: Supervisor, tmp_path: Path) -> None:
    deaf = child(
        tmp_path,
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
        patience=0.1,
    )
    supervisor.start(deaf)
    supervisor.wait_for(lambda: "up" in deaf.last_words(), seconds=30, what="It")
    supervisor.stop()
    assert deaf.process is not None
    assert deaf.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_exception(number: signal.Signals) -> None:
    with pytest.raises(Stopped) as stopped, stoppable():
        signal.raise_signal(number)
    assert stopped.value.number == number


def test_hanging_up_is_ignored_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_completed_program_gives_its_code_and_what_it_printed(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    done = complete(
        [sys.executable, "-c", code], environment=os.environ, identity=myself(), cwd=tmp_path, capture=True
    )
    assert done == (3, "out\nerr\n")
