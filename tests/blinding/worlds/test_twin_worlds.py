"""What people who are blind see does not depend on what is sealed: not by a byte, in any answer, to anybody."""

import pytest
from django.urls import resolve

from tests.blinding.worlds.conftest import Twins
from tests.blinding.worlds.routes import SHUT, SKIPPED, Things, addresses, all_routes, unnamed_parameters
from tests.blinding.worlds.sweep import forgotten_bodies
from tests.blinding.worlds.transcript import Answer, difference
from tests.blinding.worlds.world import BLIND

pytestmark = pytest.mark.django_db
SEEN_BY = (*BLIND, "machine")
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
BUDGET = 15_000


def seen_by(transcript: list[Answer], role: str, *steps: str) -> list[Answer]:
    return [a for a in transcript if a.role == role and (not steps or a.step in steps)]


@pytest.mark.parametrize("role", SEEN_BY)
def test_nobody_sees_a_difference_where_every_label_has_another_name(twins: Twins, role: str) -> None:
    one, other = (seen_by(life.world.transcript, role) for life in (twins.first, twins.renamed))
    assert one
    assert difference(one, other) == ""


@pytest.mark.parametrize("role", SEEN_BY)
def test_nobody_sees_a_difference_where_the_same_labels_belong_to_other_outputs(
    twins: Twins, role: str
) -> None:
    """The third world lives to the middle of coding: each of its requests was made in the first one, too."""
    other = seen_by(twins.permuted.world.transcript, role)
    asked = {answer.asked for answer in other}
    one = [answer for answer in seen_by(twins.first.world.transcript, role) if answer.asked in asked]
    assert difference(one, other) == ""


def test_every_route_is_visited_by_everybody_and_in_every_way(twins: Twins) -> None:
    transcript = twins.first.world.transcript
    asked = {(a.role, a.path) for a in transcript}
    used = {(a.method, a.path) for a in transcript}
    with twins.first.snapshots["coding"].open() as world:
        things = Things.of(world)
    routes = [route for route in all_routes() if route.pattern not in SKIPPED]
    unseen = {
        r.pattern
        for r in routes
        for role in BLIND
        for a in addresses(r, things, role)
        if (role, a) not in asked
    }
    unused = {
        (r.pattern, m)
        for r in routes
        for m in METHODS
        for a in addresses(r, things, "primary_A")
        if (m, a) not in used
    }
    assert (unseen, unused) == (set(), set())


def test_every_route_lets_somebody_in(twins: Twins) -> None:
    """Or the worlds would be alike at an address because nobody who is blind ever came past its door."""
    entered = {resolve(a.path.partition("?")[0]).route for a in twins.first.world.transcript if a.was_let_in}
    shut = {route.pattern for route in all_routes()} - entered
    assert shut == set(SHUT)


def test_every_parameter_of_a_route_is_named() -> None:
    assert unnamed_parameters() == set()


def test_every_route_that_takes_a_post_is_sent_something_sensible(twins: Twins) -> None:
    with twins.first.snapshots["coding"].open() as world:
        world.transcript = twins.first.world.transcript
        assert forgotten_bodies(world) == set()


def test_no_request_of_the_sweeps_breaks_the_server(twins: Twins) -> None:
    broken = [a.name for a in twins.first.world.transcript if a.status == 500]
    assert broken == []


def test_the_session_is_as_rich_as_a_study(twins: Twins) -> None:
    """Or two worlds would be alike because nothing happens in them."""
    answers = twins.first.world.transcript
    happened = {(a.method, a.status) for a in answers}
    assert {
        ("GET", 200),
        ("GET", 302),
        ("GET", 404),
        ("GET", 409),
        ("POST", 201),
        ("POST", 409),
        ("POST", 422),
    } <= happened
    export = next(a for a in answers if a.path.endswith("/export/records.jsonl") and a.status == 200)
    assert export.body.count(b'"adjudicated_value":"{') > 3
    assert sum(b'"adjudication_required":true' in line for line in export.body.splitlines()) > 3


def test_the_worlds_stay_within_their_budget_of_requests(twins: Twins) -> None:
    made = sum(life.world.requests for life in (twins.first, twins.renamed, twins.permuted))
    print(f"twin worlds: {made} requests")
    assert made <= BUDGET
