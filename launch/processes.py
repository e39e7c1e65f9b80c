"""Children that cannot outlive the launcher: the kernel signals each of them when its parent dies."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

from launch.identity import Identity

PR_SET_PDEATHSIG = 1
# Seconds for a child to end by itself.
PATIENCE = 10.0
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD)
_libc = ctypes.CDLL(None, use_errno=True)


def tied(identity: Identity, death_signal: Signals) -> Callable[[], None]:
    """Return what a child does before exec: become `identity`, and get `death_signal` when its parent ends.

    The kernel ties this to the thread that spawns, so spawn from a thread that stays. It forgets the signal
    when ids change, so the order matters.
    """
    parent = os.getpid()

    def prepare() -> None:
        identity.take()
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


@dataclass
class Child:
    """A program in the foreground of its own session; its output goes to `log`."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    identity: Identity
    cwd: Path
    log: Path | None = None
    stop_signal: Signals = signal.SIGTERM
    death_signal: Signals = signal.SIGTERM
    patience: float = PATIENCE
    keep: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Spawn it."""
        with contextlib.ExitStack() as files:
            output = files.enter_context(self.log.open("ab")) if self.log else None
            self.process = subprocess.Popen(
                self.command,
                env=dict(self.environment),
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=tied(self.identity, self.death_signal),
                pass_fds=self.keep,
            )

    @property
    def alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Ask it to end, insist after `patience` seconds, and leave nothing of its group behind."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.patience)
        self.clear()

    def clear(self) -> None:
        """Kill whatever is left of its process group."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self, lines: int = 5) -> str:
        """Return the end of its log."""
        if self.log is None or not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def complete(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    identity: Identity,
    cwd: Path,
    capture: bool = False,
    keep: tuple[int, ...] = (),
) -> tuple[int, str]:
    """Run a program to its end in the foreground; return its code and, when captured, all it printed.

    It stays in the terminal's process group, so that Ctrl+C reaches it and it can ask for passwords. When we
    are told to stop it gets a moment to do so, too.
    """
    with subprocess.Popen(
        command,
        env=dict(environment),
        cwd=cwd,
        stdin=subprocess.DEVNULL if capture else None,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.STDOUT if capture else None,
        preexec_fn=tied(identity, signal.SIGKILL),
        pass_fds=keep,
        text=True,
        errors="replace",
    ) as process:
        try:
            output, _ = process.communicate()
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()
            raise
    return process.returncode, output or ""
