"""The twin worlds can fail: every leak that is planted on purpose is caught. The rate is printed."""

from collections.abc import Iterator

import pytest

from tests.blinding.worlds import leaks_served
from tests.blinding.worlds.conftest import Twins
from tests.blinding.worlds.leaks import LEAKS, Leak
from tests.blinding.worlds.transcript import difference

pytestmark = pytest.mark.django_db
assert leaks_served


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest) -> Iterator[dict[str, bool]]:
    """What became of each leak; told in the end."""
    caught: dict[str, bool] = {}
    yield caught
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"\nplanted leaks: {sum(caught.values())} of {len(caught)} caught")


@pytest.mark.parametrize("leak", LEAKS, ids=[leak.name for leak in LEAKS])
def test_a_leak_in_what_is_served_is_caught(twins: Twins, leak: Leak, tally: dict[str, bool]) -> None:
    worlds = [life.snapshots[leak.at] for life in (twins.first, twins.renamed)]
    without = [leak.replay(snapshot, planted=False) for snapshot in worlds]
    with_it = [leak.replay(snapshot, planted=True) for snapshot in worlds]
    assert all(answer.status < 500 for transcript in with_it for answer in transcript), with_it
    assert difference(*without) == ""
    tally[leak.name] = difference(*with_it) != ""
    assert tally[leak.name]
