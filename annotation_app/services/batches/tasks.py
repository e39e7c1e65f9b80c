"""Tasks of a batch: their packages checked, held against the outputs, and rows made for what coders may see."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation_app.batch_file import RowError, TaskFound, TaskKey
from annotation_app.models import Batch, Cluster, Study, Task
from annotation_app.services.batches.described import Described, describe
from annotation_app.services.batches.task_seals import (
    DESIGN,
    known_tasks,
    note_design,
    seal_tasks,
    versions_held,
)
from blinding import entropy
from blinding.allocation import task_codes
from blinding.jobs import JobFailed
from blinding.task_metadata import (
    Finding,
    RegistryError,
    SchemaRegistry,
    TaskMetadata,
    lint_tasks,
    load_registry,
)

WARNINGS_LISTED = 1000
_STATED = ("statement", "reference_material", "positive_control", "classes")


@dataclass(frozen=True)
class PackagesChecked:
    """What the check of a ZIP's task packages found; `tasks` are those without an error."""

    tasks: tuple[TaskMetadata, ...]
    warnings: tuple[Finding, ...]
    packages: int
    stand_in_used: bool

    def summary(self) -> dict[str, Any]:
        """Return what the admin sees of it; `lint` may hint at closed labels and goes with the release."""
        listed = [finding.as_dict() for finding in self.warnings[:WARNINGS_LISTED]]
        return {
            "packages": self.packages,
            "stand_in_used": self.stand_in_used,
            "lint": {"warnings": listed, "total": len(self.warnings)},
        }


def schema_registry() -> SchemaRegistry:
    """Return the schemas shipped and, over them, those of the server's own folder. Raises JobFailed naming a broken one."""
    folder = Path(settings.TWINBLIND_SCHEMAS)
    try:
        return load_registry(folder if folder.is_dir() else None)
    except RegistryError as fault:
        raise JobFailed(f"The schemas of task metadata cannot be used: {fault}.") from fault


def check_task_files(study: Study, files: Mapping[str, bytes]) -> tuple[Iterable[RowError], PackagesChecked]:
    """Return the errors of a ZIP's task packages, and what they hold."""
    lint = lint_tasks(files, known=known_tasks(study), registry=schema_registry())
    errors = [
        RowError(
            None, None, "metadata_invalid", f"{e.path}: {e.pointer or '/'}: {e.rule}: {e.message}", e.path
        )
        for e in lint.errors
    ]
    return errors, PackagesChecked(lint.tasks, lint.warnings, lint.packages, lint.stand_in_used)


def check_tasks_against_outputs(
    batch: Batch, found: Mapping[TaskKey, TaskFound], packages: PackagesChecked | None
) -> list[RowError]:
    """Return an error for each task whose outputs this batch may not hold, or whose metadata cannot be told."""
    known = tasks_by_key(batch.study)
    matched = _described(batch, known, found, packages)
    errors = [_error(key, "task_version", "unknown_task", _NO_PACKAGE) for key in matched.missing]
    errors += [_error(key, "task_version", "ambiguous_task_version", _AMBIGUOUS) for key in matched.ambiguous]
    for key in found:
        metadata, task = matched.metadata.get(key), known.get(key)
        is_calibration = metadata.is_calibration if metadata else task is not None and task.calibration_split
        if batch.is_main and is_calibration:
            errors.append(_error(key, "task_id", "calibration_split", _CALIBRATION))
        if task is not None and task.voided_at is not None:
            errors.append(_error(key, "task_version", "task_voided", _VOIDED))
    return errors


