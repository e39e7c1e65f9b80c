"""The folder of the unix sockets: below the data folder where the path is short and plain enough for a
socket address, else a short one in the temp folder, which goes when the launcher does."""

import contextlib
import re
import secrets
import shutil
import tempfile
from pathlib import Path

from launch.guard import Guard
from launch.identity import Identity
from launch.places import own
from launch.speech import Trouble

LONGEST_NAME = ".s.PGSQL.5432"
# A unix socket address has 108 bytes, one for the final NUL; some libraries keep less.
LIMIT = 103
# Commas part hosts for libpq, and percent signs and spaces are spelt differently by the clients.
_PLAIN = re.compile(r"[A-Za-z0-9/_.+-]+")


class SocketFolder:
    """Makes the folder. One outside the data folder is the guard's to remove."""

    def __init__(self, data: Path, identity: Identity, guard: Guard) -> None:
        self._link = data / "sockets-elsewhere"
        self._remove_leftover()
        inside = data / "s"
        self.path = inside if fits(inside) else _name_outside()
        if self.path != inside:
            # Written down first: whatever happens next, the following start finds and removes it.
            self._link.symlink_to(self.path)
            guard.answer_for_folder(self.path)
        own(self.path, identity)
        for stale in self.path.iterdir():
            stale.unlink()

    def _remove_leftover(self) -> None:
        with contextlib.suppress(OSError):
            target = self._link.readlink()
            if target.name.startswith("twinblind-"):
                shutil.rmtree(target, ignore_errors=True)
            self._link.unlink()


def _name_outside() -> Path:
    for temp in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        path = Path(temp, f"twinblind-{secrets.token_hex(6)}")
        if fits(path) and path.parent.is_dir():
            return path
    raise Trouble("Every folder for unix sockets has too long a name; set TMPDIR to a short one.")


def fits(folder: Path) -> bool:
    """Return whether sockets in `folder` have an address that every client understands."""
    length = len(str(folder / LONGEST_NAME).encode())
    return length <= LIMIT and _PLAIN.fullmatch(str(folder)) is not None
