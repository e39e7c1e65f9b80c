"""What one person sees of a world, request by request, and the first byte in which two such transcripts differ."""

import gzip
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core import mail
from django.db import connection
from django.http import HttpResponseBase

from annotation_app.log_format import LabelFreeFormatter

LET_IN = {200, 201, 202, 204, 302, 303, 400, 409, 422}
AROUND = 60  # bytes shown on either side of a difference


@dataclass(frozen=True)
class Answer:
    """A request, and everything that came of it."""

    step: str
    role: str
    method: str
    path: str
    accept: str
    by_session: bool  # an interface called from the browser, without a token
    status: int
    headers: tuple[str, ...]
    body: bytes
    queries: int
    logs: tuple[str, ...]
    mails: tuple[str, ...]

    @property
    def name(self) -> str:
        way = ", by session" if self.by_session else ""
        return f"{self.step}: {self.role} {self.method} {self.path} ({self.accept}{way})"

    @property
    def asked(self) -> tuple[str, str, str, str, str, bool]:
        return self.step, self.role, self.method, self.path, self.accept, self.by_session

    @property
    def was_let_in(self) -> bool:
        """Say whether the address has anything for the person who asked."""
        to_the_door = any(line.startswith("Location: /sign-in/?") for line in self.headers)
        return self.method != "-" and self.status in LET_IN and not to_the_door

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield everything that may tell something, by its name, what is short first."""
        yield "status", str(self.status).encode()
        yield "number of queries", str(self.queries).encode()
        yield "headers", "\n".join(self.headers).encode()
        yield "log", "\n".join(self.logs).encode()
        yield "mails", "\n".join(self.mails).encode()
        yield "body", self.body


@dataclass
class Happenings:
    """What a stretch of work did beside its answer."""

    queries: int = 0
    logs: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)

    def count(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        self.queries += 1
        return execute(sql, params, many, context)


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.INFO)
        self._lines = lines
        formatter = LabelFreeFormatter()
        formatter._style._fmt = (
            "%(levelname)s %(name)s: %(message)s"  # without the hour, which only the machine knows
        )
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


@contextmanager
def watched() -> Iterator[Happenings]:
    """Count queries and catch log lines and mails inside the block."""
    seen, root, before = Happenings(), logging.getLogger(), len(getattr(mail, "outbox", []))
    handlers, root.handlers = root.handlers, [_Lines(seen.logs)]
    try:
        with connection.execute_wrapper(seen.count):
            yield seen
    finally:
        root.handlers = handlers
        seen.mails += [message.message().as_string() for message in getattr(mail, "outbox", [])[before:]]


def all_of(response: HttpResponseBase) -> bytes:
    """Return a response's whole body, streamed or not, unpacked."""
    if getattr(response, "streaming", False):
        body = b"".join(response.streaming_content)  # type: ignore[attr-defined]
        response.close()
    else:
        body = response.content  # type: ignore[attr-defined]
    return gzip.decompress(body) if response.headers.get("Content-Encoding") == "gzip" else body


def headers_of(response: HttpResponseBase) -> tuple[str, ...]:
    """Return headers and cookies as lines, in the order in which they are sent."""
    sent = [f"{name}: {value}" for name, value in response.items()]
    return (*sent, *(morsel.OutputString() for morsel in response.cookies.values()))


def difference(one: Iterable[Answer], other: Iterable[Answer]) -> str:
    """Return where two transcripts part, in words; empty where they are the same to the byte."""
    left, right = list(one), list(other)
    for a, b in zip(left, right, strict=False):
        if a.asked != b.asked:
            return f"other requests were made: {a.name} / {b.name}"
        for (part, first), (_, second) in zip(a.parts(), b.parts(), strict=True):
            if first != second:
                return f"{a.name}: {part} differs at byte {_first(first, second)}"
    return "" if len(left) == len(right) else f"{len(left)} answers against {len(right)}"


def _first(one: bytes, other: bytes) -> str:
    shorter = min(len(one), len(other))
    place = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    shown = (text[max(0, place - AROUND) : place + AROUND] for text in (one, other))
    return f"{place}: " + " / ".join(repr(text) for text in shown)
