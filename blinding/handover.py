"""Handing the study key from the web process to the job that opens the seals: through the broker, closed, for a minute.

The job comes first and publishes the public half of a key pair that dies with it; the web process seals the study key to
that. The public half stands in the job's own row: who could swap it would get the key, so the broker is not asked for it.
What passes the broker opens nothing by itself.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from redis import Redis, RedisError

from blinding import sealing
from blinding.models import Job

T = TypeVar("T")
STEP = 0.1  # seconds between two looks
_pause = threading.Event().wait  # never set: waits its time out
_OPEN = (Job.State.QUEUED, Job.State.RUNNING)


class NoHandOver(Exception):
    """The other side did not come in time."""


def offer(job: Job) -> sealing.HandOver:
    """Publish a fresh public key for a running job; return the half that opens what is sealed to it.

    Raises NoHandOver where the job was given up meanwhile.
    """
    hand_over = sealing.HandOver()
    mine = Job.objects.filter(pk=job.pk, attempts=job.attempts, state=Job.State.RUNNING)
    if not mine.update(arguments={**job.arguments, "public_key": hand_over.public_key.hex()}):
        raise NoHandOver("the job was given up")
    return hand_over


def give(job: UUID, private: bytes, request: UUID) -> None:
    """Wait for the job's public key and leave the study key sealed to it. Raises NoHandOver when no job comes."""
    public = _wait(lambda: _offered(job), float(settings.TWINBLIND_HAND_OVER_PATIENCE))
    sealed = sealing.seal_for(bytes.fromhex(public), private, str(request))
    try:
        _broker().set(_name(job), sealed, ex=int(settings.TWINBLIND_HAND_OVER_SECONDS))
    except RedisError as fault:
        raise NoHandOver("the broker is away") from fault


def receive(job: UUID, hand_over: sealing.HandOver, request: UUID) -> bytes:
    """Wait for the sealed study key, take it out of the broker and open it.

    Raises NoHandOver, also for a key that was meant for another job or request.
    """
    broker = _broker()
    try:
        sealed = _wait(lambda: broker.getdel(_name(job)), float(settings.TWINBLIND_HAND_OVER_SECONDS))
        return hand_over.open(bytes(sealed), str(request))
    except (RedisError, sealing.Damaged) as fault:
        raise NoHandOver("what was left is not this job's key") from fault


def _offered(job: UUID) -> str | None:
    row = Job.objects.filter(pk=job).values_list("state", "arguments").first()
    if row is None or row[0] not in _OPEN:
        raise NoHandOver("the job ended")
    return row[1].get("public_key") if row[0] == Job.State.RUNNING else None


def _wait(look: Callable[[], T | None], patience: float) -> T:
    for _ in range(max(1, int(patience / STEP))):
        if (found := look()) is not None:
            return found
        _pause(STEP)
    raise NoHandOver("nobody came in time")


def _name(job: UUID) -> str:
    return f"twinblind:hand-over:{job}"


def _broker() -> Any:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=5)
