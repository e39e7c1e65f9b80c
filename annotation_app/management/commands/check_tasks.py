"""Check a folder of task packages against the schema and the rules of task metadata."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from blinding.task_metadata import (
    ATTESTED_OUTSIDE,
    Finding,
    FolderFiles,
    Lint,
    RegistryError,
    lint_tasks,
    load_registry,
)

_OUTSIDE = "Gates 1 and 10 are attested outside: this check says nothing about them."
_STAND_IN = (
    "The real result.schema.json is not at hand: veto_categories were checked against a stand-in,"
    " which admits any well-formed name."
)
_NO_STAND_IN = "veto_categories were checked against the real result.schema.json."


class Command(BaseCommand):
    help = "Check a folder of task packages; exits with status 1 if there are errors."
    requires_system_checks: list[str] = []  # needs no database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="a folder of task packages, at any depth")
        parser.add_argument("--json", action="store_true", help="write the findings as one JSON object")
        parser.add_argument(
            "--schemas", type=Path, metavar="DIR", help="a folder with the real result.schema.json"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        lint = _check(options["path"], options["schemas"])
        errors = list(lint.errors) or _nothing_found(lint)
        write = self._write_json if options["json"] else self._write_text
        write(lint, errors)
        if errors:
            raise SystemExit(1)

    def _write_json(self, lint: Lint, errors: list[Finding]) -> None:
        report = {
            "errors": [finding.as_dict_for_author() for finding in errors],
            "warnings": [finding.as_dict_for_author() for finding in lint.warnings],
            "tasks": lint.packages,
            "stand_in_used": lint.stand_in_used,
            "attested_outside": list(ATTESTED_OUTSIDE),
        }
        self.stdout.write(json.dumps(report, indent=1))

    def _write_text(self, lint: Lint, errors: list[Finding]) -> None:
        for kind, findings in (("error", errors), ("warning", lint.warnings)):
            for finding in findings:
                self.stdout.write(_as_text(kind, finding))
        counts = f"{len(errors)} errors, {len(lint.warnings)} warnings"
        self.stdout.write(f"{lint.packages} task packages checked: {counts}.")
        self.stdout.write(_OUTSIDE)
        self.stdout.write(_STAND_IN if lint.stand_in_used else _NO_STAND_IN)


def _check(path: Path, schemas: Path | None) -> Lint:
    folder = path.parent if path.is_file() and path.name == "task.toml" else path
    if not folder.is_dir():
        raise CommandError(f"{path} is no folder")
    if schemas is None:
        configured = getattr(settings, "TWINBLIND_SCHEMAS", None)
        schemas = Path(configured) if configured and Path(configured).is_dir() else None
    try:
        return lint_tasks(FolderFiles(folder), registry=load_registry(schemas))
    except RegistryError as error:
        raise CommandError(str(error)) from error


def _nothing_found(lint: Lint) -> list[Finding]:
    if lint.packages:
        return []
    return [
        Finding("", "", "no_tasks", "There is no task.toml in a folder of its own here: name another folder.")
    ]


def _as_text(kind: str, finding: Finding) -> str:
    place = f" at {finding.pointer}" if finding.pointer else ""
    text = (
        f"{finding.path or '.'}: {kind} {finding.rule}{place}\n    {finding.as_dict_for_author()['message']}"
    )
    return text.encode("utf-8", "backslashreplace").decode()  # a name on disk need not be UTF-8
