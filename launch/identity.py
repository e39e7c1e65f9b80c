"""As whom the children run. PostgreSQL refuses root, so root becomes somebody else for them.

`Drop` takes another user's id. `Namespace` keeps the starter's files within reach but is `nobody` in the eyes
of the child: for root in a folder (or with a Python) that no other user can reach, and for a user without a
name, whom `initdb` refuses.
"""

import ctypes
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

CLONE_NEWUSER = 0x10000000
_libc = ctypes.CDLL(None, use_errno=True)


class Identity(Protocol):
    """Somebody whom a child can become between fork and exec; `uid` owns the files made for it."""

    @property
    def uid(self) -> int: ...
    @property
    def gid(self) -> int: ...
    def take(self) -> None: ...


@dataclass(frozen=True)
class Same:
    """Whoever started the launcher."""

    uid: int
    gid: int

    def take(self) -> None:
        """Stay who we are."""


@dataclass(frozen=True)
class Drop:
    """Another user, for good."""

    uid: int
    gid: int

    def take(self) -> None:
        """Give up root's groups and ids, saved ones too."""
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)


@dataclass(frozen=True)
class Namespace:
    """The starter outside, `nobody` inside a user namespace of its own."""

    inner_uid: int
    inner_gid: int
    uid: int
    gid: int

    def take(self) -> None:
        """Enter a new user namespace that shows our id as `nobody`'s; OSError where there can be none."""
        if self.uid == 0:
            os.setgroups([])
        if _libc.unshare(CLONE_NEWUSER) != 0:
            raise OSError(ctypes.get_errno(), "no user namespace")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{self.inner_uid} {self.uid} 1")
        Path("/proc/self/gid_map").write_text(f"{self.inner_gid} {self.gid} 1")
        os.setresgid(self.inner_gid, self.inner_gid, self.inner_gid)
        os.setresuid(self.inner_uid, self.inner_uid, self.inner_uid)


@dataclass(frozen=True)
class Roles:
    """Who runs the servers (never root), and who runs the product."""

    servers: Identity
    product: Identity


def myself() -> Same:
    """Return the user who started the launcher."""
    return Same(os.geteuid(), os.getegid())


def candidates(owner: int | None) -> list[Roles]:
    """Return who may run what, best first. `owner` has the data that are there, None where there are none."""
    me = myself()
    nobody = pwd.getpwnam("nobody")
    inside = Namespace(nobody.pw_uid, nobody.pw_gid, me.uid, me.gid)
    if me.uid != 0:
        return [Roles(me if _has_name(me.uid) else inside, me)]
    if owner == 0:
        return [Roles(inside, inside)]
    user = nobody if owner is None else pwd.getpwuid(owner)
    other = Drop(user.pw_uid, user.pw_gid)
    fresh = [Roles(inside, inside)] if owner is None else []
    return [Roles(other, other), *fresh, Roles(other, me)]


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def reaches(identity: Identity, programs: Sequence[Sequence[str]], folder: Path) -> bool:
    """Return whether `identity` can enter `folder` and run every one of `programs`."""
    enter = ("/bin/sh", "-c", 'cd "$0"', str(folder))
    return all(_runs(identity.take, command) for command in (enter, *programs))


def _runs(become: Callable[[], None], command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            command,
            preexec_fn=become,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


if not sys.platform.startswith("linux"):
    raise SystemExit("./run needs Linux; elsewhere use `docker compose up`.")
