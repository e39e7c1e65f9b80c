"""The ceremony: the project author asks with reason and passphrase, the admin approves with the other one, a job opens the
seals, verifies every commitment and joins the labels, all in one transaction."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.health import worker_is_alive
from annotation_app.models import Membership, Study
from annotation_app.services.attempts import passphrase_attempt
from annotation_app.services.datasets import dataset_hash
from annotation_app.services.reveal import reveal_labels
from blinding import clock, handover, jobs, sealing
from blinding.events import record_event
from blinding.jobs import JobFailed, Progress
from blinding.models import Job, StudyKey, UnblindingRequest
from blinding.policy import Phase, Role

KIND = "unblind"
LAPSES_AFTER = timedelta(hours=24)
State = UnblindingRequest.State
OPEN = (State.REQUESTED, State.APPROVED)


def request_unblinding(
    *, membership: Membership, reason: str, passphrase: str, password: str | None = None
) -> UnblindingRequest:
    """Take the project author's layer off the key and wait for the admin; lapses after a day, and the layer is back then.

    `password` is checked where it is given. Raises Absent for another role, Invalid without a reason, Refused before the
    lock, for a request that is open already, for a wrong passphrase or password; TooOften.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    if not reason.strip():
        raise Invalid.at("reason", "required", "Say why the data are unblinded now; the log keeps it.")
    with passphrase_attempt(membership, password):
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        _require_lock(study)
        key = StudyKey.objects.select_for_update().get(study=study.pk)
        outer = bytes(key.wrapped)
        key.wrapped, key.layers = sealing.open_outer(outer, passphrase), 1
        key.save(update_fields=["wrapped", "layers"])
        request = UnblindingRequest.objects.create(
            study=study.pk,
            reason=reason.strip(),
            requested_by=membership.pk,
            requested_at=clock.now(),
            outer=outer,
            dataset_hash=study.dataset_hash,
        )
        _note(request, "requested", membership, {"reason": request.reason})
    return request


def approve_unblinding(
    *, membership: Membership, uid: UUID, passphrase: str, password: str | None = None
) -> UUID:
    """Open the key with the admin's passphrase and hand it to the job that opens the seals; return the job's id.

    Raises Absent, Refused for a wrong passphrase or password, for a request that is not waiting, or where no worker takes
    the key; TooOften.
    """
    if membership.role != Role.ADMIN:
        raise Absent
    if not worker_is_alive():
        raise Refused(
            "No worker is running, so nobody could open the seals. Ask whoever runs the server.",
            code="no_worker",
        )
    with passphrase_attempt(membership, password):
        request = _waiting(membership, uid)
        private = sealing.open_inner(bytes(StudyKey.objects.get(study=request.study).wrapped), passphrase)
        request.state, request.approved_by, request.approved_at = State.APPROVED, membership.pk, clock.now()
        request.save(update_fields=["state", "approved_by", "approved_at"])
        job = jobs.enqueue(KIND, study=request.study, subject=request.pk)
        _note(request, "approved", membership)
    try:
        handover.give(job.pk, private, request.pk)
    except handover.NoHandOver as fault:
        _back_to_waiting(request, job)
        raise Refused(
            "No worker took the key in time; nothing was opened. Try again.", code="no_worker"
        ) from fault
    return job.pk


def withdraw_request(*, membership: Membership, uid: UUID) -> None:
    """Take a request back; the project author's layer is around the key again. Raises Absent, Refused."""
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    with transaction.atomic():
        request = _waiting(membership, uid)
        _close(request, State.WITHDRAWN)
        _note(request, "withdrawn", membership)


def refuse_request(*, membership: Membership, uid: UUID, reason: str) -> None:
    """Say no to a request; it is closed as a withdrawn one is. Raises Absent, Invalid without a reason, Refused."""
    if membership.role != Role.ADMIN:
        raise Absent
    if not reason.strip():
        raise Invalid.at("reason", "required", "Say why; the project author reads it and the log keeps it.")
    with transaction.atomic():
        request = _waiting(membership, uid)
        request.verification = {"refused": reason.strip()}
        request.save(update_fields=["verification"])
        _close(request, State.WITHDRAWN)
        _note(request, "refused", membership, {"reason": reason.strip()})


