import subprocess
import sys
from pathlib import Path

from launch import guard

SLEEPER = [sys.executable, "-c", "import signal, sys; signal.signal(15, signal.SIG_IGN); sys.stdin.read()"]


def test_a_child_that_hangs_is_killed_and_folders_are_removed(tmp_path: Path) -> None:
    """What the launcher would have told is told here; closing the pipe is its death."""
    folder = tmp_path / "sockets"
    folder.mkdir()
    child = subprocess.Popen(SLEEPER, stdin=subprocess.PIPE, start_new_session=True)
    script = Path(guard.__file__)
    subprocess.run(
        [sys.executable, "-I", str(script)],
        input=f"group {child.pid}\nfolder {folder}\n",
        text=True,
        check=True,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert child.wait(10) == -9
    assert not folder.exists()
    if child.stdin:
        child.stdin.close()


def test_children_that_ended_in_order_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    child = subprocess.Popen(SLEEPER, stdin=subprocess.PIPE, start_new_session=True)
    watch = guard.Guard()
    watch.answer_for_group(child.pid)
    watch.answer_for_folder(folder)
    watch.dismiss()
    assert child.poll() is None
    assert not folder.exists()
    child.communicate(b"")
