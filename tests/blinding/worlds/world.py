"""A world: a database of its own, its people with their browsers and programs, and the transcript of what they see."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client, override_settings
from django.test.client import BOUNDARY, MULTIPART_CONTENT, ClientHandler, encode_multipart
from django.utils.http import urlencode

from annotation_app.models import Membership, Study
from tests.blinding.worlds.determinism import SEED, Draws, Stream, Watch, determined
from tests.blinding.worlds.fixture import Fixture
from tests.blinding.worlds.transcript import Answer, all_of, headers_of, watched
from tests.clones import connected_to, copied, dropped

SLUG = "riverside"
ANONYMOUS = "anonymous"
_HANDLER = ClientHandler(enforce_csrf_checks=False)
BLIND = (ANONYMOUS, "primary_A", "primary_B", "adjudicator", "audit", "monitor", "project_author")


@dataclass
class World:
    """Everything happens inside `open()`; answers to people who are blind go into `transcript`."""

    fixture: Fixture
    database: str
    folder: Path
    minute: float = 0.0
    browsers: dict[str, Client] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    transcript: list[Answer] = field(default_factory=list)
    requests: int = 0
    step: str = "setup"
    watch: Watch = field(init=False)
    _stream: Stream = field(init=False)
    _draws: Draws = field(init=False)
    _made: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def open(self, seed: bytes = SEED) -> Iterator[None]:
        """Enter the world where it was left; `seed` must be another one each time."""
        folders = {
            "TWINBLIND_DATA": self.folder,
            "TWINBLIND_UPLOADS": self.folder / "uploads",
            "TWINBLIND_EXPORTS": self.folder / "exports",
            "FILE_UPLOAD_TEMP_DIR": self.folder / "uploads",
        }
        folders["TWINBLIND_UPLOADS"].mkdir(parents=True, exist_ok=True)
        with connected_to(self.database), override_settings(**folders), determined(seed) as made:
            self.watch, self._stream, self._draws = made
            self.watch.at(self.minute)
            yield

    def wait(self, minutes: float) -> None:
        self.minute += minutes
        self.watch.at(self.minute)

    def at(self, minute: float) -> None:
        """Set the clock, which never goes back."""
        assert minute >= self.minute
        self.minute = minute
        self.watch.at(minute)

    @property
    def study(self) -> Study:
        return Study.objects.get(slug=SLUG)

    def member(self, role: str) -> Membership:
        return Membership.objects.select_related("study", "user").get(study__slug=SLUG, user__username=role)

    def url(self, rest: str = "") -> str:
        return f"/api/v1/studies/{SLUG}/{rest}"

    def page(self, rest: str = "") -> str:
        return f"/studies/{SLUG}/{rest}"

    def ask(
        self,
        role: str,
        method: str,
        path: str,
        data: Any = None,
        *,
        accept: str = "text/html",
        with_session: bool = False,
        **headers: str,
    ) -> HttpResponseBase:
        """Make a request: to pages as a browser with its session, to the interface as a program with its token.

        `data`: bytes or JSON for the interface, a form for pages (`{"json": …}` sends JSON to a page). `with_session`
        calls the interface from the browser.
        """
        self.requests += 1
        self._stream.start(self._named(f"{self.step} {role} {method} {path} {accept}"))
        client = self.browsers.setdefault(role, _browser())
        program = path.startswith("/api/")
        sent = _encoded(program, method, data) | {"headers": {"Accept": accept, **headers}}
        if program and not with_session:
            client = _browser()
            sent["headers"] |= {"Authorization": f"Token {self.tokens[role]}"} if role in self.tokens else {}
        with watched() as seen:
            response: Any = client.generic(method, path, **sent)
            body = all_of(response)
        if role in BLIND:
            answer = Answer(
                step=self.step,
                role=role,
                method=method,
                path=path,
                accept=accept,
                by_session=with_session,
                status=response.status_code,
                headers=headers_of(response),
                body=body,
                queries=seen.queries,
                logs=tuple(seen.logs),
                mails=tuple(seen.mails),
            )
            self.transcript.append(answer)
        response.seen, response.logs = body, seen.logs
        return response  # type: ignore[no-any-return]

    def _named(self, request: str) -> str:
        """Tell a request from earlier ones that look the same."""
        self._made[request] += 1
        return f"{request} {self._made[request]}"

    def must(self, role: str, method: str, path: str, data: Any = None, **more: Any) -> Any:
        """Ask, insist on success, and return the JSON of the answer, None where it is none."""
        response = self.ask(role, method, path, data, **more)
        body = response.seen  # type: ignore[attr-defined]
        told = response.logs if response.status_code == 500 else body[:2000]  # type: ignore[attr-defined]
        assert response.status_code < 400, f"{role} {method} {path}: {response.status_code} {told!r}"
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return json.loads(body) if is_json and body else None

    def try_out(self, role: str, method: str, path: str, data: Any = None, **more: Any) -> HttpResponseBase:
        """Ask, and take back whatever it did to the database, to the session, and to the streams of draws."""
        cookies, draws = copy(self.browsers.setdefault(role, _browser()).cookies), dict(self._draws)
        with transaction.atomic():
            response = self.ask(role, method, path, data, **more)
            transaction.set_rollback(True)
        self.browsers[role].cookies = cookies
        self._draws.clear()
        self._draws.update(draws)
        return response

    def note(self, role: str, what: str, lines: list[str]) -> None:
        """Put something that is no answer into the transcript: files on the disk, lines of the log of a job."""
        body = "\n".join(lines).encode()
        self.transcript.append(Answer(self.step, role, "-", what, "-", False, 0, (), body, 0, (), ()))

    def note_files(self, what: str) -> None:
        """Note the names of all files that the product keeps outside the database."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        self.note("machine", what, sorted(str(path.relative_to(self.folder)) for path in files))


