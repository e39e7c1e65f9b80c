"""A small process that waits for the launcher's end, however it comes, and clears up after it.

The kernel's signal asks every child to end; one that hangs (a worker whose broker went first) is killed here
a few seconds later. Sockets outside the data folder are removed. It runs as a script and imports nothing
of ours.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# Seconds that children get to end by themselves.
GRACE = 5.0


class Guard:
    """The launcher's end of the pipe."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            text=True,
            bufsize=1,
        )

    def answer_for_group(self, group: int) -> None:
        """Let the process group `group` not outlive the launcher."""
        self._tell(f"group {group}")

    def answer_for_folder(self, folder: Path) -> None:
        """Let `folder` not outlive the launcher."""
        self._tell(f"folder {folder}")

    def dismiss(self) -> None:
        """Return when the folders are removed; the children have ended before."""
        self._tell("children ended")
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(OSError):
                self._process.stdin.write(f"{line}\n")


def stand_guard() -> None:
    """Listen until the launcher's end of the pipe closes, then clear up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    folders: set[str] = set()
    for line in sys.stdin:
        word, _, value = line.rstrip("\n").partition(" ")
        if word == "group":
            groups.add(int(value))
        elif word == "folder":
            folders.add(value)
        else:
            groups.clear()
    _end_groups(groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _end_groups(groups: set[int]) -> None:
    end = time.monotonic() + GRACE
    while time.monotonic() < end and any(_send(group, 0) for group in groups):
        time.sleep(0.1)
    for group in groups:
        _send(group, signal.SIGKILL)


def _send(group: int, number: int) -> bool:
    """Signal a process group; return whether there is one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    stand_guard()
