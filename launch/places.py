"""Where things lie: the checkout, and the folder that holds one instance's data."""

import contextlib
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from launch.identity import Identity
from launch.speech import Trouble

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
DEFAULT_DATA = CHECKOUT / "var"
PRIVATE = ("uploads", "logs", "tmp", "home", "valkey")
# Seconds that children of a launcher which was killed get to end.
LINGER = 20.0
# Bytes above which a log is set aside at the next start.
LOG_LIMIT = 10_000_000


@dataclass
class DataFolder:
    """One instance's data. Whoever holds its lock, or is a child of who does, may touch it."""

    path: Path
    lock: int = field(default=-1, init=False)

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def cluster(self) -> Path:
        return self.path / "postgres"

    @property
    def instance(self) -> Path:
        """The addresses of the servers that run on this folder, for `./run manage`."""
        return self.path / "instance.json"

    def owner(self) -> int | None:
        """Return who owns the database that is already here, None where there is none."""
        return self.cluster.stat().st_uid if self.cluster.exists() else None

    def acquire(self) -> None:
        """Take the folder for this launcher; Trouble when another one has it.

        Children inherit the lock, so it is free only when the last of them has ended: after that, nothing
        that an earlier start left here is in use.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self.lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise Trouble(f"The data folder {self.path} cannot be used: {error.strerror}.") from error
        end = time.monotonic() + LINGER
        while not self._try_lock():
            holder = self._holder()
            if holder is not None:
                raise Trouble(
                    f"Twinblind already runs on {self.path} (process {holder}). "
                    "Stop that one, or choose another folder with --data."
                )
            if time.monotonic() > end:
                raise Trouble(f"Processes of an earlier start still use {self.path}; end them first.")
            time.sleep(0.1)
        os.truncate(self.lock, 0)
        os.pwrite(self.lock, str(os.getpid()).encode(), 0)
        self.instance.unlink(missing_ok=True)

    def is_held(self) -> bool:
        """Return whether a launcher runs on this folder."""
        try:
            handle = os.open(self.path / "lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Trouble(f"The data folder {self.path} cannot be used: {error.strerror}.") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def inherited(self) -> tuple[int, ...]:
        """Return what children have to inherit, so that the folder stays taken while they live."""
        return (self.lock,) if self.lock >= 0 else ()

    def release(self) -> None:
        """Let others have the folder."""
        self.instance.unlink(missing_ok=True)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def furnish(self, identity: Identity) -> None:
        """Make the folders inside, for `identity` and nobody else, and clear what a killed start left there."""
        for folder in (self.path, *(self.path / name for name in PRIVATE)):
            own(folder, identity)
        for left in (self.path / "tmp").iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        # Half an upload, in Django's name for it: it holds labels in clear.
        for half in (self.path / "uploads").glob("tmp*.upload*"):
            half.unlink()
        for log in self.logs.glob("*.log"):
            if log.stat().st_size > LOG_LIMIT:
                log.rename(log.with_suffix(".log.1"))

    def secret(self, name: str) -> str:
        """Return the secret kept under `name`, made at the first call."""
        file = self.path / name
        if not file.exists():
            write_private(file, secrets.token_urlsafe(50))
        return file.read_text()

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _holder(self) -> int | None:
        """Return the launcher that holds the lock, None when it is gone and only children linger."""
        text = os.pread(self.lock, 20, 0).decode(errors="replace").strip()
        return int(text) if text.isdecimal() and Path("/proc", text).exists() else None

    def _refuse_foreign(self) -> None:
        """Keep away from a folder that somebody uses for something else."""
        if self.path != DEFAULT_DATA and not (self.path / "lock").exists() and any(self.path.iterdir()):
            raise Trouble(f"{self.path} holds other files; choose an empty folder for the data.")


@contextlib.contextmanager
def taken(path: Path) -> Iterator[DataFolder]:
    """Hold the data folder at `path` inside the block."""
    folder = DataFolder(path.resolve())
    folder.acquire()
    try:
        yield folder
    finally:
        folder.release()


def own(folder: Path, identity: Identity) -> None:
    """Make `folder`, private to `identity`; its parents stay as they are."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != identity.uid:
        os.chown(folder, identity.uid, identity.gid)


def write_private(file: Path, text: str) -> None:
    """Write `file` whole or not at all, readable by its owner only."""
    draft = file.with_name(file.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
    draft.rename(file)
