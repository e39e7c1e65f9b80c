"""The tests on servers of their own, in a data folder of their own."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from launch import venv
from launch.identity import myself
from launch.instance import Instance, start_instance
from launch.places import CHECKOUT, DEFAULT_DATA, taken
from launch.processes import complete
from launch.speech import Trouble, say
from launch.supervisor import Supervisor

DATA = DEFAULT_DATA / "test"
# Chromium makes sockets in its temp folder, and their addresses are short.
LONGEST_TEMP = 50
# Each process has a database of its own to make, and a browser's journeys are no quicker for having neighbours.
MOST_PROCESSES = 4
# Tests that wait for a browser or for processes to die, where a busy machine can be what failed.
SENSITIVE = ("tests/journeys/", "tests/faults/")
MOST_TO_REPEAT = 3
FAILED = CHECKOUT / ".pytest_cache" / "v" / "cache" / "lastfailed"


def run_tests(arguments: Sequence[str]) -> int:
    """Run pytest with `arguments`; return its code."""
    with taken(DATA) as folder:
        _clear()
        venv.install("test")
        browser = find_browser()
        with Supervisor() as supervisor:
            instance = start_instance(folder, supervisor, volatile=True)
            beside = side_by_side(arguments)
            FAILED.unlink(missing_ok=True)
            code = _pytest(instance, browser, [*beside, *arguments])
            again = worth_repeating(FAILED) if code == 1 and beside else []
            if again:
                say("These failed beside other tests and run once more, alone: " + ", ".join(again))
                code = _pytest(instance, browser, again)
            return code


def worth_repeating(failed: Path) -> list[str]:
    """Return the tests that pytest noted as failed, if they are few and all of them sensitive to a busy machine."""
    try:
        names = list(json.loads(failed.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []
    return names if len(names) <= MOST_TO_REPEAT and all(name.startswith(SENSITIVE) for name in names) else []


def _pytest(instance: Instance, browser: str | None, arguments: Sequence[str]) -> int:
    code, _ = complete(
        [str(instance.programs.python), "-m", "pytest", *arguments],
        environment=_environment(instance, browser),
        identity=myself(),
        cwd=CHECKOUT,
    )
    return code


def side_by_side(arguments: Sequence[str]) -> list[str]:
    """Return pytest's options for several processes; none when the caller names tests, or how many processes there are."""
    cores = min(len(os.sched_getaffinity(0)), MOST_PROCESSES)
    named = any(not word.startswith("-") or word.startswith("-n") for word in arguments)
    return [] if named or cores < 2 else [f"-n{cores}", "--no-loadscope-reorder"]


def find_browser() -> str | None:
    """Return the path of Chromium, installed if we may; None where there is none, which is said."""
    if not _browser():
        say("Installing Chromium for the journeys …")
        if not apt_install_browser():
            say("There is no Chromium, so the journeys are skipped. As root:  apt-get install chromium")
    return _browser()


def apt_install_browser() -> bool:
    """Install Chromium and fonts for what the demonstration shows."""
    return venv.apt_install(["chromium", "fonts-dejavu-core", "fonts-noto-color-emoji"])


def _browser() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _environment(instance: Instance, browser: str | None) -> dict[str, str]:
    """Return the tests' environment: whatever a browser or a test leaves behind lies in the data folder."""
    own = {"TMPDIR": str(Path(instance.folder.path, "tmp")), "HOME": str(Path(instance.folder.path, "home"))}
    if len(own["TMPDIR"]) > LONGEST_TEMP:
        own["TMPDIR"] = os.environ.get("TMPDIR", "/tmp")
    return (
        instance.environment
        | own
        | {"DJANGO_ALLOW_ASYNC_UNSAFE": "true", "TWINBLIND_CHROMIUM": browser or ""}
    )


def _clear() -> None:
    """Start from nothing: the folder is the tests' alone."""
    try:
        for entry in DATA.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name not in ("lock", "sockets-elsewhere"):
                entry.unlink()
    except OSError as error:
        raise Trouble(f"{DATA} cannot be cleared ({error.strerror}); remove it as its owner.") from error
