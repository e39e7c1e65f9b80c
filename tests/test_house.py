"""The rules of the house: which way imports point, what is locked, what is banned, how a server is set up."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.apps import apps
from django.db.migrations.loader import MigrationLoader

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
# From left to right; imports and migrations only ever point to the right.
LAYERS = ("adjudication", "annotation_app", "blinding")


def imported(file: Path) -> set[str]:
    """Return the top-level packages that a module names in import statements."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_imports_point_to_the_right() -> None:
    done = subprocess.run(
        [BIN / "lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_migrations_point_to_the_right() -> None:
    disk = MigrationLoader(None).disk_migrations
    wrong = [
        (app, name, target)
        for (app, name), migration in disk.items()
        if app in LAYERS
        for target, _ in migration.dependencies
        if target in LAYERS and LAYERS.index(target) < LAYERS.index(app)
    ]
    assert wrong == []
    assert {app for app, _ in disk} >= set(LAYERS)


def test_the_launcher_needs_only_the_standard_library() -> None:
    files = [ROOT / "run", *(ROOT / "launch").glob("*.py")]
    foreign = {name for file in files for name in imported(file)} - sys.stdlib_module_names
    assert foreign == {"launch"}


def test_the_verifier_needs_only_the_standard_library_and_pynacl() -> None:
    """Run alone, it may not even reach modules of ours that need more."""
    code = "import sys, blinding.verify; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    before = subprocess.run(
        [sys.executable, "-c", code.replace(", blinding.verify", "")], capture_output=True, text=True
    )
    assert set(done.stdout.split()) - set(before.stdout.split()) - sys.stdlib_module_names <= {
        *("blinding", "nacl", "cffi", "_cffi_backend"),
    }


@pytest.mark.parametrize("lock", LOCKS, ids=lambda file: file.name)
def test_every_locked_package_has_a_version_and_hashes(lock: Path) -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", lock.read_text()).strip())
    wrong = [
        block.splitlines()[0]
        for block in blocks
        if not re.match(r"[a-z0-9._-]+==\S+", block) or "--hash=sha256:" not in block
    ]
    assert wrong == []
    assert len(blocks) > 40


@pytest.mark.parametrize("lock", LOCKS, ids=lambda file: file.name)
def test_no_lock_file_names_a_host_or_an_index(lock: Path) -> None:
    assert re.findall(r"https?:|://|--(?:extra-)?index|--find-links|--trusted-host", lock.read_text()) == []


def test_the_locks_agree_and_hold_what_the_project_asks_for() -> None:
    pins = [dict(re.findall(r"(?m)^([a-z0-9._-]+)==([^ ;\\]+)", lock.read_text())) for lock in LOCKS]
    runtime, test = pins
    assert runtime.items() <= test.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def names(wanted: list[str]) -> set[str]:
        return {re.split(r"[\[<>=~! ;]", text)[0].lower() for text in wanted}

    assert names(project["dependencies"]) <= runtime.keys()
    assert names(project["optional-dependencies"]["test"]) <= test.keys()
    # Python before 3.11.3, which Debian 12 has, needs this one for redis.
    assert "async-timeout" in runtime


BANNED = {
    "from datetime import datetime\nprint(datetime.now())": "blinding.clock",
    "import time\nprint(time.time())": "blinding.clock",
    "from django.utils import timezone\nprint(timezone.now())": "blinding.clock",
    "import random\nprint(random)": "blinding.entropy",
    "import secrets\nprint(secrets)": "blinding.entropy",
    "import uuid\nprint(uuid.uuid4())": "blinding.entropy",
    "import os\nprint(os.urandom(8))": "blinding.entropy",
    "from django.contrib import admin\nprint(admin)": "no admin site",
}


@pytest.mark.parametrize(("code", "hint"), BANNED.items())
def test_other_sources_of_time_and_randomness_are_refused(code: str, hint: str) -> None:
    done = subprocess.run(
        [
            BIN / "ruff",
            "check",
            "--no-cache",
            "--select",
            "TID251",
            "--stdin-filename",
            "blinding/new.py",
            "-",
        ],
        input=code,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert hint in done.stdout


def test_a_server_behind_https_passes_djangos_own_check(tmp_path: Path) -> None:
    # Only the tests' browser needs this switch.
    clean = {key: value for key, value in os.environ.items() if key != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=clean
        | {
            "DJANGO_SETTINGS_MODULE": "annotation_app.settings",
            "TWINBLIND_HTTPS": "1",
            "DJANGO_ALLOWED_HOSTS": "coding.example.org",
            "TWINBLIND_DATA": str(tmp_path),
            "DJANGO_SECRET_KEY": "k" * 20 + "0123456789abcdefghijklmnopqrstuvwxyz",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", ["DJANGO_SECRET_KEY", "DATABASE_URL", "REDIS_URL"])
def test_settings_refuse_to_start_without(missing: str) -> None:
    variables = {"DJANGO_SECRET_KEY": "k", "DATABASE_URL": "postgres:///x", "REDIS_URL": "redis://x"}
    clean = {key: value for key, value in os.environ.items() if key not in variables}
    done = subprocess.run(
        [sys.executable, "-c", "import annotation_app.settings"],
        cwd=ROOT,
        env=clean | {key: value for key, value in variables.items() if key != missing},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert missing in done.stderr


def test_there_is_no_admin_site() -> None:
    assert not apps.is_installed("django.contrib.admin")


def test_no_file_is_long() -> None:
    tracked = [file for top in (*LAYERS, "launch", "tests", "bench") for file in (ROOT / top).rglob("*.py")]
    long = {
        str(file.relative_to(ROOT)): lines
        for file in tracked
        if "migrations" not in file.parts and (lines := len(file.read_text().splitlines())) > 400
    }
    assert long == {}


def test_no_function_is_long() -> None:
    long = []
    for file in (file for top in (*LAYERS, "launch") for file in (ROOT / top).rglob("*.py")):
        if "migrations" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 50:
                long.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert long == []
