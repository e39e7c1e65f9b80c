"""What every test can ask for. The servers are the ones that `./run test` started."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.base.operations import BaseDatabaseOperations

from annotation_app import health
from tests import parts
from tests.kill_rate import PROPERTY, Plants, kill_rate


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Have the last word on the order."""
    yield
    parts.begin_with_the_long(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> parts.Together:
    return parts.Together(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    for line in kill_rate(reports):
        terminalreporter.write_line(line)


@pytest.fixture
def plants(record_property: Callable[[str, object], None]) -> Plants:
    """Say of a test that it plants a leak, and where."""
    return lambda where: record_property(PROPERTY, where)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Say plainly what is missing before a test asks a database that is not there."""
    if settings.DATABASES["default"]["NAME"] == "missing":
        pytest.fail("No database: start the tests with ./run test", pytrace=False)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser of the journeys; they are skipped where there is none."""
    named = os.environ.get("TWINBLIND_CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("there is no Chromium on this machine")
    return Path(found)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], chromium: Path) -> dict[str, Any]:
    """Start the machine's own Chromium; its sandbox does not start as root."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    arguments = [*sandbox, "--disable-dev-shm-usage", "--disable-gpu"]
    return browser_type_launch_args | {"executable_path": str(chromium), "args": arguments}


@pytest.fixture(autouse=True)
def _nobody_works_yet() -> None:
    """A test begins without a worker: the sign of life that the one before gave lasts for seconds."""
    health.worker_left()


@pytest.fixture(scope="session", autouse=True)
def _tests_may_empty_tables() -> Iterator[None]:
    """After a test with several connections Django truncates all tables, which the product's triggers refuse to everybody.

    Rows are deleted instead, with those triggers off: of nearly empty tables that is also quicker.
    """
    flush = BaseDatabaseOperations.execute_sql_flush

    def delete_past_triggers(self: Any, statements: list[str]) -> None:
        names = self.connection.introspection.django_table_names(only_existing=True, include_views=False)
        tables = [self.quote_name(name) for name in names if name != "django_migrations"]
        flush(
            self,
            [
                *(f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in tables),
                *(f"DELETE FROM {table}" for table in tables),
                "SET CONSTRAINTS ALL IMMEDIATE",
                *(f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in tables),
            ],
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", delete_past_triggers)
        yield
