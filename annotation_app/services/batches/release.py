"""Releasing a reviewed batch: random blinded ids, masks, allocation, commitment; one job, one transaction."""

from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from annotation_app.errors import Refused
from annotation_app.models import Batch, Membership, Output, StagedOutput, Study
from annotation_app.rendering import rendered
from annotation_app.services.batches.allocation import Allocation
from annotation_app.services.batches.lint import forget_lint, task_obstacles
from annotation_app.services.batches.repeats import count_repeats, note_training_texts
from annotation_app.services.batches.task_seals import forget_tasks
from annotation_app.services.batches.upload import batch_of, upload_path
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.practice import ask_for_practice
from annotation_app.services.task_tally import add_up
from annotation_app.services.versions import blind_version
from blinding import clock, entropy, jobs
from blinding.events import record_event
from blinding.jobs import JobFailed, Progress
from blinding.models import Job, SealedFigures, SealedOutput, UsedOutputId
from blinding.policy import Phase, Role
from blinding.redaction.spans import Span, mask, masks

KIND = "release_batch"
PHASES = {Batch.Purpose.MAIN: (Phase.CODING,), Batch.Purpose.CALIBRATION: (Phase.SETUP, Phase.TRAINING)}


def release_batch(*, membership: Membership, uid: UUID, reason: str = "") -> Batch:
    """Queue the release of a batch in review; the terms' decisions stand as they are now.

    Raises Absent, or Refused with what is missing: the phase, members of A and B, or a reason where the batch has one arm.
    """
    with transaction.atomic():
        batch = (
            Batch.objects.select_for_update()
            .select_related("study")
            .get(pk=batch_of(membership=membership, uid=uid).pk)
        )
        if batch.status != Batch.Status.IN_REVIEW:
            raise Refused(f"Only a batch in review can be released; this one is {batch.status}.")
        if missing := obstacles(batch):
            raise Refused(" ".join(missing), code="not_ready")
        if batch.arms_warning and not reason.strip():
            raise Refused(
                "All outputs of this batch may share one origin, so that being in it would tell it. "
                "Release it only with a reason, which is logged as a deviation.",
                code="reason_needed",
            )
        batch.status, batch.release_reason = Batch.Status.RELEASING, reason.strip()
        batch.save(update_fields=["status", "release_reason"])
        jobs.enqueue(KIND, study=batch.study_id, subject=batch.pk)
        record_event(
            "release_requested",
            study=batch.study_id,
            actor=membership.pk,
            subject=batch.pk,
            facts={"reason": reason.strip()},
        )
    return batch


def obstacles(batch: Batch) -> list[str]:
    """Return what stands against releasing a batch now, in sentences."""
    study, missing = batch.study, []
    if study.phase not in PHASES[Batch.Purpose(batch.purpose)]:
        missing.append(
            "Main batches are released once the project author has opened coding."
            if batch.is_main
            else "Calibration batches are released before coding begins."
        )
    roles = set(study.memberships.current().values_list("role", flat=True))
    for role in (Role.PRIMARY_A, Role.PRIMARY_B):
        if role not in roles:
            missing.append(f"Nobody has the role {role} yet. Add a member first.")
    return [*missing, *task_obstacles(batch)]


def discard_batch(*, membership: Membership, uid: UUID) -> None:
    """Throw away a batch that was not released; its ids are free again. Raises Absent, or Refused after the release."""
    with transaction.atomic():
        batch = Batch.objects.select_for_update().get(pk=batch_of(membership=membership, uid=uid).pk)
        if batch.status in (Batch.Status.RELEASING, Batch.Status.RELEASED):
            raise Refused("A released batch stays: coders work on it.")
        if batch.status in (Batch.Status.QUEUED, Batch.Status.CHECKING):
            raise Refused("This batch is being checked. Wait until that is done, then discard it.")
        StagedOutput.objects.filter(batch=batch).delete()
        batch.findings.all().delete()
        for table in (SealedOutput, UsedOutputId, SealedFigures):
            table.objects.filter(batch=batch.pk).delete()
        forget_tasks(batch)
        upload_path(batch.pk).unlink(missing_ok=True)
        batch.status = Batch.Status.DISCARDED
        batch.save(update_fields=["status"])
        forget_lint(batch)
        record_event("batch_discarded", study=batch.study_id, actor=membership.pk, subject=batch.pk)


