"""The unblinding as two people and a worker do it, for tests that commit."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from annotation_app import health
from annotation_app.services.unblinding import approve_unblinding, request_unblinding
from blinding import jobs
from blinding.models import Job, StudyKey, UnblindingRequest
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, StudyUnderTest


@contextmanager
def a_worker() -> Iterator[None]:
    """Take the jobs that are queued meanwhile, as a worker would, on a connection of its own."""
    stop, waiting = threading.Event(), set(Job.objects.values_list("pk", flat=True))
    health.worker_beat()

    def work() -> None:
        try:
            while not stop.wait(0.02):
                for job in Job.objects.filter(state="queued").exclude(pk__in=waiting):
                    jobs.run(job.pk)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def ask(study: StudyUnderTest) -> UnblindingRequest:
    return request_unblinding(
        membership=study["project_author"], reason="The analysis as registered.", passphrase=AUTHOR_PASSPHRASE
    )


def approve(study: StudyUnderTest, asked: UnblindingRequest) -> None:
    with a_worker():
        approve_unblinding(membership=study["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)


def unblind(study: StudyUnderTest) -> None:
    approve(study, ask(study))
    assert study.study.phase == "unblinded", list(
        Job.objects.filter(state="failed").values_list("error", flat=True)
    )


def key_of(study: StudyUnderTest) -> tuple[bytes, int]:
    key = StudyKey.objects.get(study=study.study.pk)
    return bytes(key.wrapped), key.layers
