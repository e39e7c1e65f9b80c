import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest) -> None:
    """Tests with a database keep files in a folder of their own, and run jobs in process, without heartbeats."""
    if request.node.get_closest_marker("django_db") is None:
        return
    settings: Any = request.getfixturevalue("settings")
    folder: Path = request.getfixturevalue("tmp_path")
    settings.TWINBLIND_HEARTBEAT_SECONDS = None
    settings.TWINBLIND_DATA = folder
    settings.TWINBLIND_UPLOADS = folder / "uploads"
    settings.TWINBLIND_EXPORTS = folder / "exports"
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
