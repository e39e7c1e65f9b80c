"""The cases that lie beside the project, each as its manifest says."""

import json
import zipfile
from typing import Any

import pytest

from blinding.task_metadata import FolderFiles, Lint, lint_tasks, task_entries
from tests.shared_folder import shared


@pytest.fixture(scope="module")
def checked() -> tuple[dict[str, Any], Lint]:
    folder = shared("cases", "task_metadata")
    return json.loads((folder / "manifest.json").read_text()), lint_tasks(FolderFiles(folder))


def test_every_case_answers_as_its_manifest_says(checked: tuple[dict[str, Any], Lint]) -> None:
    manifest, lint = checked
    assert lint.packages == len(manifest["cases"])
    for case in manifest["cases"]:
        told = {(error.pointer, error.rule) for error in lint.errors if error.path == case["path"]}
        expect = {"errors": []} if case["expect"] == "valid" else case["expect"]
        for error in expect["errors"]:
            rules = error["rule"] if isinstance(error["rule"], list) else [error["rule"]]
            matching = {(error["pointer"], rule) for rule in rules} & told
            assert len(matching) == 1, case["path"]
            told -= matching
        assert told <= {(error["pointer"], error["rule"]) for error in expect.get("also", [])}, case["path"]


def test_valid_cases_are_handed_on(checked: tuple[dict[str, Any], Lint]) -> None:
    manifest, lint = checked
    valid = {case["path"] for case in manifest["cases"] if case["expect"] == "valid"}
    assert {task.path for task in lint.tasks} == valid


@pytest.mark.parametrize(
    ("name", "tasks", "errors"),
    [
        ("good.zip", 3, []),
        ("unknown_task.zip", 1, []),
        ("bad_metadata.zip", 0, [("tasks/rr-task-1/task.toml", "high_risk_needs_unsafe_advice")]),
        ("zipped_folder.zip", 0, []),
    ],
)
def test_packages_in_an_archive(name: str, tasks: int, errors: list[tuple[str, str]]) -> None:
    with zipfile.ZipFile(shared("cases", "imports", name)) as archive:
        files = {path: archive.read(entry) for entry, path in task_entries(archive.namelist()).items()}
    lint = lint_tasks(files)
    assert (len(lint.tasks), [(error.path, error.rule) for error in lint.errors]) == (tasks, errors)
    assert lint.warnings == ()
