from pathlib import Path

import pytest

from launch.places import DataFolder
from launch.servers import Addresses, base_environment, given_addresses
from launch.speech import Trouble


def test_both_servers_or_none_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)
    assert given_addresses() is None
    monkeypatch.setenv("DATABASE_URL", "postgres://db/x")
    with pytest.raises(Trouble, match="both"):
        given_addresses()
    monkeypatch.setenv("REDIS_URL", "redis://valkey")
    assert given_addresses() == Addresses("postgres://db/x", "redis://valkey")


def test_children_see_nothing_that_would_lead_them_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    foreign = ("PGHOST", "PGOPTIONS", "PYTHONPATH", "DJANGO_SETTINGS_MODULE", "GUNICORN_CMD_ARGS")
    for name in foreign:
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = base_environment(DataFolder(tmp_path))
    assert not set(foreign) & environment.keys()
    assert environment["LANG"] == "C.UTF-8"
    assert environment["TWINBLIND_DATA"] == str(tmp_path)
    assert {environment["HOME"], environment["TMPDIR"]} == {str(tmp_path / "home"), str(tmp_path / "tmp")}
