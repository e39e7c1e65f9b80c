"""Where cases and data lie for people who have them; tests that need them skip elsewhere."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT.parent / "shared"


def shared(*parts: str) -> Path:
    """Return a path in the folder of cases and data, or skip the test where it is absent."""
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{path.name} is not at hand: the folder of cases and data lies beside the project only for its developers"
        )
    return path
