"""How many tasks have which label T1-T10, closed for this server: task by task until a batch's release, then added up.

A task counts once in a study, with the version that was released first.
"""

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from annotation_app.models import Batch, Task
from blinding import sealing
from blinding.models import SealedTask, TaskTally
from blinding.server_box import Locked, close_box, open_box
from blinding.task_metadata import TaskMetadata, tally
from blinding.task_metadata.distributions import Tally

_PURPOSE = "task tally"
_BLOCK = 65_536  # what is in a box tells nothing by its length


def pending_tally(batch: UUID, tasks: Iterable[TaskMetadata]) -> bytes:
    """Return the box of a batch that is not released: family and labels of each task."""
    rows = [
        {
            "task_id": t.task_id,
            "task_version": t.task_version,
            "family": t.family,
            "labels": t.metadata["labels"],
        }
        for t in tasks
    ]
    return _closed(batch, rows)


def add_up(batch: Batch) -> None:
    """Replace the tasks of a batch being released by their sums, without those that a released batch has counted.

    A box closed under a secret that the server does not have any more stays as it is.
    """
    row = TaskTally.objects.select_for_update().filter(batch=batch.pk, added_up=False).first()
    if row is None:
        return
    try:
        tasks = _opened(row)
    except Locked:
        return
    counted = _counted_before(batch)
    newest = {task["task_id"]: task for task in sorted(tasks, key=_version_of)}
    counts = tally(task for task_id, task in newest.items() if task_id not in counted)
    row.box, row.added_up = _closed(batch.pk, [[*cell, n] for cell, n in sorted(counts.items())]), True
    row.save(update_fields=["box", "added_up"])


def released_tally(study: UUID) -> Tally:
    """Return the sums over all released batches. Raises Locked where a box cannot be opened."""
    released = Batch.objects.filter(study=study, status=Batch.Status.RELEASED).values("pk")
    counts: Tally = Tally()
    for row in TaskTally.objects.filter(study=study, batch__in=released):
        if not row.added_up:
            raise Locked(_PURPOSE)
        counts.update({(family, label, value): n for family, label, value, n in _opened(row)})
    return counts


def _version_of(task: dict[str, Any]) -> list[int]:
    return [int(part) for part in task["task_version"].split(".")]


def _counted_before(batch: Batch) -> set[str]:
    released = Batch.objects.filter(study=batch.study_id, status=Batch.Status.RELEASED).exclude(pk=batch.pk)
    sealed = SealedTask.objects.filter(batch__in=released.values("pk")).values("task")
    return set(Task.objects.filter(pk__in=sealed).values_list("task_id", flat=True))


def _closed(batch: UUID, value: Any) -> bytes:
    return close_box(_PURPOSE, batch, sealing.pad_to_multiple(json.dumps(value).encode(), _BLOCK))


def _opened(row: TaskTally) -> Any:
    return json.loads(sealing.unpad(open_box(_PURPOSE, row.batch, bytes(row.box))))
