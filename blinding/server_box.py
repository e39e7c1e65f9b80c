"""What this server opens and a copy of its database does not: boxes and digests under keys of the server's secret.

Each purpose and subject has a key of its own. A former secret in SECRET_KEY_FALLBACKS still opens.
"""

import hmac
from collections.abc import Iterator

from django.conf import settings
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from blinding import entropy


class Locked(Exception):
    """A box was closed under another secret than the server has now, for something else, or was altered."""


def close_box(purpose: str, subject: object, content: bytes) -> bytes:
    """Return `content` in a box for this server. Its length shows: pad what is secret by its length."""
    nonce = entropy.draw("server box", f"{purpose} {subject}", SecretBox.NONCE_SIZE)
    return bytes(SecretBox(next(_keys(purpose, subject))).encrypt(content, nonce))


def open_box(purpose: str, subject: object, box: bytes) -> bytes:
    """Return what was put into a box for the same purpose and subject; raises Locked."""
    for key in _keys(purpose, subject):
        try:
            return SecretBox(key).decrypt(box)
        except CryptoError:
            continue
    raise Locked(purpose)


def digest_of(purpose: str, subject: object, content: bytes) -> bytes:
    """Return a digest of 32 bytes which says nothing about `content` to who lacks the server's secret."""
    return hmac.digest(next(_keys(purpose, subject)), content, "sha256")


def is_digest_of(digest: bytes, purpose: str, subject: object, content: bytes) -> bool:
    """Say whether `digest` was made of `content`, for the same purpose and subject."""
    found = (hmac.digest(key, content, "sha256") for key in _keys(purpose, subject))
    return any(hmac.compare_digest(digest, one) for one in found)


def _keys(purpose: str, subject: object) -> Iterator[bytes]:
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield hmac.digest(secret.encode(), f"twinblind\x1f{purpose}\x1f{subject}".encode(), "sha256")
