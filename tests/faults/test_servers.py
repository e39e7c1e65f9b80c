"""PostgreSQL and Valkey under `./run services`: killed, left over, in awkward folders."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from tests.faults.launcher import Launcher, eventually, processes_of, run

Start = Callable[..., Launcher]


def addresses(launcher: Launcher) -> tuple[str, str]:
    """Return (conninfo, Redis address) as the launcher prints them for a shell."""
    database = launcher.says(r"^export DATABASE_URL='?([^'\n]+)'?$")
    return database, launcher.says(r"^export REDIS_URL='?([^'\n]+)'?$")


def ask(database: str, statement: str) -> object:
    """Return the first value of a statement, on a connection of its own."""
    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def answers(database: str) -> bool:
    try:
        return ask(database, "SELECT 1") == 1
    except psycopg.OperationalError:
        return False


def pings(address: str) -> bool:
    try:
        with redis.Redis.from_url(address) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def sockets_of(database: str) -> Path:
    return Path(parse_qs(urlsplit(database).query)["host"][0])


def test_the_servers_are_ours_and_closed_to_others(short_folder: Path, start: Start) -> None:
    launcher = start("services", data=short_folder)
    database, _ = addresses(launcher)
    assert str(ask(database, "SHOW server_version")).startswith("18.")
    assert ask(
        database,
        "SELECT concat(datlocprovider, datlocale) FROM pg_database WHERE datname = current_database()",
    ) == ("bC.UTF-8")
    assert ask(database, "SHOW listen_addresses") == ""
    assert (
        ask(database, "SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = user")
        is False
    )
    assert sockets_of(database).parent == short_folder
    assert sockets_of(database).stat().st_mode & 0o777 == 0o700
    settings = {
        "log_error_verbosity": "terse",
        "log_min_error_statement": "panic",
        "log_parameter_max_length_on_error": "0",
        "log_statement": "none",
    }
    assert {name: ask(database, f"SHOW {name}") for name in settings} == settings


def test_a_failing_statement_leaves_no_value_in_the_log(start: Start, tmp_path: Path) -> None:
    launcher = start("services")
    database, _ = addresses(launcher)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE sealed (label text PRIMARY KEY)")
        connection.execute("INSERT INTO sealed VALUES ('sentinel-label')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO sealed VALUES ('sentinel-label')")
    log = (tmp_path / "data" / "logs" / "postgres.log").read_text()
    assert "duplicate key value violates unique constraint" in log
    assert "sentinel-label" not in log


def test_killed_servers_are_revived_and_keep_what_was_committed(start: Start) -> None:
    launcher = start("services")
    database, broker = addresses(launcher)
    ask(database, "CREATE TABLE kept AS SELECT 1 AS n")
    os.kill(launcher.child("postgres"), signal.SIGKILL)
    launcher.says("PostgreSQL runs again")
    assert eventually(lambda: answers(database))
    assert ask(database, "SELECT n FROM kept") == 1
    os.kill(launcher.child("valkey"), signal.SIGKILL)
    launcher.says("Valkey runs again")
    assert eventually(lambda: pings(broker))


def test_a_killed_launcher_leaves_nothing_and_the_folder_starts_again(start: Start, tmp_path: Path) -> None:
    first = start("services")
    database, _ = addresses(first)
    ask(database, "CREATE TABLE kept AS SELECT 1 AS n")
    postmaster = first.child("postgres")
    os.kill(first.process.pid, signal.SIGSTOP)
    os.kill(postmaster, signal.SIGKILL)
    first.signal(signal.SIGKILL)
    assert first.leaves_nothing()
    # The postmaster's own file is still there; worse, its number now belongs to a process that lives.
    stale = tmp_path / "data" / "postgres" / "postmaster.pid"
    lines = stale.read_text().splitlines()
    stale.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    second = start("services")
    database, broker = addresses(second)
    assert ask(database, "SELECT n FROM kept") == 1
    assert pings(broker)


def test_a_signal_stops_everything_and_the_next_start_finds_the_data(start: Start) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        launcher = start("services")
        database, _ = addresses(launcher)
        ask(database, f"CREATE TABLE IF NOT EXISTS kept AS SELECT {int(number)} AS n")
        assert ask(database, "SELECT n FROM kept") == signal.SIGINT
        assert launcher.signal(number) == 128 + number
        assert not processes_of(launcher.data)


def test_a_signal_while_starting_stops_everything(start: Start) -> None:
    launcher = start("services")
    launcher.says("Making the database")
    assert launcher.signal(signal.SIGTERM) == 128 + signal.SIGTERM
    assert launcher.leaves_nothing()
    addresses(start("services"))


def test_a_second_start_in_the_same_folder_is_refused_plainly(start: Start, tmp_path: Path) -> None:
    launcher = start("services")
    addresses(launcher)
    second = run("services", "--data", str(tmp_path / "data"))
    assert second.returncode == 1
    assert f"already runs on {tmp_path / 'data'} (process {launcher.process.pid})" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("name", "end"),
    [("x" * 120, signal.SIGKILL), ("two words, and a comma", signal.SIGTERM)],
    ids=["too long", "odd"],
)
def test_sockets_lie_elsewhere_where_their_address_would_not_fit(
    start: Start, tmp_path: Path, name: str, end: signal.Signals
) -> None:
    launcher = start("services", data=tmp_path / name)
    database, broker = addresses(launcher)
    folder = sockets_of(database)
    assert not folder.is_relative_to(tmp_path / name)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert answers(database)
    assert pings(broker)
    launcher.signal(end)
    assert launcher.leaves_nothing()
    assert eventually(lambda: not folder.exists())


def test_sockets_left_elsewhere_are_removed_by_the_next_start(start: Start, tmp_path: Path) -> None:
    data = tmp_path / ("x" * 120)
    left = tmp_path / "twinblind-left"
    left.mkdir()
    data.mkdir()
    (data / "lock").touch()
    (data / "sockets-elsewhere").symlink_to(left)
    addresses(start("services", data=data))
    assert not left.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")
def test_root_in_a_folder_that_nobody_can_reach(closed: Path, start: Start) -> None:
    launcher = start("services", data=closed / "data")
    database, broker = addresses(launcher)
    assert answers(database)
    assert pings(broker)
    assert closed.stat().st_mode & 0o777 == 0o700
    assert closed.stat().st_uid == 0


def test_servers_named_by_the_environment_are_used_instead(start: Start, tmp_path: Path) -> None:
    first = start("services")
    database, broker = addresses(first)
    second = start("services", data=tmp_path / "second", DATABASE_URL=database, REDIS_URL=broker)
    assert addresses(second) == (database, broker)
    assert not (tmp_path / "second" / "postgres").exists()


def test_one_named_server_is_not_enough(tmp_path: Path) -> None:
    done = run("services", "--data", str(tmp_path / "data"), DATABASE_URL="postgres:///x")
    assert (done.returncode, "Set both DATABASE_URL and REDIS_URL" in done.stderr) == (1, True)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    done = run("services", "--data", str(tmp_path))
    assert (done.returncode, "holds other files" in done.stderr) == (1, True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]


def test_a_taken_port_is_told_plainly(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run("--data", str(tmp_path / "data"), "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Port {port} is taken or not allowed; choose another one with --port.\n"
