"""Long work. A row in `Job` is the truth; the broker only wakes a worker, and a sweep wakes it again.

A handler does its work in one transaction and calls `progress.fence()` inside it: a worker that was given up
for dead and comes back then finds its job taken, and what it did is rolled back.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q

from blinding import clock
from blinding.models import Job

log = logging.getLogger(__name__)

SILENCE = timedelta(seconds=30)  # without a heartbeat for so long a job is taken from its worker
ATTEMPTS = 3


class JobTaken(Exception):
    """The job was given to another worker meanwhile."""


class JobFailed(Exception):
    """The job cannot be done; the message is for people and free of labels."""


class Progress:
    """How far a running job is. `advance` only counts; a thread with a connection of its own writes it down."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.done, self.total = job.done, job.total

    def __call__(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def fence(self) -> None:
        """Lock the job in the caller's transaction; raise JobTaken unless it is still this worker's."""
        mine = Job.objects.select_for_update().filter(
            pk=self.job.pk, attempts=self.job.attempts, state=Job.State.RUNNING
        )
        if not mine.exists():
            raise JobTaken(self.job.kind)

    def write_down(self) -> None:
        Job.objects.filter(pk=self.job.pk, attempts=self.job.attempts, state=Job.State.RUNNING).update(
            done=self.done, total=self.total, heartbeat=clock.now()
        )


@dataclass(frozen=True)
class Handler:
    run: Callable[[Job, Progress], None]
    failed: Callable[[Job], None] | None = None  # puts the subject into a state people can act on


_handlers: dict[str, Handler] = {}


def register(
    kind: str, run: Callable[[Job, Progress], None], failed: Callable[[Job], None] | None = None
) -> None:
    """Say which function does jobs of `kind`, and which one cleans up after one that failed."""
    _handlers[kind] = Handler(run, failed)


def enqueue(kind: str, *, study: UUID, subject: UUID, arguments: Mapping[str, Any] | None = None) -> Job:
    """Write a job down in the caller's transaction and wake a worker once that is committed."""
    job = Job.objects.create(kind=kind, study=study, subject=subject, arguments=dict(arguments or {}))
    transaction.on_commit(lambda: wake(job.pk))
    return job


def wake(job_id: UUID) -> None:
    """Tell a worker about a job. With the broker away nothing is lost: the sweep tells again."""
    from kombu.exceptions import OperationalError

    from blinding.tasks import run_job

    try:
        run_job.delay(str(job_id))
    except OperationalError:
        log.warning("broker away; job %s waits for the sweep", job_id)


def run(job_id: UUID | str) -> bool:
    """Do a queued job if it is still there to be done; return whether this call did it. Never raises for the job's faults."""
    claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, attempts=F("attempts") + 1, heartbeat=clock.now()
    )
    if not claimed:
        return False
    job = Job.objects.get(pk=job_id)
    progress = Progress(job)
    try:
        with _beating(progress):
            _handlers[job.kind].run(job, progress)
    except JobTaken:
        log.warning("job %s of kind %s was taken over", job.pk, job.kind)
        return False
    except JobFailed as reason:
        _give_up(job, str(reason))
        return True
    except Exception as fault:  # the worker must live on; the job says that it failed
        log.error(
            "job %s of kind %s stopped: %s at %s", job.pk, job.kind, type(fault).__name__, _place_of(fault)
        )
        _give_up(
            job,
            f"The job stopped unexpectedly ({type(fault).__name__}). Nothing was changed; it can be tried again.",
        )
        return True
    _end(job, Job.State.DONE, done=progress.done, total=progress.total)
    return True


def sweep() -> int:
    """Give jobs without a heartbeat to another worker, and wake those nobody took; return how many were woken."""
    silent = Q(state=Job.State.RUNNING, heartbeat__lt=clock.now() - SILENCE)
    for job in Job.objects.filter(silent, attempts__gte=ATTEMPTS):
        _give_up(
            job,
            f"The worker died {ATTEMPTS} times over this job. Ask whoever runs the server to look at its log.",
        )
    Job.objects.filter(silent, attempts__lt=ATTEMPTS).update(state=Job.State.QUEUED, heartbeat=None)
    waiting = list(Job.objects.filter(state=Job.State.QUEUED).values_list("pk", flat=True))
    for pk in waiting:
        wake(pk)
    return len(waiting)


def latest(kind: str, subject: UUID) -> Job | None:
    """Return the newest job of a kind for a subject."""
    return Job.objects.filter(kind=kind, subject=subject).order_by("-created_at").first()


def _give_up(job: Job, reason: str) -> None:
    with transaction.atomic():
        if not _end(job, Job.State.FAILED, error=reason):
            return
        if (failed := _handlers[job.kind].failed) is not None:
            failed(job)


def _end(job: Job, state: str, **facts: Any) -> bool:
    mine = Job.objects.filter(pk=job.pk, attempts=job.attempts, state=Job.State.RUNNING)
    return bool(mine.update(state=state, ended_at=clock.now(), **facts))


def _place_of(fault: BaseException) -> str:
    """Where it happened, without the message: a message may quote a row."""
    trace, place = fault.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


@contextmanager
def _beating(progress: Progress) -> Iterator[None]:
    pause: float | None = getattr(settings, "TWINBLIND_HEARTBEAT_SECONDS", 2.0)
    if pause is None:
        yield
        return
    stop = threading.Event()

    def beat() -> None:
        try:
            while not stop.wait(pause):
                progress.write_down()
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
