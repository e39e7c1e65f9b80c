"""Whether the parts that the product stands on answer: database, broker, a worker, the newest migrations."""

from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis, RedisError

WORKER_KEY = "twinblind:worker"
# Five of the heart beats that a worker's main loop sends, one every two seconds.
WORKER_SECONDS = 10


def worker_is_alive() -> bool:
    """Return whether a worker beat within the last ten seconds; False when the broker cannot tell."""
    try:
        return bool(broker().exists(WORKER_KEY))
    except RedisError:
        return False


def worker_beat() -> None:
    """Note that a worker is alive; a broker that is away is the worker's own trouble to report."""
    try:
        broker().set(WORKER_KEY, "1", ex=WORKER_SECONDS)
    except RedisError:
        return


def worker_left() -> None:
    """Note that a worker leaves."""
    try:
        broker().delete(WORKER_KEY)
    except RedisError:
        return


@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 when every part is well, else 503; the body says which is not."""
    parts = {
        "database": _answers(_ask_database),
        "broker": _answers(broker().ping),
        "worker": worker_is_alive(),
        "migrations": _answers(_check_migrations),
    }
    report = {name: "ok" if well else "failing" for name, well in parts.items()}
    return JsonResponse(report, status=200 if all(parts.values()) else 503)


class UnappliedMigrations(Exception):
    """The code expects tables that the database does not have yet."""


def _answers(question: Callable[[], object]) -> bool:
    try:
        question()
    except (DatabaseError, RedisError, UnappliedMigrations):
        return False
    return True


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _check_migrations() -> None:
    if _known_migrations() - MigrationRecorder(connection).applied_migrations().keys():
        raise UnappliedMigrations


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return (app, name) of every migration in the code, which stays the same while a process lives."""
    return frozenset(MigrationLoader(None).disk_migrations)


@cache
def broker() -> Redis:
    """Return this process's client of the broker; it gives up after two seconds."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
