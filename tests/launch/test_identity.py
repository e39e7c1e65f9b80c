"""Who becomes whom. What the kernel has to allow is tried for real in tests/faults."""

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from launch import identity
from launch.identity import Drop, Namespace, Roles, Same, candidates, reaches
from launch.processes import tied

NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = Drop(NOBODY.pw_uid, NOBODY.pw_gid)
INSIDE = Namespace(NOBODY.pw_uid, NOBODY.pw_gid, 0, 0)
ROOT = Same(0, 0)

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def as_user(monkeypatch: pytest.MonkeyPatch, uid: int, gid: int) -> None:
    monkeypatch.setattr(identity, "myself", lambda: Same(uid, gid))


def test_root_becomes_nobody_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, 0, 0)
    first, *others = candidates(None)
    assert first == Roles(AS_NOBODY, AS_NOBODY)
    assert others == [Roles(INSIDE, INSIDE), Roles(AS_NOBODY, ROOT)]


def test_root_stays_with_whoever_owns_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, 0, 0)
    daemon = pwd.getpwnam("daemon")
    owner = Drop(daemon.pw_uid, daemon.pw_gid)
    assert candidates(0) == [Roles(INSIDE, INSIDE)]
    assert candidates(daemon.pw_uid) == [Roles(owner, owner), Roles(owner, ROOT)]


def test_an_ordinary_user_stays_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = pwd.getpwnam("daemon")
    me = Same(daemon.pw_uid, daemon.pw_gid)
    as_user(monkeypatch, me.uid, me.gid)
    assert candidates(None) == [Roles(me, me)]


def test_a_user_without_a_name_gets_one_for_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    unnamed = next(uid for uid in range(40_000, 50_000) if not identity._has_name(uid))
    as_user(monkeypatch, unnamed, unnamed)
    me = Same(unnamed, unnamed)
    assert candidates(None) == [Roles(Namespace(NOBODY.pw_uid, NOBODY.pw_gid, unnamed, unnamed), me)]


@only_root
def test_a_closed_folder_is_out_of_reach_for_nobody(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert not reaches(AS_NOBODY, [], tmp_path)
    assert reaches(AS_NOBODY, [["/bin/true"]], Path("/"))
    assert not reaches(AS_NOBODY, [["/bin/false"]], Path("/"))


@only_root
@pytest.mark.parametrize("becoming", [AS_NOBODY, INSIDE], ids=["drop", "namespace"])
def test_a_child_is_nobody_with_no_way_back(becoming: identity.Identity) -> None:
    if not reaches(becoming, [], Path("/")):
        pytest.skip("this kernel allows no user namespace")
    status = output_of(["/bin/cat", "/proc/self/status"], becoming.take)
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    # Real, effective, saved and file system id.
    assert facts["Uid"].split() == [str(NOBODY.pw_uid)] * 4
    assert facts["Gid"].split() == [str(NOBODY.pw_gid)] * 4
    assert facts["Groups"].split() == []
    assert facts["CapEff"] == facts["CapPrm"] == "0" * 16


def test_the_kernel_signals_a_child_when_its_parent_ends() -> None:
    # PR_GET_PDEATHSIG is 2. What was asked for before exec holds after it.
    ask = "import ctypes as c; n = c.c_int(); c.CDLL(None).prctl(2, c.byref(n)); print(n.value)"
    prepare = tied(Same(os.geteuid(), os.getegid()), signal.SIGQUIT)
    assert output_of([sys.executable, "-c", ask], prepare).strip() == str(int(signal.SIGQUIT))


def output_of(command: list[str], before_exec: Callable[[], None]) -> str:
    return subprocess.run(
        command, preexec_fn=before_exec, capture_output=True, text=True, check=True, cwd="/"
    ).stdout
