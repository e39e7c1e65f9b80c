import os
from pathlib import Path

import pytest

from launch.identity import myself
from launch.places import DataFolder, taken, write_private
from launch.speech import Trouble


def test_a_folder_is_held_until_it_is_released(tmp_path: Path) -> None:
    other = DataFolder(tmp_path / "data")
    assert not other.is_held()
    with taken(tmp_path / "data"):
        assert other.is_held()
        with pytest.raises(Trouble, match=f"already runs on .* \\(process {os.getpid()}\\)"):
            other.acquire()
    assert not other.is_held()


def test_addresses_of_a_launcher_that_is_gone_are_forgotten(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with taken(data):
        pass
    (data / "instance.json").write_text("{}")
    with taken(data) as folder:
        assert not folder.instance.exists()


def test_a_secret_is_made_once_and_private(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    key = folder.secret("secret-key")
    assert len(key) >= 50
    assert folder.secret("secret-key") == key
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "told"
    file.write_text("old and longer")
    (tmp_path / "told.new").write_text("left by a start that was killed")
    write_private(file, "new")
    assert file.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["told"]


def test_a_folder_of_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(Trouble, match="holds other files"):
        DataFolder(tmp_path).acquire()


def test_what_a_killed_start_left_is_cleared(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.path.mkdir()
    folder.furnish(myself())
    (folder.path / "tmp" / "postgres.new").mkdir()
    (folder.path / "tmp" / "postgres.new" / "PG_VERSION").touch()
    (folder.path / "uploads" / "tmpab12.upload.jsonl").write_text("a label in clear")
    (folder.path / "uploads" / "waiting-for-its-job").touch()
    folder.logs.joinpath("web.log").write_bytes(b"x" * 10_000_001)
    folder.furnish(myself())
    assert list((folder.path / "tmp").iterdir()) == []
    assert [entry.name for entry in (folder.path / "uploads").iterdir()] == ["waiting-for-its-job"]
    assert [entry.name for entry in folder.logs.iterdir()] == ["web.log.1"]
    assert {entry.stat().st_mode & 0o777 for entry in folder.path.iterdir()} == {0o700}
