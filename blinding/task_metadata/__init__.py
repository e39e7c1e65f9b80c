"""Metadata of benchmark tasks: reading task packages, the rules they must pass, what may be published.
Pure: bytes in, findings and values out; no Django, no network."""

from blinding.task_metadata.distributions import PublicDistributions, distributions, publish, tally
from blinding.task_metadata.findings import ERRORS, WARNINGS, Finding
from blinding.task_metadata.folder import FolderFiles
from blinding.task_metadata.known import KnownTask
from blinding.task_metadata.lint import ATTESTED_OUTSIDE, Lint, lint_tasks
from blinding.task_metadata.metadata import TaskMetadata, parse_canonical
from blinding.task_metadata.package import task_entries
from blinding.task_metadata.registry import RegistryError, SchemaRegistry, load_registry

__all__ = [
    "ATTESTED_OUTSIDE",
    "ERRORS",
    "WARNINGS",
    "Finding",
    "FolderFiles",
    "KnownTask",
    "Lint",
    "PublicDistributions",
    "RegistryError",
    "SchemaRegistry",
    "TaskMetadata",
    "distributions",
    "lint_tasks",
    "load_registry",
    "parse_canonical",
    "publish",
    "tally",
    "task_entries",
]
