"""Tests in several processes side by side: who runs what, and each on a broker and a data folder of its own.

The databases are pytest-django's matter, which names one for each process.
"""

from collections.abc import MutableMapping
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

# What takes longest begins first, so that no process is left alone with it at the end.
LONG = ("tests/journeys", "tests/blinding/worlds", "tests/faults", "tests/test_whole_path.py")
# Costly things are made once for a whole folder, so one process runs it.
TOGETHER = ("tests/journeys", "tests/blinding/worlds", "tests/faults")
# Databases of the broker: journeys have the last ones, their workers are not to be seen by other tests.
JOURNEYS = 15


def take_own_part(environment: MutableMapping[str, str]) -> None:
    """Change the addresses of broker and data folder for this process, unless it is the only one."""
    number = _number(environment)
    if number is not None:
        environment["REDIS_URL"] = broker_database(environment["REDIS_URL"], number + 1)
        own = Path(environment.get("TWINBLIND_DATA", "var"), f"part-{number}")
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment["TWINBLIND_DATA"] = str(own)


def journeys_broker(environment: MutableMapping[str, str]) -> str:
    """Return the address of the broker for this process's journeys."""
    return broker_database(environment["REDIS_URL"], JOURNEYS - (_number(environment) or 0))


def broker_database(url: str, number: int) -> str:
    """Return the address of another numbered database of the same broker."""
    bare = url.partition("?")[0]
    if bare.startswith("unix:"):
        return f"{bare}?db={number}"
    scheme, _, rest = bare.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{number}"


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process whole files, or a whole folder where its tests share something costly."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def begin_with_the_long(items: list[pytest.Item]) -> None:
    """Sort the long ones to the front; the order is kept otherwise."""
    items.sort(
        key=lambda item: next((n for n, long in enumerate(LONG) if item.nodeid.startswith(long)), len(LONG))
    )


def _number(environment: MutableMapping[str, str]) -> int | None:
    name = environment.get("PYTEST_XDIST_WORKER", "")
    return int(name.removeprefix("gw")) if name else None
