from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from tests.factories import StudyUnderTest


def quiet(folder: Path) -> dict[str, Any]:
    """Files in a folder of their own; jobs run in process, without heartbeats."""
    return {
        "TWINBLIND_HEARTBEAT_SECONDS": None,
        "TWINBLIND_DATA": folder,
        "TWINBLIND_UPLOADS": folder / "uploads",
        "TWINBLIND_EXPORTS": folder / "exports",
    }


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("django_db") is None:
        return
    settings: Any = request.getfixturevalue("settings")
    for name, value in quiet(request.getfixturevalue("tmp_path")).items():
        setattr(settings, name, value)


@pytest.fixture(scope="module")
def committed(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """For what the tests of a module share: it is committed, and each test works on it in a transaction of its own.

    Not for modules with tests that commit themselves: those empty the tables.
    """
    with django_db_blocker.unblock(), override_settings(**quiet(tmp_path_factory.mktemp("data"))):
        yield
        call_command("flush", interactive=False, verbosity=0)


def anew(study: StudyUnderTest) -> StudyUnderTest:
    """A module's study for one test: with clients of its own, whose tokens the test's end takes back."""
    return StudyUnderTest(study.slug, dict(study.names), dict(study.recovery_sheets))
