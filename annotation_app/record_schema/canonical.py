"""One way to write a JSON document as bytes (RFC 8785), so that equal documents have equal hashes."""

import hashlib
from typing import Any

import rfc8785


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 form of `value`; ValueError for NaN, infinity, or an integer beyond 2^53 - 1."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical form of `value`, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()
