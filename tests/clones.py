"""A database of one's own for a whole module: a copy of the test database in which things are really committed.

Tests of such a module carry the mark `django_db`: without it nobody sets the test database up, and there is nothing to copy.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.db import ProgrammingError, connection, connections

from blinding import entropy


@contextmanager
def cloned_database(blocker: Any) -> Iterator[str]:
    """Give the block a fresh copy of the test database as its default database; yield its name."""
    with blocker.unblock():
        clone = copied(_test_database())
        try:
            with connected_to(clone):
                yield clone
        finally:
            dropped(clone)


def copied(original: str = "") -> str:
    """Copy a database that nobody needs at the moment (left out: the test database); return the copy's name."""
    original = original or _test_database()
    clone = f"{_test_database()}_{entropy.draw('clone', original, 4).hex()}"
    connection.close()
    _leave(original)
    _maintain(f'CREATE DATABASE "{clone}" TEMPLATE "{original}"')
    return clone


def _leave(database: str) -> None:
    """End what else is connected: under a browser's event loop Django opens a connection beside the one it had before."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s AND usename = current_user", [database]
        )
        for (pid,) in cursor.fetchall():
            # One that is ending by itself belongs to nobody any more, and is waited for when the copy is made.
            with suppress(ProgrammingError):
                cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def dropped(*names: str) -> None:
    for name in names:
        _maintain(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Let the product talk to another database inside the block; a transaction of the caller's is left as it is."""
    before = connections["default"]
    other = before.copy()
    other.settings_dict["NAME"] = name
    connections["default"] = other
    try:
        yield
    finally:
        other.close()
        connections["default"] = before


def _test_database() -> str:
    name = str(settings.DATABASES["default"]["NAME"])
    assert name.startswith("test_"), "this is no test database: mark the tests with django_db"
    return name


def _maintain(statement: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)
