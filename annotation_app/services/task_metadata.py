"""Task versions of a study: the admin's list and voiding; after the unblinding their labels, for who may learn them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet

from annotation_app import signals
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Batch, Membership, Study, Task
from annotation_app.services.reassignment import void_assignment
from blinding import clock
from blinding.events import record_event
from blinding.models import RevealedTask, SealedTask
from blinding.policy import Disclosure, Phase, Role

READERS = (Role.PROJECT_AUTHOR, Role.MONITOR)


@dataclass(frozen=True)
class TaskRow:
    """A task version without anything closed; `packages` says whether metadata are sealed for it."""

    uid: UUID
    code: str
    task_id: str
    task_version: str
    outputs: int
    packages: bool
    variant_group: str
    calibration_split: bool
    voided_at: datetime | None
    void_reason: str


@dataclass(frozen=True)
class LabelledTask:
    """A task version with its labels, after the unblinding; `metadata` is None where no package came with it."""

    task: TaskRow
    metadata: dict[str, Any] | None
    variants: list[TaskRow]


@dataclass(frozen=True)
class Voided:
    """What voiding did: outputs that leave the main figures, items taken out of coders' lists."""

    outputs: int
    items: int


def tasks_of(*, membership: Membership) -> list[TaskRow]:
    """Return the study's task versions by id, for its admin. Raises Absent for anybody else."""
    if membership.role != Role.ADMIN:
        raise Absent
    return _rows(Task.objects.filter(study=membership.study_id))


def task_of(*, membership: Membership, uid: UUID) -> TaskRow:
    """Return one task version for its study's admin. Raises Absent."""
    if membership.role != Role.ADMIN:
        raise Absent
    found = _rows(Task.objects.filter(study=membership.study_id, pk=uid))
    if not found:
        raise Absent
    return found[0]


def void_task_version(*, membership: Membership, uid: UUID, reason: str) -> Voided:
    """Take a task version out of the main exports and figures, for good; a new version has to be uploaded.

    Items not submitted leave their coders' lists, open cases are withdrawn. Raises Absent, Invalid without a reason,
    Refused behind the lock or for a version that was voided before.
    """
    if membership.role != Role.ADMIN:
        raise Absent
    if not reason.strip():
        raise Invalid.at(
            "reason", "required", "Say why this version is voided; the log and the exports keep it."
        )
    with transaction.atomic():
        study = _shared(membership)
        if study.phase == Phase.LOCKED:
            raise Refused(
                "The data are locked. Undo the lock first, or void it after the unblinding.", code="locked"
            )
        task = Task.objects.select_for_update().filter(study=study, pk=uid).first()
        if task is None:
            raise Absent
        if task.voided_at is not None:
            raise Refused("This version was voided before.", code="already_voided")
        task.voided_at, task.void_reason = clock.now(), reason.strip()
        task.save(update_fields=["voided_at", "void_reason"])
        done = Voided(task.outputs.count(), _withdraw(study, task) if study.is_writable else 0)
        facts = {"reason": task.void_reason, "outputs": done.outputs, "items": done.items}
        record_event("task_voided", study=study.pk, actor=membership.pk, subject=task.pk, facts=facts)
    return done


def labelled_tasks_of(*, membership: Membership) -> list[LabelledTask]:
    """Return the tasks of released batches with their labels. Raises Absent for who never reads them, Refused before
    the unblinding; a look is an event."""
    _require_reader(membership)
    record_event("tasks_viewed", study=membership.study_id, actor=membership.pk)
    return labelled_tasks(membership.study)


def labelled_task_of(*, membership: Membership, uid: UUID) -> LabelledTask:
    """Return one task with its labels and its variants. Raises as above."""
    _require_reader(membership)
    found = next((one for one in labelled_tasks(membership.study) if one.task.uid == uid), None)
    if found is None:
        raise Absent
    record_event("task_viewed", study=membership.study_id, actor=membership.pk, subject=uid)
    return found


def labelled_tasks(study: Study) -> list[LabelledTask]:
    """Return the task versions of released batches with what the unblinding revealed of them. Asks nobody's leave."""
    released = Batch.objects.filter(study=study, status=Batch.Status.RELEASED).values("pk")
    sealed = SealedTask.objects.filter(batch__in=released).values("task")
    rows = _rows(Task.objects.filter(Q(outputs__batch__in=released) | Q(pk__in=sealed), study=study))
    revealed = dict(RevealedTask.objects.filter(study=study.pk).values_list("task", "metadata"))
    groups: dict[str, list[TaskRow]] = {}
    for row in rows:
        groups.setdefault(row.variant_group or str(row.uid), []).append(row)
    return [
        LabelledTask(
            row,
            revealed.get(row.uid),
            [other for other in groups[row.variant_group or str(row.uid)] if other.uid != row.uid],
        )
        for row in rows
    ]


def _require_reader(membership: Membership) -> None:
    if membership.role not in READERS:
        raise Absent
    if not membership.may_learn(Disclosure.PROVENANCE):
        raise Refused("Labels of tasks are shown once the data are unblinded.", code="not_unblinded")


def _rows(tasks: QuerySet[Task]) -> list[TaskRow]:
    found = list(tasks.annotate(n=Count("outputs", distinct=True)).order_by("task_id", "task_version"))
    sealed = set(
        SealedTask.objects.filter(task__in=[task.pk for task in found]).values_list("task", flat=True)
    )
    return [
        TaskRow(
            uid=task.pk,
            code=task.code,
            task_id=task.task_id,
            task_version=task.task_version,
            outputs=task.n,
            packages=task.pk in sealed,
            variant_group=task.variant_group,
            calibration_split=task.calibration_split,
            voided_at=task.voided_at,
            void_reason=task.void_reason,
        )
        for task in found
    ]


def _shared(membership: Membership) -> Study:
    """Take the study row FOR SHARE, before any assignment: the order in which records take theirs."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM annotation_app_study WHERE id = %s FOR SHARE", [membership.study_id])
    return Study.objects.get(pk=membership.study_id)


def _withdraw(study: Study, task: Task) -> int:
    """Void what is not submitted, and take the task's outputs out of comparison; return how many items were voided."""
    items = list(Assignment.objects.live().filter(output__task=task, submitted_at=None).order_by("pk"))
    for item in items:
        void_assignment(item, "task_voided")
    for output in task.outputs.order_by("pk").values_list("pk", flat=True):
        signals.pair_withdrawn.send(sender=Task, output=output, reason="task_voided")
    return len(items)
