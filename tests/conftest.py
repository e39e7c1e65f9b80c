"""What every test can ask for. The servers are the ones that `./run test` started."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.base.operations import BaseDatabaseOperations


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
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


@pytest.fixture(scope="session", autouse=True)
def _tests_may_empty_tables() -> Iterator[None]:
    """After a test with several connections Django truncates all tables; the product's triggers refuse that to everybody."""
    flush = BaseDatabaseOperations.execute_sql_flush

    def flush_past_triggers(self: Any, statements: list[str]) -> None:
        tables = self.connection.introspection.django_table_names(only_existing=True, include_views=False)
        off = [f"ALTER TABLE {self.quote_name(table)} DISABLE TRIGGER USER" for table in tables]
        flush(self, [*off, *statements, *(line.replace(" DISABLE ", " ENABLE ") for line in off)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", flush_past_triggers)
        yield
