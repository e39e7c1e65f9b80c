"""What one coder sees does not depend on what another does: codes, speed, flags, skips, or whether they began at all."""

import pytest

from tests.blinding.worlds.peers import PEER_OF, Beside
from tests.blinding.worlds.transcript import difference

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("watched", list(PEER_OF))
@pytest.mark.parametrize("seen_by", ["the watched coder", "audit"])
def test_a_coder_sees_nothing_of_the_other(peers: dict[str, Beside], watched: str, seen_by: str) -> None:
    role = watched if seen_by != "audit" else seen_by
    beside = peers[watched]
    idle, busy = ([a for a in life.world.transcript if a.role == role] for life in (beside.idle, beside.busy))
    assert idle
    assert difference(idle, busy) == ""


@pytest.mark.parametrize("watched", list(PEER_OF))
def test_a_coder_in_training_sees_nothing_of_the_other_before_the_own_code_is_final(
    trainees: dict[str, Beside], watched: str
) -> None:
    beside = trainees[watched]
    idle, busy = (
        [a for a in life.world.transcript if a.role == watched] for life in (beside.idle, beside.busy)
    )
    assert sum(a.status == 200 for a in idle) > 20
    assert difference(idle, busy) == ""


@pytest.mark.parametrize("watched", list(PEER_OF))
def test_the_busy_peer_was_busy(peers: dict[str, Beside], watched: str) -> None:
    """Or the two worlds would be alike because nothing happens in them. All are trained; that comes before."""
    peer = PEER_OF[watched]
    made = [
        sum(a.role == peer and a.status == 201 and a.step != "training" for a in life.world.transcript)
        for life in (peers[watched].idle, peers[watched].busy)
    ]
    assert made[0] == 0
    assert made[1] >= 10
