import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from blinding.task_metadata import FolderFiles
from blinding.task_metadata.registry import RESULT
from tests.blinding.task_metadata.packages import metadata, packages


def write(folder: Path, *trees: dict[str, Any]) -> Path:
    for path, data in packages(*trees).items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(data)
    return folder


def run(*arguments: object) -> tuple[object, str]:
    out = StringIO()
    try:
        call_command("check_tasks", *map(str, arguments), stdout=out)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def test_sound_tasks_leave_status_zero(tmp_path: Path) -> None:
    status, text = run(write(tmp_path, metadata(), metadata({"task_id": "menu-2"})))
    assert status == 0
    assert "2 task packages checked: 0 errors, 0 warnings." in text
    assert "Gates 1 and 10 are attested outside" in text
    assert "stand-in" in text


def test_errors_leave_status_one_and_say_what_to_do(tmp_path: Path) -> None:
    status, text = run(write(tmp_path, metadata({"difficulty_components.dependency_depth": 7})))
    assert status == 1
    assert "tasks/menu-1/task.toml: error depth_mismatch at /difficulty_components/dependency_depth" in text
    assert "shop → chop → cook" in text


def test_warnings_leave_status_zero(tmp_path: Path) -> None:
    status, text = run(write(tmp_path, metadata({"capabilities": ["A.1", "A.1"]})))
    assert (status, "warning duplicate_capability at /capabilities/1" in text) == (0, True)


def test_json_is_one_object(tmp_path: Path) -> None:
    broken = metadata({"task_id": "menu-2", "difficulty_class": 9})
    status, text = run(write(tmp_path, metadata({"capabilities": ["A.1", "A.1"]}), broken), "--json")
    report = json.loads(text)
    assert (status, report["tasks"], report["stand_in_used"]) == (1, 2, True)
    assert report["attested_outside"] == ["gate 1", "gate 10"]
    (error,), (warning,) = report["errors"], report["warnings"]
    assert set(error) == set(warning) == {"path", "pointer", "rule", "message"}
    assert (error["path"], error["pointer"], error["rule"]) == (
        "tasks/menu-2/task.toml",
        "/difficulty_class",
        "schema",
    )
    assert (warning["path"], warning["rule"]) == ("tasks/menu-1/task.toml", "duplicate_capability")


@pytest.mark.parametrize("below", ["", "tasks", "tasks/menu-1", "tasks/menu-1/task.toml"])
def test_any_folder_at_or_above_a_package_will_do(tmp_path: Path, below: str) -> None:
    write(tmp_path, metadata())
    status, text = run(tmp_path / below, "--json")
    assert (status, json.loads(text)["tasks"]) == (0, 1)


@pytest.mark.parametrize(
    ("below", "path"),
    [("", "tasks/a/task.toml"), ("tasks", "tasks/a/task.toml"), ("tasks/a", "a/task.toml")],
)
def test_paths_begin_where_they_can_be_recognised(tmp_path: Path, below: str, path: str) -> None:
    write(tmp_path, metadata({"task_id": "a"}))
    assert list(FolderFiles(tmp_path / below)) == [path]


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, metadata({"task_id": "a"}))
    (tmp_path / "tasks" / "b").symlink_to(tmp_path / "tasks" / "a")
    (tmp_path / "tasks" / "a" / "more.txt").symlink_to("task.toml")
    files = FolderFiles(tmp_path)
    assert (list(files), len(files), "tasks/b/task.toml" in files) == (["tasks/a/task.toml"], 1, False)


def test_a_folder_without_a_package_is_an_error(tmp_path: Path) -> None:
    status, text = run(tmp_path, "--json")
    report = json.loads(text)
    assert (status, report["tasks"], [error["rule"] for error in report["errors"]]) == (1, 0, ["no_tasks"])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no folder"):
        run(tmp_path / "missing")


def test_the_real_schema_may_be_named_or_configured(tmp_path: Path, settings: Any) -> None:
    write(tmp_path, metadata())
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    (schemas / "result.schema.json").write_text(f'{{"$id": "{RESULT}", "$defs": {{"veto_category": false}}}}')
    assert run(tmp_path)[0] == 0
    status, text = run(tmp_path, "--schemas", schemas)
    assert (status, "checked against the real result.schema.json" in text) == (1, True)
    settings.TWINBLIND_SCHEMAS = schemas
    assert run(tmp_path)[0] == 1


def test_a_broken_schema_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(CommandError, match=r"broken\.json"):
        run(write(tmp_path, metadata()), "--schemas", tmp_path)


def test_a_name_that_is_not_unicode_can_be_told(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "caf\udce9"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_bytes(b"{")
    status, text = run(tmp_path)
    assert (status, "caf\\udce9" in text) == (1, True)
