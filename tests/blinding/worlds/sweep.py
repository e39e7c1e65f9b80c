"""Asking for every route, as everybody, in every way; and taking back whatever that did.

Everybody asks for every address (in turn as a page, as JSON, as CSV; A in all three ways), and posts sense and nonsense to
it. The rarer methods are used by A on every route, and by the others in turn. Query parameters are tried on lists.
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


def sweep(world: World, step: str, roles: Iterable[str] = BLIND) -> None:
    """Everything that the module says, in `world` as it is now."""
    world.step = step
    things, routes = Things.of(world), [*all_routes(), NOWHERE]
    for turn, route in enumerate(routes):
        for number, role in enumerate(roles):
            for address in addresses(route, things, role):
                _look(world, role, address, turn + number)
                _post(world, role, route, address)
                if role == "primary_A" or (turn + number) % TURNS == 0:
                    for method in RARE:
                        world.try_out(role, method, address, bodies.nonsense(route.is_program))
                if route.is_list and role in ASKS_LISTS:
                    _query(world, role, address, turn + number)


def look_around(world: World, step: str, roles: Iterable[str] = BLIND) -> None:
    """Everybody only looks at every address."""
    world.step = step
    things = Things.of(world)
    for turn, route in enumerate(all_routes()):
        for number, role in enumerate(roles):
            for address in addresses(route, things, role):
                world.try_out(role, "GET", address, accept=ACCEPTS[(turn + number) % 3])


def _look(world: World, role: str, address: str, turn: int) -> None:
    for accept in ACCEPTS if role == "primary_A" else ACCEPTS[turn % 3 :][:1]:
        world.try_out(role, "GET", address, accept=accept)


def _post(world: World, role: str, route: Route, address: str) -> None:
    method = "PUT" if address.endswith("/draft/") else "POST"
    world.try_out(role, "POST", address, bodies.nonsense(route.is_program), accept="application/json")
    made = bodies.of(route.pattern)
    if made is not None:
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
