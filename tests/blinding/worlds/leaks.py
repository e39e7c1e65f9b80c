"""Leaks planted on purpose: each must make two worlds differ that are alike without it.

A leak knows the fixture, which the product does not: `world.fixture.condition_of(text)` is what it lets out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.blinding.worlds.transcript import Answer
from tests.blinding.worlds.world import Snapshot, World

Plant = Callable[[World], Any]  # world → context manager
Ask = tuple[str, str, str] | tuple[str, str, str, Any]  # role, method, address, body
API, PAGE = "/api/v1/studies/riverside/", "/studies/riverside/"

NEXT: Ask = ("primary_A", "GET", API + "assignments/next/")
ITEM: Ask = ("primary_A", "GET", PAGE + "annotate/")
STUDY: Ask = ("primary_A", "GET", API)
HOME: Ask = ("primary_A", "GET", PAGE)


@dataclass(frozen=True)
class Leak:
    """A name, what plants it, and the few requests that could meet it."""

    name: str
    plant: Plant
    asks: tuple[Ask, ...]
    at: str = "coding"

    def replay(self, snapshot: Snapshot, *, planted: bool) -> list[Answer]:
        """Make the requests in a world as it was, with the leak or without."""
        with snapshot.open() as world:
            if not planted:
                return asked(world, self.asks)
            with self.plant(world):
                return asked(world, self.asks)


def asked(world: World, asks: tuple[Ask, ...]) -> list[Answer]:
    """Make requests, take back what they did, and return what came of them."""
    for role, method, address, *body in asks:
        world.try_out(role, method, _filled(world, address), *body)
    return world.transcript


def _filled(world: World, address: str) -> str:
    """Put uids into an address: `{item}` is the item on A's screen, `{case}` the case held, `{report}` the newest report."""
    from tests.blinding.worlds.routes import Things

    if "{" not in address:
        return address
    things = Things.of(world)
    return address.format(item=things.open_item.get("primary_A"), case=things.case, report=things.report)


def planter(leaks: list[Leak]) -> Callable[..., Callable[[Plant], Plant]]:
    """Return the decorator that puts what plants a leak into `leaks`, under the name of what it is."""

    def planted(name: str, *asks: Ask, at: str = "coding") -> Callable[[Plant], Plant]:
        def register(plant: Plant) -> Plant:
            leaks.append(Leak(name, contextmanager(plant), asks, at))
            return plant

        return register

    return planted


@contextmanager
def wrapped(target: str, around: Callable[..., Any]) -> Iterator[None]:
    """Replace a function of the product by `around(original, *args, **kwargs)` inside the block."""
    owner, _, name = target.rpartition(".")
    original = getattr(_resolved(owner), name)
    with patch(target, lambda *args, **kwargs: around(original, *args, **kwargs)):
        yield


def _resolved(path: str) -> Any:
    """Return a module or a class by its dotted path."""
    from pkgutil import resolve_name

    return resolve_name(path)
