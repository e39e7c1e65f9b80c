from pathlib import Path

import pytest

from launch.sockets import fits


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/srv/twinblind/s", True),
        # 89 bytes, a slash and the 13 of ".s.PGSQL.5432": 103 in all.
        ("/" + "x" * 88, True),
        ("/" + "x" * 89, False),
        ("/with space/s", False),
        ("/a,b/s", False),
        ("/per%20cent/s", False),
        ("/ü/s", False),
    ],
)
def test_only_short_and_plain_paths_hold_sockets(folder: str, expected: bool) -> None:
    assert fits(Path(folder)) is expected
