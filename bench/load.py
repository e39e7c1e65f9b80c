"""Clients that keep a server busy and take little of the machine themselves: plain sockets, kept open, in one thread."""

import selectors
import socket
from collections.abc import Generator
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

HEAD_END = b"\r\n\r\n"


class Ask(NamedTuple):
    """One request under the name that its time is counted by."""

    name: str
    data: bytes


class Reply(NamedTuple):
    status: int
    body: bytes


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
        self.send()

    def send(self) -> None:
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
        """Ask the next thing; False when the script is at its end."""
        try:
            self.ask = self._script.send(reply)
        except StopIteration:
            return False
        self.send()
        return True


def drive(scripts: list[Script], address: tuple[str, int], warm_up: float) -> Times:
    """Run all scripts to their ends at the same time; what began in the first `warm_up` seconds is not counted."""
    times = Times()
    counted_from = perf_counter() + warm_up
    with selectors.DefaultSelector() as waiting:
        for line in [_Line(address, script) for script in scripts]:
            waiting.register(line.socket, selectors.EVENT_READ, line)
        while waiting.get_map():
            for key, _ in waiting.select():
                _take(key.data, times, counted_from, waiting)
    times.lasted = perf_counter() - counted_from
    return times


def request(method: str, path: str, headers: str, body: bytes = b"", kind: str = "application/json") -> bytes:
    """Return the bytes of an HTTP request; `headers` are whole lines."""
    about_body = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}{about_body}\r\n".encode() + body


def _take(line: _Line, times: Times, counted_from: float, waiting: selectors.BaseSelector) -> None:
    reply = line.receive()
    if reply is None:
        return
    if line.asked_at >= counted_from:
        times.seconds.setdefault(line.ask.name, []).append(perf_counter() - line.asked_at)
    if not line.go_on(reply):
        waiting.unregister(line.socket)
        line.socket.close()


def _length_of(head: bytes) -> int:
    for field_line in head.split(b"\r\n")[1:]:
        name, _, value = field_line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
