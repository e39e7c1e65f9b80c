"""What people who are blind see does not depend on what is sealed: not by a byte, in any answer, to anybody."""

import pytest

from tests.blinding.worlds.conftest import Twins
from tests.blinding.worlds.sweep import forgotten_bodies
from tests.blinding.worlds.transcript import Answer, difference
from tests.blinding.worlds.world import BLIND

pytestmark = pytest.mark.django_db
SEEN_BY = (*BLIND, "machine")


def seen_by(transcript: list[Answer], role: str) -> list[Answer]:
    return [answer for answer in transcript if answer.role == role]


@pytest.mark.parametrize("role", SEEN_BY)
def test_nobody_sees_a_difference_where_every_label_has_another_name(twins: Twins, role: str) -> None:
    one, other = (seen_by(life.world.transcript, role) for life in (twins.first, twins.renamed))
    assert one
    assert difference(one, other) == ""
