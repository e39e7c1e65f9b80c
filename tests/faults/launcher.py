"""A real `./run` to be maltreated, and questions about the processes it started."""

import contextlib
import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ("DATABASE_URL", "REDIS_URL", "TEST_DATABASE_NAME", "DJANGO_SECRET_KEY", "TWINBLIND_DATA")


def environment(**more: str) -> dict[str, str]:
    """Return this environment without the servers that the tests themselves run on."""
    return {key: value for key, value in os.environ.items() if key not in SERVERS} | more


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `./run` to its end."""
    return subprocess.run(
        [sys.executable, str(ROOT / "run"), *arguments],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def eventually(question: Callable[[], bool], seconds: float = 30) -> bool:
    """Return whether the answer becomes yes in time: for what other processes do."""
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        select.select([], [], [], 0.05)
    return answer


class Launcher:
    """One `./run …` in the background."""

    def __init__(self, data: Path, *arguments: str, **more: str) -> None:
        self.data = data
        self.lines: list[str] = []
        self._rest = b""
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "run"), *arguments, "--data", str(data)],
            env=environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # The tests themselves may run under nohup.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    def says(self, pattern: str) -> str:
        """Read on to the first line that matches, and return its first group (or all of it)."""
        while (line := self._next_line()) is not None:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found[1] if found.re.groups else found[0]
        raise AssertionError(f"{pattern!r} was not said:\n{''.join(self.lines)}")

    def _next_line(self) -> str | None:
        """Return the next line, None at the end or when nothing is said for two minutes."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], 120)
            more = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not more:
                return None
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode() + "\n"

    def child(self, program: str) -> int:
        """Return the process id of its child that runs `program`."""
        return next(pid for pid in children_of(self.process.pid) if program in command_of(pid))

    def signal(self, number: signal.Signals) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        try:
            return self.process.wait(60)
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()

    def leaves_nothing(self) -> bool:
        """Return whether no process of this data folder is left within a few seconds."""
        return eventually(lambda: is_free(self.data), 15) and not processes_of(self.data)


def is_free(data: Path) -> bool:
    """Return whether nobody holds the data folder's lock, which every child inherits."""
    with contextlib.suppress(FileNotFoundError), (data / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def processes_of(data: Path) -> list[int]:
    """Return every live process that names the data folder in its command, environment or open lock."""
    found = []
    needle = str(data).encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            texts = [(entry / name).read_bytes() for name in ("cmdline", "environ")]
            texts += [os.fsencode(os.readlink(link)) for link in (entry / "fd").iterdir()]
            if any(needle in text for text in texts):
                found.append(int(entry.name))
    return found


def children_of(pid: int) -> list[int]:
    """Return the ids of the children of a process's main thread."""
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_of(pid: int) -> str:
    """Return the command line of a process, empty when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""
