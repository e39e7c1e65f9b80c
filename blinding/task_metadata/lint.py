"""The check of task packages: read each, hold it against schema and rules, then all against each other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from blinding.task_metadata.cross import Read, check_together
from blinding.task_metadata.findings import Finding, Hit
from blinding.task_metadata.hashes import check_hashes
from blinding.task_metadata.known import KnownTask
from blinding.task_metadata.metadata import TaskMetadata
from blinding.task_metadata.package import Package, find_packages, read_table
from blinding.task_metadata.registry import TASK_METADATA, SchemaRegistry, load_registry
from blinding.task_metadata.rules import check_task
from blinding.task_metadata.schema_check import check_schema
from blinding.task_metadata.values import as_json, canonical, nul_characters, without

ATTESTED_OUTSIDE = ("gate 1", "gate 10")


@dataclass(frozen=True)
class Lint:
    """What the check found: `tasks` are those without an error, `packages` counts all that were read."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    tasks: tuple[TaskMetadata, ...]
    packages: int
    stand_in_used: bool


def lint_tasks(
    files: Mapping[str, bytes],
    *,
    known: Iterable[KnownTask] = (),
    registry: SchemaRegistry | None = None,
) -> Lint:
    """Check every package among `files`, which maps paths with slashes to contents.

    Only task.toml and the files of materials and verifier are looked up, one at a time, so the mapping may
    read on demand. Without a `registry` the shipped schemas are used. Raises RegistryError if one is missing.
    """
    registry = registry or load_registry()
    validator = registry.validator(TASK_METADATA)
    findings: list[Finding] = []
    read: list[Read] = []
    for package in find_packages(files):
        task, hits = _read(package, files, validator)
        read.append(task)
        findings.extend(Finding.of(task.path, hit) for hit in hits)
    findings.extend(check_together(read, known))
    findings.sort()
    errors = tuple(finding for finding in findings if finding.is_error)
    return Lint(
        errors=errors,
        warnings=tuple(finding for finding in findings if not finding.is_error),
        tasks=tuple(_sound(read, {error.path for error in errors})),
        packages=len(read),
        stand_in_used=registry.stand_in_used,
    )


def _read(
    package: Package, files: Mapping[str, bytes], validator: jsonschema_rs.Validator
) -> tuple[Read, list[Hit]]:
    table, hits = read_table(files[package.path])
    if hits:
        return Read(package.path, package.name, {}, None), hits
    tree, faults = as_json(table)
    hits, unsound = check_schema(validator, tree, faults)
    hits.extend(nul_characters(tree))
    sealable = None if hits else canonical(tree)
    tree = without(tree, unsound) if unsound else tree
    hits.extend(check_task(tree, package.name))
    hits.extend(check_hashes(package, tree, files))
    return Read(package.path, package.name, tree, sealable), hits


def _sound(read: list[Read], faulty: set[str]) -> Iterable[TaskMetadata]:
    for task in read:
        if task.canonical is not None and task.path not in faulty:
            metadata: dict[str, Any] = task.tree
            yield TaskMetadata(task.path, metadata, task.canonical)
