"""The twin worlds can fail: every leak that is planted on purpose is caught. The rate is printed."""

from pathlib import Path

import pytest

from tests.blinding.worlds.conftest import Twins
from tests.blinding.worlds.fixture import as_it_is, renamed
from tests.blinding.worlds.leaks import Leak
from tests.blinding.worlds.leaks_made import MADE, made
from tests.blinding.worlds.leaks_of_peers import OF_PEERS
from tests.blinding.worlds.leaks_served import SERVED
from tests.blinding.worlds.peers import Beside
from tests.blinding.worlds.transcript import Answer, difference
from tests.blinding.worlds.world import Snapshot
from tests.kill_rate import Plants

pytestmark = pytest.mark.django_db


def named(leaks: list[Leak]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("leak", leaks, ids=[leak.name for leak in leaks])


@named(SERVED)
def test_a_leak_in_what_is_served_is_caught(twins: Twins, leak: Leak, plants: Plants) -> None:
    plants("in what is served")
    worlds = [life.snapshots[leak.at] for life in (twins.first, twins.renamed)]
    assert tells_apart(leak, worlds)


@named(OF_PEERS)
def test_a_leak_from_the_peer_is_caught(peers: dict[str, Beside], leak: Leak, plants: Plants) -> None:
    plants("between coders")
    beside = peers["primary_A"]
    assert tells_apart(leak, [life.snapshots[leak.at] for life in (beside.idle, beside.busy)])


@named(MADE)
def test_a_leak_in_the_making_of_a_batch_is_caught(
    twins: Twins, leak: Leak, plants: Plants, tmp_path: Path
) -> None:
    plants("in the making of a batch")
    ready, fixtures = twins.first.snapshots["ready"], (as_it_is(), renamed())
    with_it = [made(ready, fixture, tmp_path / fixture.name, leak) for fixture in fixtures]
    assert difference(*with_it) != ""


def test_without_a_leak_a_batch_is_made_alike(twins: Twins, tmp_path: Path) -> None:
    ready, fixtures = twins.first.snapshots["ready"], (as_it_is(), renamed())
    one, other = (made(ready, fixture, tmp_path / fixture.name, None) for fixture in fixtures)
    assert difference(one, other) == ""


def tells_apart(leak: Leak, worlds: list[Snapshot]) -> bool:
    """Return whether a leak shows in one of the requests it names; without it the worlds must be alike there."""
    assert difference(*(seen_by_a(leak.replay(world, planted=False), leak) for world in worlds)) == ""
    with_it = [seen_by_a(leak.replay(world, planted=True), leak) for world in worlds]
    assert all(answer.status < 500 for transcript in with_it for answer in transcript), with_it
    return difference(*with_it) != ""


def seen_by_a(transcript: list[Answer], leak: Leak) -> list[Answer]:
    """What a leak is about to tell: the answers to who asks last."""
    return [answer for answer in transcript if answer.role == leak.asks[-1][0]]
