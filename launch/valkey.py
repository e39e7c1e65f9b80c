"""A Valkey of our own: it only wakes workers and caches, so nothing of it is kept on disk."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from launch.identity import Identity
from launch.places import DataFolder
from launch.processes import Child
from launch.venv import Programs

OPTIONS = ("--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no", "--unixsocketperm", "700")


@dataclass(frozen=True)
class Valkey:
    """The broker of one data folder, run by `identity`."""

    programs: Programs
    folder: DataFolder
    sockets: Path
    identity: Identity
    environment: Mapping[str, str]

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        """The address in redis-py's spelling."""
        return f"unix://{self.socket}?db=0"

    def child(self) -> Child:
        """Return the server."""
        places = ("--unixsocket", str(self.socket), "--dir", str(self.folder.path / "valkey"))
        return Child(
            name="Valkey",
            command=[str(self.programs.valkey), *OPTIONS, *places],
            environment=self.environment,
            identity=self.identity,
            cwd=self.folder.path,
            log=self.folder.logs / "valkey.log",
            keep=self.folder.inherited(),
        )

    def ready(self) -> bool:
        """Return whether the server answers a PING."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
            except OSError:
                return False