def store_tasks(
    batch: Batch, found: Mapping[TaskKey, TaskFound], packages: PackagesChecked | None
) -> dict[TaskKey, Task]:
    """Make or complete the study's tasks for a batch, in random order, and seal their metadata; return them by
    (task_id, task_version or None)."""
    known = tasks_by_key(batch.study)
    described = _described(batch, known, found, packages).metadata
    wanted = list(dict.fromkeys([*found, *described]))
    fresh = [key for key in wanted if key not in known]
    codes = task_codes(
        entropy.draw("task codes", batch.pk, 32), [_name(k) for k in fresh], [t.code for t in known.values()]
    )
    made = [
        Task(study=batch.study, task_id=key[0], task_version=key[1] or "", code=codes[_name(key)])
        for key in entropy.shuffled(fresh, "task order", batch.pk)
    ]
    stored = set(known.values())
    known |= {_key(task): task for task in made}
    by_task = {known[key]: metadata for key, metadata in described.items()}
    changed = _complete({known[key]: task for key, task in found.items()})
    changed |= note_design(batch, by_task, list(known.values()))
    Task.objects.bulk_create(made, batch_size=500)
    Task.objects.bulk_update(changed & stored, _STATED + DESIGN, batch_size=500)
    seal_tasks(batch, by_task)
    return {key: known[key] for key in wanted}


def store_clusters(
    batch: Batch, tasks: Mapping[TaskKey, Task], found: Mapping[TaskKey, TaskFound]
) -> dict[tuple[TaskKey, str], Cluster]:
    """Make the proposed clusters of a batch under codes in random order; return them by (task, uploader's id)."""
    having = {key: task_found for key, task_found in found.items() if task_found.clusters}
    used: Counter[Any] = Counter(
        Cluster.objects.filter(task__in=[tasks[key].pk for key in having]).values_list("task", flat=True)
    )
    clusters: dict[tuple[TaskKey, str], Cluster] = {}
    for key, task_found in having.items():
        task = tasks[key]
        names = entropy.shuffled(list(task_found.clusters), "cluster codes", f"{batch.pk} {task.pk}")
        for number, name in enumerate(names, start=used[task.pk] + 1):
            label = task_found.clusters[name] or ""
            clusters[key, name] = Cluster(task=task, batch=batch.pk, code=f"C{number}", label=label)
    Cluster.objects.bulk_create(sorted(clusters.values(), key=lambda c: c.pk))
    return clusters


def tasks_by_key(study: Study) -> dict[TaskKey, Task]:
    """Return the study's tasks by (task_id, task_version or None)."""
    return {_key(task): task for task in Task.objects.filter(study=study)}


_NO_PACKAGE = "the archive has packages of this task, but none of the version that its outputs name. Add it below tasks/."
_AMBIGUOUS = (
    "its outputs name no version, and it cannot be told which package describes them. Fill in task_version, or send the one"
    " version that the study holds."
)
_CALIBRATION = "it belongs to the calibration split, whose outputs are coded in calibration batches only. Leave them out."
_VOIDED = "this version was voided. Leave its outputs out, or send them for a new version."


def _error(key: TaskKey, column: str, code: str, what: str) -> RowError:
    name = f"{key[0]} {key[1]}" if key[1] else key[0]
    return RowError(None, column, code, f"Task {name}: {what}")


def _described(
    batch: Batch,
    known: Mapping[TaskKey, Task],
    found: Iterable[TaskKey],
    packages: PackagesChecked | None,
) -> Described:
    held = versions_held(batch.study)
    return describe(
        found,
        packages.tasks if packages else (),
        known=known.keys(),
        held={key[0]: held[task.pk] for key, task in known.items() if key[1] is None and task.pk in held},
    )


def _key(task: Task) -> TaskKey:
    return task.task_id, task.task_version or None


def _name(key: TaskKey) -> str:
    return f"{key[0]}\x1f{key[1] or ''}"


def _complete(stated: Mapping[Task, TaskFound]) -> set[Task]:
    """Take what rows state of tasks; return these."""
    for task, found in stated.items():
        task.statement = found.statement or task.statement
        task.reference_material = found.reference_material or task.reference_material
        task.positive_control = found.positive_control
        task.classes = list(found.classes)
    return set(stated)