def run_release(job: Job, progress: Progress) -> None:
    """Release batch `job.subject`: all of it or, after any fault, none of it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 3))", [f"release {job.study}"])
        study = Study.objects.select_for_update(no_key=True).get(pk=job.study)
        batch = Batch.objects.select_for_update().get(pk=job.subject)
        batch.study = study
        if batch.status != Batch.Status.RELEASING:
            raise JobFailed("The batch is not waiting for its release any more.")
        if missing := obstacles(batch):
            raise JobFailed(" ".join(missing))
        _keep_training_apart(batch)
        progress.fence()
        _release(batch, progress)


def release_failed(job: Job) -> None:
    """A batch whose release failed is back in review."""
    Batch.objects.filter(pk=job.subject, status=Batch.Status.RELEASING).update(status=Batch.Status.IN_REVIEW)


def _keep_training_apart(batch: Batch) -> None:
    """Note the texts of a training batch; refuse a main batch that repeats some."""
    if not batch.is_main:
        note_training_texts(batch)
    elif repeats := count_repeats(batch):
        raise JobFailed(
            f"{repeats} of {batch.rows} texts were used in training, where coders compared and discussed them. "
            "Discard this batch and upload it without them."
        )


def _release(batch: Batch, progress: Progress) -> None:
    outputs = _make_outputs(batch, progress)
    allocation = Allocation(batch, outputs)
    allocation.store()
    ask_for_practice(batch)
    root = allocation.commit()
    last = Batch.objects.filter(study=batch.study_id).aggregate(last=Max("number"))["last"] or 0
    batch.number, batch.status, batch.released_at = last + 1, Batch.Status.RELEASED, clock.now()
    batch.codebook, batch.blind_version = current_codebook(batch.study), blind_version()
    batch.save(update_fields=["number", "status", "released_at", "codebook", "blind_version"])
    StagedOutput.objects.filter(batch=batch).delete()
    add_up(batch)
    forget_lint(batch)
    record_event(
        "batch_released",
        study=batch.study_id,
        actor=None,
        subject=batch.pk,
        facts={
            "outputs": len(outputs),
            "merkle_root": root,
            "deviation": bool(batch.release_reason and batch.arms_warning),
        },
    )


def _make_outputs(batch: Batch, progress: Progress) -> list[Output]:
    """Make the outputs under random blinded ids, accepted terms masked, stored in the order of their random keys."""
    accepted = set(batch.findings.filter(accepted=True).values_list("number", flat=True))
    presentation = batch.study.protocol["presentation"]
    version, made, total = blind_version(), 0, batch.rows
    for page in _pages(batch):
        outputs = []
        for staged in page:
            text, masks = _masked(staged, accepted)
            outputs.append(
                Output(
                    id=staged.pk,
                    study_id=batch.study_id,
                    batch=batch,
                    task_id=staged.task_id,
                    cluster_id=staged.cluster_id,
                    blinded_output_id=f"b-{entropy.draw('blinded id', staged.pk, 8).hex()}",
                    text=text,
                    html=rendered(text, presentation),
                    masks=masks,
                    blind_version=version,
                )
            )
        Output.objects.bulk_create(outputs)
        made += len(outputs)
        progress(made, 2 * total)
    fields = ("blinded_output_id", "text", "task__variant_group", "cluster__code", "cluster__task")
    return list(Output.objects.filter(batch=batch).select_related("task", "cluster").only(*fields))


def _pages(batch: Batch, size: int = 1000) -> Any:
    last: UUID | None = None
    while True:
        staged = StagedOutput.objects.filter(batch=batch).order_by("pk")
        page = list(staged.filter(pk__gt=last)[:size] if last else staged[:size])
        if not page:
            return
        yield page
        last = page[-1].pk


def _masked(staged: StagedOutput, accepted: set[int]) -> tuple[str, int]:
    """Return the text as coders will see it, and how many masks are in it."""
    spans = [Span(start, end, "lexicon", "") for start, end, number in staged.spans if number in accepted]
    return mask(staged.text, spans), masks(staged.text, spans)
