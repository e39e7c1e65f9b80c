"""Which package describes which task of a batch: outputs may leave the version out, packages never do. No ORM."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annotation_app.batch_file import TaskKey
from blinding.task_metadata import TaskMetadata


@dataclass(frozen=True)
class Described:
    """Metadata by task; tasks with packages of other versions only, and such of which it cannot be told."""

    metadata: dict[TaskKey, TaskMetadata]
    missing: list[TaskKey]
    ambiguous: list[TaskKey]


def describe(
    found: Iterable[TaskKey],
    packages: Iterable[TaskMetadata],
    *,
    known: Collection[TaskKey],
    held: Mapping[str, str],
) -> Described:
    """Match tasks of outputs with packages; a package that no output names describes a task of its own.

    `known` are the study's tasks; `held` says, of those without a version, under which their metadata are sealed.
    """
    by_task: dict[str, dict[str, TaskMetadata]] = {}
    for package in packages:
        by_task.setdefault(package.task_id, {})[package.task_version] = package
    described = Described({}, [], [])
    for key in found:
        _match(described, key, by_task.get(key[0], {}), key in known, held.get(key[0]))
    named = {id(metadata) for metadata in described.metadata.values()}
    for task_id, versions in by_task.items():
        for version, metadata in versions.items():
            if id(metadata) not in named:
                key = (task_id, None) if held.get(task_id) == version else (task_id, version)
                described.metadata[key] = metadata
    return described


def _match(
    described: Described,
    key: TaskKey,
    versions: Mapping[str, TaskMetadata],
    is_known: bool,
    held: str | None,
) -> None:
    if key[1] is not None:
        if key[1] in versions:
            described.metadata[key] = versions[key[1]]
        elif versions and not is_known:
            described.missing.append(key)
        return
    fitting = [metadata for version, metadata in versions.items() if held in (None, version)]
    if len(fitting) == 1:
        described.metadata[key] = fitting[0]
    elif versions:
        described.ambiguous.append(key)
