"""How long each world lives, and where it is left for others to come back to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.blinding.worlds import acts, script, training
from tests.blinding.worlds.fixture import Fixture
from tests.blinding.worlds.sweep import look_around, send_around, sweep
from tests.blinding.worlds.world import BLIND, Snapshot, World
from tests.clones import copied, dropped

Step = Callable[[World], None]
TRAINING: tuple[Step, ...] = (script.set_up, training.begin, training.everybody)
READY: tuple[Step, ...] = (training.pass_on, script.open_coding)  # for the main upload
MAIN: tuple[Step, ...] = (script.upload, script.release)
BEGINNING = (*TRAINING, *READY, *MAIN)


@dataclass
class Life:
    """A world that has ended, and how it was: `ready` for an upload, in the middle of `coding`, `locked`."""

    world: World
    snapshots: dict[str, Snapshot] = field(default_factory=dict)

    def drop(self) -> None:
        dropped(self.world.database, *(snapshot.database for snapshot in self.snapshots.values()))


def born(fixture: Fixture, folder: Path) -> World:
    world = World(fixture, copied(), folder / fixture.name)
    world.folder.mkdir(parents=True)
    return world


def whole_life(fixture: Fixture, folder: Path) -> Life:
    """From the empty server to the lock: everything is asked for in coding, everybody looks around in all other phases."""
    life = Life(born(fixture, folder))
    world = life.world
    with world.open():
        _to_the_upload(world)
        life.snapshots["ready"] = Snapshot.of(world)
        _to_the_middle(world)
        life.snapshots["coding"] = Snapshot.of(world)
        sweep(world, "coding, all routes")
        acts.close_coding(world)
        look_around(world, "review, all routes")
        acts.lock(world)
        look_around(world, "locked, all routes")
        acts.ask_for_unblinding(world)
        for role in BLIND:
            look_around(world, "asked for unblinding", (role,), only="unblinding/")
            send_around(world, "asked for unblinding", role, only="unblinding/")
        life.snapshots["locked"] = Snapshot.of(world)
    return life


def short_life(fixture: Fixture, folder: Path) -> Life:
    """To the middle of coding, where everybody only looks around."""
    life = Life(born(fixture, folder))
    world = life.world
    with world.open():
        _to_the_upload(world, only="training/")
        _to_the_middle(world)
        life.snapshots["coding"] = Snapshot.of(world)
        look_around(world, "coding, all routes")
    return life


def _to_the_upload(world: World, *, only: str = "") -> None:
    """Be trained, and meanwhile look around, where `only` says so."""
    for step in TRAINING:
        step(world)
    look_around(world, "training, all routes", only=only)
    for role in BLIND:
        send_around(world, "training, all forms", role, only="training/")
    for step in READY:
        step(world)


def _to_the_middle(world: World) -> None:
    for step in MAIN:
        step(world)
    for role in BLIND:
        send_around(world, "practice, all forms", role, only="practice/")
    acts.code_some(world)
