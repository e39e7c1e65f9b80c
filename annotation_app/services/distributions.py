"""Public distributions of task labels T1-T10 per family: published once, by the project author, after coding is closed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation_app.errors import Absent, Refused
from annotation_app.models import Batch, Membership, Study, Task
from annotation_app.services.task_tally import released_tally
from blinding import clock
from blinding.events import record_event
from blinding.models import PublishedDistributions, RevealedTask, SealedTask
from blinding.policy import Phase, Role
from blinding.server_box import Locked
from blinding.task_metadata import publish, tally
from blinding.task_metadata.distributions import Tally

PHASES = (Phase.REVIEW, Phase.LOCKED, Phase.UNBLINDED)


@dataclass(frozen=True)
class Distributions:
    """What is public of a study's task labels; `document` as `PublicDistributions.as_json` gives it."""

    study: str
    title: str
    published_at: datetime
    document: dict[str, Any]


def publish_distributions(*, membership: Membership) -> Distributions:
    """Publish the distributions of all released batches, for good: two publications would tell what lies between them.

    Raises Absent for who is not the project author; Refused while coding is open, where they are published, where no
    task has metadata, or where this server cannot read what it kept.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=membership.study_id)
        if study.phase not in PHASES:
            raise Refused("Distributions are published once coding is closed.", code="coding_open")
        if PublishedDistributions.objects.filter(study=study.pk).exists():
            raise Refused(
                "The distributions are published already; that is done once.", code="already_published"
            )
        counts = _counts(study)
        if not counts:
            raise Refused("No task of a released batch has metadata.", code="no_metadata")
        document = publish(counts).as_json()
        row = PublishedDistributions.objects.create(
            study=study.pk, document=document, published_by=membership.pk, published_at=clock.now()
        )
        facts = {"families": len(document["families"])}
        record_event("distributions_published", study=study.pk, actor=membership.pk, facts=facts)
    return _shown(study, row)


def distributions_of(*, membership: Membership) -> Distributions:
    """Return the published distributions for any member. Raises Refused until they are published."""
    found = published(membership.study)
    if found is None:
        raise Refused("The distributions of task labels are not published yet.", code="not_published")
    return found


def public_distributions(*, slug: str) -> Distributions:
    """Return what anybody may read. Raises Absent for an unknown study and for one that has published nothing."""
    study = Study.objects.filter(slug=slug).first()
    found = published(study) if study else None
    if found is None:
        raise Absent
    return found


def published(study: Study) -> Distributions | None:
    """Return a study's distributions, None until they are published."""
    row = PublishedDistributions.objects.filter(study=study.pk).first()
    return _shown(study, row) if row else None


def has_metadata(study: Study) -> bool:
    """Say whether a released batch brought task metadata."""
    released = Batch.objects.filter(study=study, status=Batch.Status.RELEASED).values("pk")
    return SealedTask.objects.filter(batch__in=released).exists()


def _counts(study: Study) -> Tally:
    try:
        return released_tally(study.pk)
    except Locked as fault:
        if study.phase != Phase.UNBLINDED:
            raise Refused(
                "This server has another secret than at the release and cannot open what it counted then."
                " Publish after the unblinding.",
                code="tally_locked",
            ) from fault
        return _revealed_tally(study)


def _revealed_tally(study: Study) -> Tally:
    """Count the metadata that the unblinding revealed: each task once, with the version released first."""
    batches = Batch.objects.filter(study=study, status=Batch.Status.RELEASED)
    numbers = dict(batches.values_list("pk", "number"))
    names = dict(Task.objects.filter(study=study).values_list("pk", "task_id"))
    rows = SealedTask.objects.filter(batch__in=numbers).values_list("batch", "task", "version")
    ordered = sorted(rows, key=lambda row: (numbers[row[0]], [-int(part) for part in row[2].split(".")]))
    first: dict[str, Any] = {}
    for _, task, _ in ordered:
        first.setdefault(names[task], task)
    revealed = RevealedTask.objects.filter(task__in=first.values())
    return tally(metadata for metadata in revealed.values_list("metadata", flat=True))


def _shown(study: Study, row: PublishedDistributions) -> Distributions:
    return Distributions(study.slug, study.title, row.published_at, row.document)
