"""What makes two worlds comparable to the byte: time stands still, every random draw is replayed.

The product has one source of each (`blinding.clock`, `blinding.entropy`). Django, knox and Celery draw from the system;
their sources are replaced here by a stream that starts anew with every request. libsodium keeps its own: its boxes are
never served. Commitments depend on what is sealed by nature; here a leaf is a function of its index, the blinded id.
"""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType

from annotation_app.services import forms
from blinding import clock, entropy

SEED = b"one history of all that is random"
Draws = dict[tuple[str, str], int]  # how far each stream of the product was read
START = datetime.fromisoformat("2031-03-03T09:00:00+00:00")


class Stream:
    """Stands in for the system's randomness: bytes that depend on the name it was last started under, and on nothing else."""

    def __init__(self) -> None:
        self.start("before the first request")

    def start(self, name: str) -> None:
        self._name, self._drawn = name, 0

    def __call__(self, n: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(f"{self._name}\x1f{self._drawn}".encode()).digest(n)


class Watch:
    """The clock of a world. `at` sets it to a minute after the start, so that no one's pace shifts another's time."""

    def __init__(self, advance: Any) -> None:
        self._advance = advance

    def at(self, minute: float) -> None:
        self._advance(START + timedelta(minutes=minute) - clock.now())


@contextmanager
def determined(seed: bytes = SEED) -> Iterator[tuple[Watch, Stream, Draws]]:
    """Run the block in a world of its own: nothing it draws, and no time it reads, differs from another such block.

    Who goes on in a world that was left needs another `seed`, or keys that exist already are drawn again.
    """
    for module in (settings.ROOT_URLCONF, "annotation_app.tasks", "adjudication.tasks", "blinding.tasks"):
        import_module(module)  # what is first imported inside would keep what stands in here for good
    stream = Stream()
    with ExitStack() as stack:
        advance = stack.enter_context(clock.frozen_at(START))
        draws = stack.enter_context(entropy.replayed(seed))
        for place in ("os.urandom", "random._urandom", "knox.crypto.generate_bytes"):
            stack.enter_context(patch(place, stream))
        time = SimpleNamespace(time=lambda: clock.now().timestamp())
        for module in (
            "django.contrib.sessions.middleware",
            "django.http.response",
            "django.core.signing",
            "django.utils.cache",
        ):
            stack.enter_context(patch(f"{module}.time", time))
        stack.enter_context(patch("django.utils.timezone.now", clock.now))
        stack.enter_context(patch.object(User._meta.get_field("date_joined"), "default", clock.now))
        stack.enter_context(patch("blinding.commitment.leaf_hash", leaf_of_an_index))
        stack.enter_context(patch("annotation_app.health.worker_is_alive", lambda: True))  # of no world
        forget()
        yield Watch(advance), stream, draws
        forget()


def leaf_of_an_index(blinded_id: str, sealed: bytes, opened: bytes) -> bytes:
    """Stand in for a Merkle leaf: it depends on the blinded id and on nothing that is sealed."""
    return hashlib.sha256(b"leaf" + blinded_id.encode()).digest()


def forget() -> None:
    """Empty what a process remembers between requests, or the second world would ask the database less."""
    forms._documents.clear()
    forms._forms.clear()
    forms._schemas.clear()
    ContentType.objects.clear_cache()
