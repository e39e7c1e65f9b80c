"""The two servers of one data folder, or the ones that the environment names instead."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from launch.identity import Identity, Roles, candidates, reaches
from launch.places import CHECKOUT, DataFolder
from launch.postgres import Postgres
from launch.sockets import SocketFolder
from launch.speech import Trouble
from launch.supervisor import Supervisor
from launch.valkey import Valkey
from launch.venv import Programs

# What would make a client or a server behave differently than this product expects.
_FOREIGN = ("PG", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CELERY", "GUNICORN")


@dataclass(frozen=True)
class Addresses:
    """Where the two servers are, as the product reads it from its environment."""

    database: str
    broker: str

    def variables(self) -> dict[str, str]:
        """Return the two environment variables."""
        return {"DATABASE_URL": self.database, "REDIS_URL": self.broker}


def given_addresses() -> Addresses | None:
    """Return the servers named by the environment; Trouble when it names only one of the two."""
    database, broker = os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")
    if bool(database) != bool(broker):
        raise Trouble("Set both DATABASE_URL and REDIS_URL, or neither of them.")
    return Addresses(database, broker) if database and broker else None


def choose_roles(programs: Programs, folder: DataFolder) -> Roles:
    """Return who runs the servers and the product; Trouble when there is nobody whom we can become."""
    owner = folder.owner()
    # Before there is a database the folder is still to be handed over, so what counts is the way to it.
    place = folder.path if owner is not None else folder.path.parent
    servers = [[programs.postgres_tool("postgres"), "--version"], [str(programs.valkey), "--version"]]
    product = [
        [
            str(programs.python),
            "-c",
            f"import django, sys; sys.path.insert(0, {str(CHECKOUT)!r}); import blinding",
        ]
    ]
    for roles in candidates(owner):
        if reaches(roles.servers, servers, place) and reaches(roles.product, product, place):
            return roles
    raise Trouble(
        "PostgreSQL runs neither as root nor as a user without a name. Whom we would become for it cannot "
        f"reach {folder.path} or {CHECKOUT}, and this kernel allows no user namespace. Start as an ordinary "
        "user, or move the folder to where others can enter, or set DATABASE_URL and REDIS_URL."
    )


def base_environment(folder: DataFolder) -> dict[str, str]:
    """Return every child's environment: ours, less what is foreign, with its homes in the data folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    return kept | {
        "HOME": str(folder.path / "home"),
        "TMPDIR": str(folder.path / "tmp"),
        "TWINBLIND_DATA": str(folder.path),
    }


class Servers:
    """Starts PostgreSQL and Valkey under a supervisor."""

    def __init__(
        self,
        programs: Programs,
        folder: DataFolder,
        identity: Identity,
        environment: Mapping[str, str],
        supervisor: Supervisor,
        *,
        volatile: bool = False,
    ) -> None:
        self._supervisor = supervisor
        sockets = SocketFolder(folder.path, identity, supervisor.guard).path
        common = (programs, folder, sockets, identity, environment)
        self.postgres = Postgres(*common, volatile=volatile)
        self.valkey = Valkey(*common)

    def start(self) -> Addresses:
        """Return once both answer and the product's database is there."""
        supervisor = self._supervisor
        self.postgres.prepare()
        supervisor.start(self.valkey.child())
        supervisor.start(self.postgres.child())
        supervisor.wait_for(self.postgres.ready, seconds=60, what="PostgreSQL")
        supervisor.wait_for(self.valkey.ready, seconds=20, what="Valkey")
        self.postgres.make_database()
        return Addresses(self.postgres.url, self.valkey.url)
