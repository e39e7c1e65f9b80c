"""Asking for every route, as everybody, in every way; and taking back whatever that did.

Everybody asks for every address (in turn as a page, as JSON, as CSV; A in all three ways) and sends something sensible
where that is taken. Nonsense and the rarer methods go to every address from A, and from the others in turn. Query
parameters are tried on lists.
"""

from collections.abc import Iterable

from tests.blinding.worlds import bodies
from tests.blinding.worlds.routes import QUERIES, Route, Things, addresses, all_routes
from tests.blinding.worlds.world import BLIND, World

ACCEPTS = ("text/html", "application/json", "text/csv")
RARE = ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
READ = {200, 201, 202, 204, 400, 409, 422, 429}  # statuses of what was at least read
TURNS = 6  # a rare method on a route is used by A and by every sixth of the others
ASKS_LISTS = ("primary_A", "monitor", "project_author")
NOWHERE = Route("no/such/page/")


def sweep(world: World, step: str) -> None:
    """Everything that the module says, in `world` as it is now."""
    world.step = step
    things, routes = Things.of(world), [*all_routes(), NOWHERE]
    for turn, route in enumerate(routes):
        for number, role in enumerate(BLIND):
            for address in addresses(route, things, role):
                _try(world, role, route, address, turn + number)


def look_around(
    world: World,
    step: str,
    roles: Iterable[str] = BLIND,
    things: Things | None = None,
    *,
    only: str = "",
) -> None:
    """Everybody only looks at every address; `things` of another world are asked for where they are given.

    `only`: a part of the addresses that are meant.
    """
    world.step = step
    things = things or Things.of(world)
    for turn, route in enumerate(all_routes()):
        for number, role in enumerate(roles if only in route.pattern else ()):
            for address in addresses(route, things, role):
                _look(world, role, address, ACCEPTS[(turn + number) % 3])


def _look(world: World, role: str, address: str, accept: str) -> None:
    """The interface takes a session too, by a way of its own: A calls it from the browser, whenever they ask for CSV."""
    world.try_out(
        role, "GET", address, accept=accept, with_session=role == "primary_A" and accept == "text/csv"
    )


def send_around(world: World, step: str, role: str, things: Things | None = None, *, only: str = "") -> None:
    """One person sends something sensible to every address that takes it; `things` and `only` as in `look_around`."""
    world.step = step
    things = things or Things.of(world)
    for route in all_routes():
        for address in addresses(route, things, role) if only in route.pattern else ():
            _send(world, role, route, address)


def _try(world: World, role: str, route: Route, address: str, turn: int) -> None:
    is_a = role == "primary_A"
    for accept in ACCEPTS if is_a else ACCEPTS[turn % 3 :][:1]:
        _look(world, role, address, accept)
    _send(world, role, route, address)
    nonsense = bodies.nonsense(route.is_program)
    if is_a or turn % 3 == 0:
        world.try_out(role, "POST", address, nonsense, accept="application/json")
    if is_a or turn % TURNS == 0:
        for method in RARE:
            world.try_out(role, method, address, nonsense)
    if route.is_list and role in ASKS_LISTS:
        _query(world, role, address, turn)


def _send(world: World, role: str, route: Route, address: str) -> None:
    made = bodies.of(route.pattern)
    if made is not None:
        method = "PUT" if address.endswith("/draft/") else "POST"
        world.try_out(role, method, address, made(world, role, address))


def _query(world: World, role: str, address: str, turn: int) -> None:
    """The parameters take turns over lists and people: each list meets a third of them from each person."""
    for query in QUERIES[turn % 3 :: 3]:
        world.try_out(role, "GET", f"{address}?{query}")


def forgotten_bodies(world: World) -> set[str]:
    """Return the routes where somebody's POST got as far as being read, and that have no sensible body in `bodies`."""
    read = {answer.path for answer in world.transcript if answer.method == "POST" and answer.status in READ}
    things = Things.of(world)
    return {
        route.pattern
        for route in all_routes()
        if bodies.of(route.pattern) is None
        and any(address in read for role in BLIND for address in addresses(route, things, role))
    }
