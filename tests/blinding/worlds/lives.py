"""How long each world lives, and where it is left for others to come back to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.blinding.worlds import acts, script
from tests.blinding.worlds.fixture import Fixture
from tests.blinding.worlds.sweep import look_around, sweep
from tests.blinding.worlds.world import Snapshot, World
from tests.clones import copied, dropped

Step = Callable[[World], None]
BEGINNING: tuple[Step, ...] = (script.set_up, script.open_coding, script.upload, script.release)
READY = 2  # steps before the upload, in which all worlds are one


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
    """From the empty server to the lock: everything is asked for in coding, everybody looks around in review and locked."""
    life = Life(born(fixture, folder))
    with life.world.open():
        for step in BEGINNING[:READY]:
            step(life.world)
        life.snapshots["ready"] = Snapshot.of(life.world)
        for step in (*BEGINNING[READY:], acts.code_some):
            step(life.world)
        life.snapshots["coding"] = Snapshot.of(life.world)
        sweep(life.world, "coding, all routes")
        acts.close_coding(life.world)
        look_around(life.world, "review, all routes")
        acts.lock(life.world)
        look_around(life.world, "locked, all routes")
        life.snapshots["locked"] = Snapshot.of(life.world)
    return life


def short_life(fixture: Fixture, folder: Path) -> Life:
    """To the middle of coding, where everybody only looks around."""
    life = Life(born(fixture, folder))
    with life.world.open():
        for step in (*BEGINNING, acts.code_some):
            step(life.world)
        life.snapshots["coding"] = Snapshot.of(life.world)
        look_around(life.world, "coding, all routes")
    return life