def lapse_old_requests() -> int:
    """Close requests that nobody approved within a day; return how many."""
    due = clock.now() - LAPSES_AFTER
    with transaction.atomic():
        old = list(
            UnblindingRequest.objects.select_for_update(skip_locked=True).filter(
                state=State.REQUESTED, requested_at__lte=due
            )
        )
        for request in old:
            _close(request, State.LAPSED)
            _note(request, "lapsed")
    return len(old)


def open_seals(job: Job, progress: Progress) -> None:
    """The job: take the key over, verify everything that was committed, join labels, move to unblinded. All or nothing."""
    try:
        private = handover.receive(job.pk, handover.offer(job), job.subject)
    except handover.NoHandOver as fault:
        raise JobFailed("The key was not handed over in time; nothing was opened. Ask again.") from fault
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=job.study)
        request = UnblindingRequest.objects.select_for_update().get(pk=job.subject)
        if study.phase != Phase.LOCKED or request.state != State.APPROVED:
            raise JobFailed("The study is not waiting for its unblinding any more.")
        if dataset_hash(study) != study.dataset_hash:
            raise JobFailed(
                "The records are not those whose hash was published at the lock. Nothing was opened."
            )
        verification = reveal_labels(study, private, progress)
        progress.fence()
        study.phase, study.unblinded_at = Phase.UNBLINDED, clock.now()
        study.save(update_fields=["phase", "unblinded_at"])
        request.verification = verification
        request.save(update_fields=["verification"])
        _close(request, State.DONE)
        record_event("phase_unblinded", study=study.pk, actor=None, subject=request.pk, facts=verification)


def opening_failed(job: Job) -> None:
    """Nothing was opened: the request is closed and the key has both layers again."""
    request = UnblindingRequest.objects.select_for_update().get(pk=job.subject)
    if request.state == State.APPROVED:
        error = Job.objects.values_list("error", flat=True).get(pk=job.pk)
        _close(request, State.FAILED)
        _note(request, "failed", None, {"error": error})


def requests_of(*, membership: Membership) -> list[UnblindingRequest]:
    """Return the study's requests, newest first, for who holds a half of the key or reads the log. Raises Absent."""
    if membership.role not in (Role.PROJECT_AUTHOR, Role.ADMIN, Role.MONITOR):
        raise Absent
    return list(UnblindingRequest.objects.filter(study=membership.study_id).order_by("-requested_at"))


def open_request(study_id: UUID) -> UnblindingRequest | None:
    """Return the request that is asked for or approved, if there is one."""
    return UnblindingRequest.objects.filter(study=study_id, state__in=OPEN).first()


def _require_lock(study: Study) -> None:
    if study.phase == Phase.UNBLINDED:
        raise Refused("The data are unblinded already.")
    if study.phase != Phase.LOCKED:
        raise Refused("Only locked data can be unblinded.", code="not_locked")
    if open_request(study.pk):
        raise Refused(
            "An unblinding is asked for already; the admin has to approve it.", code="already_requested"
        )


def _waiting(membership: Membership, uid: UUID) -> UnblindingRequest:
    request = UnblindingRequest.objects.select_for_update().filter(study=membership.study_id, pk=uid).first()
    if request is None:
        raise Absent
    if request.state != State.REQUESTED:
        raise Refused(
            f"This request is not waiting for an approval; it is {request.state}.", code="not_waiting"
        )
    if request.requested_at <= clock.now() - LAPSES_AFTER:
        raise Refused("This request has lapsed. The project author has to ask again.", code="not_waiting")
    return request


def _close(request: UnblindingRequest, state: str) -> None:
    """End a request in the caller's transaction: the key has both layers again."""
    StudyKey.objects.filter(study=request.study).update(wrapped=request.outer, layers=2)
    request.state, request.ended_at, request.outer = state, clock.now(), None
    request.save(update_fields=["state", "ended_at", "outer"])


def _note(
    request: UnblindingRequest,
    what: str,
    member: Membership | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    actor = member.pk if member else None
    record_event(f"unblinding_{what}", study=request.study, actor=actor, subject=request.pk, facts=facts)


def _back_to_waiting(request: UnblindingRequest, job: Job) -> None:
    with transaction.atomic():
        Job.objects.filter(pk=job.pk, state__in=["queued", "running"]).update(
            state=Job.State.FAILED, error="The key was not handed over.", ended_at=clock.now()
        )
        undone = UnblindingRequest.objects.filter(pk=request.pk, state=State.APPROVED).update(
            state=State.REQUESTED, approved_by=None, approved_at=None
        )
        if undone:
            _note(request, "not_taken_up")
