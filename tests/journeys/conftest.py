"""The whole product for journeys: gunicorn, a Celery worker with beat, and people in a real Chromium.

One database, one worker for all journeys; each makes a study of its own.
"""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import parts

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long and plain password"
BOSS = "boss"
PATIENCE = 20_000  # milliseconds: two cores run the product, its worker and the browsers
expect.set_options(timeout=PATIENCE)


@dataclass
class Product:
    """A running product."""

    address: str
    environment: dict[str, str]
    folder: Path
    processes: "_processes | None" = None

    @contextmanager
    def without_server(self) -> Iterator[None]:
        """Stop the web server, and start it again after the block."""
        assert self.processes is not None
        self.processes.stop("web")
        try:
            yield
        finally:
            self.processes.start("web")
            _wait_until_well(int(self.address.rpartition(":")[2]))

    def manage(self, *arguments: str, **more: str) -> None:
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **more},
            check=True,
            stdout=subprocess.DEVNULL,
        )


@dataclass
class Person:
    """Somebody at a browser of their own."""

    name: str
    page: Page
    address: str
    context: BrowserContext
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def sign_in(self) -> Page:
        self.go("/sign-in/")
        self.page.get_by_label("User name", exact=True).fill(self.name)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.address + "/")
        return self.page


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory, chromium: Path) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    name = f"journeys_{os.getpid()}"
    with _database(name) as url:
        environment = _environment(url, folder)
        port = _free_port()
        running = Product(f"http://127.0.0.1:{port}", environment, folder)
        running.manage("migrate", "--verbosity", "0")
        running.manage("collectstatic", "--noinput", "--verbosity", "0")
        running.manage(
            "createsuperuser",
            "--noinput",
            DJANGO_SUPERUSER_USERNAME=BOSS,
            DJANGO_SUPERUSER_EMAIL="boss@example.org",
        )
        with _processes(port, environment, folder) as running.processes:
            _wait_until_well(port)
            yield running


@pytest.fixture
def person(product: Product, browser: Browser) -> Iterator[Callable[..., Person]]:
    """Make somebody with a browser of their own; at the end no page of theirs may have complained."""
    people: list[Person] = []

    def make(name: str, *, sign_in: bool = True, **context: Any) -> Person:
        opened = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **context}
        )
        page = opened.new_page()
        page.set_default_timeout(PATIENCE)
        somebody = Person(name, page, product.address, opened)
        page.on("pageerror", lambda error: somebody.complaints.append(str(error)))
        page.on(
            "console",
            lambda line: somebody.complaints.append(line.text) if "Content Security" in line.text else None,
        )
        people.append(somebody)
        if sign_in:
            somebody.sign_in()
        return somebody

    yield make
    for somebody in people:
        somebody.context.close()
    assert [c for s in people for c in s.complaints] == []


def unique(word: str) -> str:
    return f"{word}-{uuid4().hex[:6]}"


class _database:
    """A database of the session's own on the tests' server."""

    def __init__(self, name: str) -> None:
        self.name = name
        given = settings.DATABASES["default"]
        self.host, self.user = given["HOST"] or given["OPTIONS"].get("host"), given["USER"]
        self.given = given

    def _run(self, statement: str) -> None:
        address = {
            "host": self.host,
            "user": self.user,
            "password": self.given.get("PASSWORD") or None,
            "dbname": "postgres",
        }
        if self.given.get("PORT"):
            address["port"] = self.given["PORT"]
        with psycopg.connect(**{k: v for k, v in address.items() if v}, autocommit=True) as connection:
            connection.execute(statement)

    def __enter__(self) -> str:
        self._run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
        self._run(f'CREATE DATABASE "{self.name}"')
        before, _, rest = os.environ["DATABASE_URL"].partition("?")
        return f"{before.rsplit('/', 1)[0]}/{self.name}" + (f"?{rest}" if rest else "")

    def __exit__(self, *_: object) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')


def _environment(url: str, folder: Path) -> dict[str, str]:
    (folder / "uploads").mkdir(mode=0o700, exist_ok=True)
    own = {
        "DATABASE_URL": url,
        "TWINBLIND_DATA": str(folder),
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings",
        "DJANGO_SECRET_KEY": os.environ.get("DJANGO_SECRET_KEY") or settings.SECRET_KEY,
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "TWINBLIND_DB_POOL": "8",
        "TWINBLIND_WORKERS": "1",
        "REDIS_URL": parts.journeys_broker(os.environ),
        "PYTHONPATH": str(ROOT),
    }
    return {**os.environ, **own}


class _processes:
    """gunicorn and a worker with beat, ended with the session."""

    def __init__(self, port: int, environment: dict[str, str], folder: Path) -> None:
        binaries = Path(sys.executable).parent
        web = [
            binaries / "gunicorn",
            "annotation_app.wsgi",
            f"--bind=127.0.0.1:{port}",
            "--no-control-socket",
            "--workers=2",
        ]
        worker = [
            binaries / "celery",
            "-A",
            "annotation_app",
            "worker",
            "--beat",
            "--concurrency=1",
            "--loglevel=WARNING",
        ]
        self.commands = {"web": web, "worker": worker}
        self.environment, self.folder = environment, folder
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        arguments = [str(word) for word in self.commands[name]]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.started[name] = subprocess.Popen(
                arguments, cwd=ROOT, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def stop(self, name: str) -> None:
        process = self.started.pop(name)
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> "_processes":
        for name in self.commands:
            self.start(name)
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.started):
            self.stop(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_well(port: int) -> None:
    last: object = None
    for _ in range(360):
        last = _health(port)
        if last == 200:
            return
        time.sleep(0.25)  # starting has no event to wait for from outside
    pytest.fail(f"the product did not become well: {last}")


def _health(port: int) -> object:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/health/")
            return connection.getresponse().status
        except OSError as fault:
            return fault
