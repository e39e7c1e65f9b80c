"""Servers for a measurement: the product's own PostgreSQL and Valkey, durable as in real use, on a folder that is
thrown away. With DATABASE_URL and REDIS_URL set those are used instead."""

import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from launch import product
from launch.instance import Instance
from launch.places import taken
from launch.servers import Servers, base_environment, choose_roles, given_addresses
from launch.supervisor import Supervisor
from launch.venv import find_programs


@contextmanager
def own_instance() -> Iterator[tuple[Instance, Supervisor]]:
    """Start the servers, make the tables, and let this process work on them as the product does."""
    with tempfile.TemporaryDirectory(prefix="tb") as place:
        Path(place).chmod(0o755)
        with taken(Path(place, "data")) as folder, Supervisor() as supervisor:
            programs = find_programs()
            roles = choose_roles(programs, folder)
            folder.furnish(roles.servers)
            environment = base_environment(folder)
            given = given_addresses()
            servers = None if given else Servers(programs, folder, roles.servers, environment, supervisor)
            addresses = servers.start() if servers else given
            assert addresses is not None
            own = addresses.variables() | {"DJANGO_SECRET_KEY": "for-a-measurement-" + "0" * 40}
            instance = Instance(folder, programs, roles, environment | own)
            product.prepare(instance)
            os.environ.update(instance.environment)
            yield instance, supervisor


def as_product() -> None:
    """Load Django with the product's settings in this process, jobs and passphrases at their real cost."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings")
    import django

    django.setup()


def circumstances() -> str:
    """Return what a figure depends on beside the code: machine, versions, load."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} cores ({_processor()}), Python {platform.python_version()}, load {load}"


def peak_of(pid: int) -> int:
    """Return the peak resident memory of a process in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def busy_seconds(pids: Iterable[int]) -> float:
    """Return the seconds of the processor that processes have used so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    """Return the processes that `pid` started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def percentile(values: list[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return sys.platform
