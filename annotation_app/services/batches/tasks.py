"""Tasks of a batch: rows for what coders may see, sealed boxes for the metadata that came with them."""

from collections.abc import Iterable, Mapping

from annotation_app.batch_file import RowError, TaskFound, TaskKey
from annotation_app.models import Batch, Cluster, Study, Task
from blinding import entropy, sealing
from blinding.allocation import task_codes
from blinding.models import SealedTask
from blinding.task_metadata.known import KnownTask
from blinding.task_metadata.lint import lint_tasks
from blinding.task_metadata.metadata import TaskMetadata


def check_task_files(study: Study, files: Mapping[str, bytes]) -> tuple[Iterable[RowError], tuple[TaskMetadata, ...]]:
    """Return the errors of a ZIP's task packages, and the metadata of those without one."""
    known = [KnownTask(t.task_id, t.task_version) for t in Task.objects.filter(study=study)]
    lint = lint_tasks(files, known=known)
    errors = [
        RowError(None, None, "metadata_invalid", f"{e.path}: {e.pointer or '/'}: {e.rule}: {e.message}", e.path) for e in lint.errors
    ]
    return errors, lint.tasks


def store_tasks(batch: Batch, found: Mapping[TaskKey, TaskFound], metadata: Iterable[TaskMetadata]) -> dict[TaskKey, Task]:
    """Make or complete the study's tasks for a batch, in random order; return them by (task_id, task_version or None)."""
    described = {m.task_id: m for m in metadata}
    known = {(t.task_id, t.task_version or None): t for t in Task.objects.filter(study=batch.study_id)}
    wanted: list[TaskKey] = [*found, *((m.task_id, m.task_version) for m in described.values() if _is_alone(m, found))]
    fresh = [key for key in dict.fromkeys(wanted) if key not in known]
    taken = [t.code for t in known.values()]
    codes = task_codes(entropy.draw("task codes", batch.pk, 32), [_name(k) for k in fresh], taken)
    for key in entropy.shuffled(fresh, "task order", batch.pk):
        known[key] = Task.objects.create(study=batch.study, task_id=key[0], task_version=key[1] or "", code=codes[_name(key)])
    for key, task_found in found.items():
        _complete(known[key], task_found)
    _seal(batch, known, described)
    return {key: known[key] for key in dict.fromkeys(wanted)}


def store_clusters(
    batch: Batch, tasks: Mapping[TaskKey, Task], found: Mapping[TaskKey, TaskFound]
) -> dict[tuple[TaskKey, str], Cluster]:
    """Make the proposed clusters of a batch under codes in random order; return them by (task, uploader's id)."""
    clusters: dict[tuple[TaskKey, str], Cluster] = {}
    for key, task_found in found.items():
        task = tasks[key]
        used = Cluster.objects.filter(task=task).count()
        names = entropy.shuffled(list(task_found.clusters), "cluster codes", f"{batch.pk} {task.pk}")
        for number, name in enumerate(names, start=used + 1):
            label = task_found.clusters[name] or ""
            clusters[key, name] = Cluster(task=task, batch=batch.pk, code=f"C{number}", label=label)
    Cluster.objects.bulk_create(sorted(clusters.values(), key=lambda c: c.pk))
    return clusters


def _is_alone(metadata: TaskMetadata, found: Mapping[TaskKey, TaskFound]) -> bool:
    return not any(task_id == metadata.task_id for task_id, _ in found)


def _name(key: TaskKey) -> str:
    return f"{key[0]}\x1f{key[1] or ''}"


def _complete(task: Task, found: TaskFound) -> None:
    task.statement = found.statement or task.statement
    task.reference_material = found.reference_material or task.reference_material
    task.positive_control = found.positive_control
    task.classes = list(found.classes)
    task.save(update_fields=["statement", "reference_material", "positive_control", "classes"])


def _seal(batch: Batch, tasks: Mapping[TaskKey, Task], described: Mapping[str, TaskMetadata]) -> None:
    """Seal metadata once per task version, padded to one size; variant group and calibration split stay as design facts."""
    from blinding.models import StudyKey

    sealer = sealing.Sealer(bytes(StudyKey.objects.values_list("public_key", flat=True).get(study=batch.study_id)))
    due = [(t, described[t.task_id]) for t in tasks.values() if t.task_id in described and _fits(t, described[t.task_id])]
    sealed = set(SealedTask.objects.filter(task__in=[t.pk for t, _ in due]).values_list("task", flat=True))
    due = [(t, m) for t, m in due if t.pk not in sealed]
    size = sealing.padded_size(max((len(m.canonical) for _, m in due), default=0))
    rows = []
    groups = _group_codes(batch, [m for _, m in due])
    for task, metadata in due:
        task.variant_group, task.calibration_split = groups.get(metadata.variant_group, ""), metadata.is_calibration
        task.save(update_fields=["variant_group", "calibration_split"])
        box = sealer.seal(sealing.pad_to(metadata.canonical, size))
        rows.append(SealedTask(study=batch.study_id, batch=batch.pk, task=task.pk, box=box))
    SealedTask.objects.bulk_create(sorted(rows, key=lambda row: row.pk))


def _fits(task: Task, metadata: TaskMetadata) -> bool:
    return task.task_version in ("", metadata.task_version)


def _group_codes(batch: Batch, metadata: list[TaskMetadata]) -> dict[str, str]:
    """Return a random code for each group of variants; a task without variants has none."""
    varied = {m.variant_group for m in metadata if m.variant_of}
    return {group: entropy.draw("variant group", f"{batch.pk} {group}", 8).hex() for group in sorted(varied)}
