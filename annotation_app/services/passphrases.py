"""What a passphrase must be, and one key derivation at a time: argon2id takes 256 MB, so derivations queue up."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, transaction

from annotation_app.errors import Invalid, Refused
from blinding import sealing

MINIMUM = 10
_LOCK = 7_265_190_001  # an advisory lock of the database, shared by all processes
_STRENGTHS = {"moderate": sealing.MODERATE, "test": sealing.Strength(passes=1, memory=8192)}


def strength() -> sealing.Strength:
    """Return what one guess at a passphrase costs, as the settings have it; only tests make it cheap."""
    return _STRENGTHS[settings.TWINBLIND_ARGON2]


def checked_passphrase(value: object) -> str:
    """Return a passphrase fit to protect half of a key; raise Invalid for one that is too short."""
    if not isinstance(value, str) or len(value.strip()) < MINIMUM:
        raise Invalid.at(
            "passphrase",
            "too_short",
            f"A passphrase needs at least {MINIMUM} characters. Several words are best.",
        )
    return value


@contextmanager
def one_derivation_at_a_time() -> Iterator[None]:
    """Hold the derivation lock for the block, in a transaction of the caller's or an own one."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        yield


def wrong_passphrase() -> Refused:
    return Refused(
        "This is not the passphrase. Check the keyboard layout and try again.", code="wrong_passphrase"
    )
