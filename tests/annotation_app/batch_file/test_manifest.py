"""Runs the developers' upload cases against this package, the study being what earlier files made it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from annotation_app.batch_file import (
    CheckResult,
    Control,
    KnownStudy,
    OutputRow,
    RowError,
    UploadRefused,
    check_file,
    open_upload,
    read_outputs,
    sha256_of,
)
from blinding.redaction.unicode import clean
from blinding.task_metadata import lint_tasks
from tests.shared_folder import FOLDER, shared

MANIFEST = FOLDER / "cases" / "imports" / "manifest.json"
CASES = json.loads(MANIFEST.read_text("utf-8"))["cases"] if MANIFEST.exists() else []


@dataclass
class Study:
    """What the product would keep of accepted files."""

    digests: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    known: dict[str, dict[Any, Any]] = field(default_factory=lambda: {"statements": {}, "controls": {}})

    def send(self, file: str, mapping: Mapping[str, str]) -> tuple[CheckResult, list[OutputRow]]:
        path = shared("cases", "imports", file)
        if sha256_of(path) in self.digests:
            return refused(RowError(None, None, "already_uploaded", "")), []
        try:
            opened = open_upload(path, file)
        except UploadRefused as refusal:
            return refused(refusal.as_error()), []
        known = KnownStudy(used_ids=self.ids.intersection, task_ids=set(), **self.known)
        result = check_file(opened, mapping, clean=clean, known=known, check_tasks=check_tasks)
        if result.errors_total:
            return result, []
        outputs = list(read_outputs(opened, mapping, clean))
        self.digests.add(sha256_of(path))
        self.ids |= {output.output_id for output in outputs}
        for key, task in result.tasks.items():
            if task.statement is not None:
                self.known["statements"][key] = task.statement
            self.known["controls"][key] = Control(task.positive_control or None, task.classes or None)
        return result, outputs


def refused(error: RowError) -> CheckResult:
    return CheckResult(0, [error], 1, [])


def check_tasks(files: Mapping[str, bytes]) -> tuple[list[RowError], Any]:
    lint = lint_tasks(files)
    errors = [RowError(None, None, "metadata_invalid", e.message, e.path) for e in lint.errors]
    return errors, lint.tasks


def name_of(case: dict[str, Any]) -> str:
    return f"{case['file']}: {case['what']}"


@pytest.mark.skipif(not CASES, reason="the folder of cases lies beside the project only for its developers")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_upload_is_answered_as_the_manifest_says(case):
    study = Study()
    for earlier in case.get("after", ()):
        first = next(other for other in CASES if other["file"] == earlier)
        study.send(earlier, first.get("mapping", {}))
    result, outputs = study.send(case["file"], case.get("mapping", {}))
    expect = case["expect"]
    assert (result.errors_total == 0) == (expect["status"] == "in_review"), result.errors
    assert len(outputs) == expect.get("rows", 0)
    compare_errors(result, expect)
    compare_warnings(result, expect)
    compare_outputs(result, outputs, expect)


def compare_errors(result: CheckResult, expect: dict[str, Any]) -> None:
    assert result.errors_total == expect.get("errors_total", result.errors_total)
    assert len(result.errors) == expect.get("errors_listed", len(result.errors))
    left = list(result.errors)
    for wanted in expect.get("errors", ()):
        codes = wanted["code"] if isinstance(wanted["code"], list) else [wanted["code"]]
        (found,) = [
            error
            for error in left
            if error.code in codes and error.row == wanted["row"] and error.column == wanted["column"]
        ]
        if "first_row" in wanted:
            assert f"row {wanted['first_row']}" in re.findall(r"row \d+", found.message)
        assert found.path == wanted.get("path")
        left.remove(found)
    if "errors" in expect and not expect.get("errors_also"):
        assert left == []


def compare_warnings(result: CheckResult, expect: dict[str, Any]) -> None:
    if "warnings" not in expect:
        return
    assert [(w.code, w.count) for w in result.warnings] == [
        (w["code"], w["count"]) for w in expect["warnings"]
    ]
    for found, wanted in zip(result.warnings, expect["warnings"], strict=True):
        assert found.rows == wanted.get("rows", found.rows)


def compare_outputs(result: CheckResult, outputs: list[OutputRow], expect: dict[str, Any]) -> None:
    by_row = {output.number: output for output in outputs}
    for wanted in expect.get("shown", ()):
        output = by_row[wanted["row"]]
        task = result.tasks[output.task_id, output.task_version]
        shown: Any = list(task.classes) if wanted.get("column") == "classes" else output.shown
        assert shown == wanted.get("equals", shown)
        assert all(part in shown for part in wanted.get("contains", ()))
        assert not any(part in shown for part in wanted.get("lacks", ()))
    for wanted in expect.get("sealed", ()):
        for part in (by_row[wanted["row"]].raw, by_row[wanted["row"]].rest()):
            assert json.loads(part).items() >= wanted["value"].items()
    for secret in expect.get("never_shown", ()):
        assert not any(secret in output.shown for output in outputs)
