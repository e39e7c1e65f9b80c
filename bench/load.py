"""Clients that keep a server busy and take little of the machine themselves: plain sockets in one thread.

A socket is kept open, but for a client that has done nothing for so long that the server may have hung up."""

import selectors
import socket
from collections.abc import Generator
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

HEAD_END = b"\r\n\r\n"


class Ask(NamedTuple):
    """One request under the name that its time is counted by; `after` so many seconds in which the client does nothing."""

    name: str
    data: bytes
    after: float = 0.0


class Reply(NamedTuple):
    status: int
    body: bytes


KEPT_OPEN = 1.0  # seconds

Script = Generator[Ask, Reply, None]  # what one client asks, one thing after the other


@dataclass
class Times:
    """Seconds of each answer by name, of what was asked after the warm-up."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    lasted: float = 0.0

    def rate(self, name: str) -> float:
        return len(self.seconds.get(name, ())) / self.lasted


class _Line:
    """One client's connection."""

    def __init__(self, address: tuple[str, int], script: Script) -> None:
        self._address, self._script = address, script
        self.socket = socket.create_connection(address)
        self.ask, self.asked_at, self._received = next(script), 0.0, b""
        self.due = perf_counter() + self.ask.after

    def send(self) -> None:
        if self.ask.after > KEPT_OPEN:
            self.socket.close()
            self.socket = socket.create_connection(self._address)
        self.asked_at = perf_counter()
        self.socket.sendall(self.ask.data)

    def receive(self) -> Reply | None:
        """Read on; return the answer once it is whole."""
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise ConnectionError("the server hung up")
        self._received += piece
        head, found, body = self._received.partition(HEAD_END)
        if not found or len(body) < _length_of(head):
            return None
        self._received = b""
        return Reply(int(head[9:12]), body)

    def go_on(self, reply: Reply) -> bool:
        """Take up the next thing to ask; False when the script is at its end."""
        try:
            self.ask = self._script.send(reply)
        except StopIteration:
            return False
        self.due = perf_counter() + self.ask.after
        return True


def drive(scripts: list[Script], address: tuple[str, int], warm_up: float) -> Times:
    """Run all scripts to their ends at the same time; what began in the first `warm_up` seconds is not counted."""
    times = Times()
    counted_from = perf_counter() + warm_up
    idle = [_Line(address, script) for script in scripts]
    with selectors.DefaultSelector() as waiting:
        while idle or waiting.get_map():
            now = perf_counter()
            for line in [line for line in idle if line.due <= now]:
                idle.remove(line)
                line.send()
                waiting.register(line.socket, selectors.EVENT_READ, line)
            until = min((line.due for line in idle), default=None)
            for key, _ in waiting.select(None if until is None else max(0.0, until - perf_counter())):
                _take(key.data, times, counted_from, waiting, idle)
    times.lasted = perf_counter() - counted_from
    return times


def request(method: str, path: str, headers: str, body: bytes = b"", kind: str = "application/json") -> bytes:
    """Return the bytes of an HTTP request; `headers` are whole lines."""
    about_body = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}{about_body}\r\n".encode() + body


def _take(
    line: _Line, times: Times, counted_from: float, waiting: selectors.BaseSelector, idle: list[_Line]
) -> None:
    reply = line.receive()
    if reply is None:
        return
    if line.asked_at >= counted_from:
        times.seconds.setdefault(line.ask.name, []).append(perf_counter() - line.asked_at)
    waiting.unregister(line.socket)
    if line.go_on(reply):
        idle.append(line)
    else:
        line.socket.close()


def _length_of(head: bytes) -> int:
    for field_line in head.split(b"\r\n")[1:]:
        name, _, value = field_line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
