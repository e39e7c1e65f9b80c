"""The one source of randomness. Each draw names its purpose and subject, so that a history can be replayed
and a number of draws that depends on one subject shifts nothing for another."""

import hashlib
import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar
from uuid import UUID

T = TypeVar("T")

_replay: tuple[bytes, dict[tuple[str, str], int]] | None = None


def draw(purpose: str, subject: object, n: int) -> bytes:
    """Return `n` bytes from the system's CSPRNG, or from the replayed stream of (purpose, subject)."""
    if _replay is None:
        return os.urandom(n)
    seed, counters = _replay
    key = (purpose, str(subject))
    out = b""
    while len(out) < n:
        counters[key] = counters.get(key, 0) + 1
        message = f"{purpose}\x1f{subject}\x1f{counters[key]}".encode()
        out += hmac.new(seed, message, hashlib.sha256).digest()
    return out[:n]


def uuid(purpose: str, subject: object) -> UUID:
    """Return a random (version 4) UUID: no time, no sequence."""
    return UUID(bytes=draw(purpose, subject, 16), version=4)


def below(bound: int, purpose: str, subject: object) -> int:
    """Return a uniform integer in [0, bound); `bound` must be positive. By rejection, so without bias."""
    if bound < 1:
        raise ValueError("bound must be positive")
    size = (bound.bit_length() + 7) // 8 + 1
    limit = (256**size // bound) * bound
    while (value := int.from_bytes(draw(purpose, subject, size), "big")) >= limit:
        pass
    return value % bound


def shuffled(items: list[T], purpose: str, subject: object) -> list[T]:
    """Return a uniformly random order of `items` (Fisher-Yates); the list itself is left alone."""
    out = list(items)
    for i in range(len(out) - 1, 0, -1):
        j = below(i + 1, purpose, subject)
        out[i], out[j] = out[j], out[i]
    return out


@contextmanager
def replayed(seed: bytes) -> Iterator[dict[tuple[str, str], int]]:
    """Draw from streams derived of `seed` inside the block: for tests that compare two histories.

    Yields how far each stream of (purpose, subject) was read, for who takes a stretch of a history back.
    """
    global _replay
    before, _replay = _replay, (seed, {})
    try:
        yield _replay[1]
    finally:
        _replay = before