@dataclass(frozen=True)
class Snapshot:
    """A world as it was at a step, to be entered again and again: whatever is tried out in it is taken back."""

    world: World
    database: str
    minute: float
    browsers: dict[str, Client]

    @classmethod
    def of(cls, world: World) -> "Snapshot":
        return cls(world, copied(world.database), world.minute, _same(world.browsers))

    @contextmanager
    def open(self) -> Iterator[World]:
        """Enter a copy of the world with an empty transcript."""
        first = self.world
        again = World(
            first.fixture, self.database, first.folder, self.minute, self.browsers, first.tokens, step="again"
        )
        with again.open(SEED + b", again"):
            yield again

    @contextmanager
    def reborn(self, fixture: Fixture, folder: Path) -> Iterator[World]:
        """Enter a copy that goes on with another upload, and is thrown away in the end."""
        database = copied(self.database)
        try:
            tokens = self.world.tokens
            world = World(fixture, database, folder, self.minute, _same(self.browsers), tokens, step="reborn")
            with world.open(SEED + b", reborn"):
                yield world
        finally:
            dropped(database)

    def drop(self) -> None:
        dropped(self.database)


def _same(browsers: dict[str, Client]) -> dict[str, Client]:
    """Return other browsers with the same cookies."""
    same = {role: _browser() for role in browsers}
    for role, browser in browsers.items():
        same[role].cookies = copy(browser.cookies)
    return same


def _browser() -> Client:
    """A browser to which a fault of the server is an answer as any other; all share one chain of middleware."""
    browser = Client(raise_request_exception=False)
    browser.handler = _HANDLER
    return browser


def _encoded(program: bool, method: str, data: Any) -> dict[str, Any]:
    """Return a body and its type: multipart where there is a file, JSON, or a form."""
    if data is None:
        return {}
    if isinstance(data, bytes):
        return {"data": data, "content_type": "application/json"}
    if isinstance(data, dict) and "json" in data:
        return {"data": json.dumps(data["json"]), "content_type": "application/json"}
    if isinstance(data, dict) and any(hasattr(value, "read") for value in data.values()):
        return {"data": encode_multipart(BOUNDARY, data), "content_type": MULTIPART_CONTENT}
    if program:
        return {"data": json.dumps(data), "content_type": "application/json"}
    return {"data": urlencode(data, doseq=True), "content_type": "application/x-www-form-urlencoded"}
