"""Sealing task metadata for the study's private key, and what may stay open: variant groups, the calibration split, labels
that the protocol declares. Until the release this server can read labels T1-T10; then their sums only."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from annotation_app.models import Batch, Study, Task
from annotation_app.services.practice import reference_sets
from annotation_app.services.task_tally import pending_tally
from blinding import entropy, sealing
from blinding.models import DeclaredLabels, SealedTask, StudyKey, TaskTally
from blinding.server_box import digest_of, is_digest_of
from blinding.task_metadata import KnownTask, TaskMetadata
from blinding.task_metadata.strata import strata

_DIGEST = "task metadata"
DESIGN = ("variant_group", "calibration_split")


def known_tasks(study: Study) -> list[KnownTask]:
    """Return the study's tasks as a check of packages may know them: ids and versions, and of sealed ones a digest."""
    names = dict(Task.objects.filter(study=study).values_list("pk", "task_id"))
    sealed = SealedTask.objects.filter(study=study.pk).values_list("task", "version", "digest")
    secret = _secret(study.pk)
    known = [
        _known(study.pk, secret, names[task], version, bytes(digest)) for task, version, digest in sealed
    ]
    versions = Task.objects.filter(study=study).values_list("task_id", "task_version")
    return [*known, *(KnownTask(task_id, version) for task_id, version in versions)]


def versions_held(study: Study) -> dict[UUID, str]:
    """Return, by task, under which version its metadata are sealed."""
    return dict(SealedTask.objects.filter(study=study.pk).values_list("task", "version"))


def note_design(batch: Batch, described: Mapping[Task, TaskMetadata], tasks: Sequence[Task]) -> set[Task]:
    """Set the facts of design that metadata declare: the group of variants, which reaches originals of earlier batches too,
    and the calibration split. `tasks` are all of the study; returns those that it set, for the caller to store."""
    by_id: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        by_id[task.task_id].append(task)
    varied = {metadata.variant_group for metadata in described.values() if metadata.variant_of}
    for group in sorted(varied):
        code = _group_of(by_id[group]) or entropy.draw("variant group", f"{batch.pk} {group}", 8).hex()
        for original in by_id[group]:
            original.variant_group = code
    for task, metadata in described.items():
        task.variant_group = _group_of(by_id[metadata.variant_group])
        task.calibration_split = metadata.is_calibration
    return {*described, *(task for group in varied for task in by_id[group])}


def seal_tasks(batch: Batch, described: Mapping[Task, TaskMetadata]) -> None:
    """Seal the metadata that a batch brought, padded to one size; the tasks are stored."""
    if not described:
        return
    public, secret = _keys(batch.study_id)
    sealer = sealing.Sealer(public)
    size = sealing.padded_size(max(len(metadata.canonical) for metadata in described.values()))
    rows = [
        SealedTask(
            study=batch.study_id,
            batch=batch.pk,
            task=task.pk,
            version=metadata.task_version,
            digest=digest_of(_DIGEST, batch.study_id, secret + metadata.canonical),
            box=sealer.seal(sealing.pad_to(metadata.canonical, size)),
        )
        for task, metadata in described.items()
    ]
    SealedTask.objects.bulk_create(sorted(rows, key=lambda row: row.pk), batch_size=500)
    batch.reference_sets = reference_sets(batch.study_id, described.values())
    batch.save(update_fields=["reference_sets"])
    TaskTally.objects.create(
        batch=batch.pk, study=batch.study_id, box=pending_tally(batch.pk, described.values())
    )
    _declare(batch.study, described)


def forget_tasks(batch: Batch) -> None:
    """Take back what a discarded batch brought; what another batch brought too stays."""
    brought = set(SealedTask.objects.filter(batch=batch.pk).values_list("task", flat=True))
    SealedTask.objects.filter(batch=batch.pk).delete()
    TaskTally.objects.filter(batch=batch.pk).delete()
    gone = brought - set(SealedTask.objects.filter(task__in=brought).values_list("task", flat=True))
    DeclaredLabels.objects.filter(task__in=gone).delete()
    Task.objects.filter(pk__in=gone, outputs=None).update(calibration_split=False, variant_group="")


def forget_undeclared_labels(study: Study) -> None:
    """Drop open labels that the protocol does not declare any more."""
    for row in DeclaredLabels.objects.filter(study=study.pk):
        kept = declared(row.labels, study)
        if kept != row.labels:
            DeclaredLabels.objects.filter(pk=row.pk).update(labels=kept)


def declared(labels: Mapping[str, str], study: Study) -> dict[str, str]:
    """Return those labels of a task that the protocol declares open."""
    names = set(study.protocol["open_labels"])
    return {name: value for name, value in labels.items() if name.partition(".")[0] in names}


def _known(study: UUID, secret: bytes, task_id: str, version: str, digest: bytes) -> KnownTask:
    def is_same(canonical: bytes) -> bool:
        return is_digest_of(digest, _DIGEST, study, secret + canonical)

    return KnownTask(task_id, version, is_same=is_same)


def _keys(study: UUID) -> tuple[bytes, bytes]:
    """Return the study's public key and the secret of its digests."""
    public, secret = StudyKey.objects.values_list("public_key", "id_secret").get(study=study)
    return bytes(public), bytes(secret)


def _secret(study: UUID) -> bytes:
    return _keys(study)[1]


def _group_of(tasks: Collection[Task]) -> str:
    return next((task.variant_group for task in tasks if task.variant_group), "")


def _declare(study: Study, described: Mapping[Task, TaskMetadata]) -> None:
    names = study.protocol["open_labels"]
    if not names:
        return
    rows = [
        DeclaredLabels(task=task.pk, study=study.pk, labels=strata(metadata.metadata, names))
        for task, metadata in described.items()
    ]
    DeclaredLabels.objects.bulk_create(
        sorted(rows, key=lambda row: row.task),
        update_conflicts=True,
        unique_fields=["task"],
        update_fields=["labels"],
        batch_size=500,
    )
