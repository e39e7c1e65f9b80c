"""Worlds that differ in one coder's peer: in one the peer never begins, in the other works fast, flags, skips, recognises.

Whoever is watched does the same in both, at the same minutes.
"""

from dataclasses import dataclass
from pathlib import Path

from annotation_app.models import Assignment
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.forms import form_of
from tests.blinding.worlds import acts, script, training
from tests.blinding.worlds.fixture import as_it_is
from tests.blinding.worlds.lives import BEGINNING, Life, born
from tests.blinding.worlds.routes import Things
from tests.blinding.worlds.sweep import look_around, send_around
from tests.blinding.worlds.world import Snapshot, World

PEER_OF = {"primary_A": "primary_B", "primary_B": "primary_A"}


@dataclass(frozen=True)
class Beside:
    """The same coder beside a peer who never begins, and beside one who is busy."""

    idle: Life
    busy: Life

    @classmethod
    def of(cls, watched: str, folder: Path) -> "Beside":
        """Live both lives. What there is in the busy one is asked for in both: things of the peer, too."""
        busy, things = _life(watched, folder / "busy" / watched, None)
        idle, _ = _life(watched, folder / "idle" / watched, things)
        return cls(idle, busy)

    @classmethod
    def in_training(cls, watched: str, folder: Path) -> "Beside":
        """Live both lives to where the watched coder has coded training texts, and nothing of it is final yet."""
        busy, things = _training(watched, folder / "busy in training" / watched, None)
        idle, _ = _training(watched, folder / "idle in training" / watched, things)
        return cls(idle, busy)

    def drop(self) -> None:
        self.idle.drop()
        self.busy.drop()


def _training(watched: str, folder: Path, elsewhere: Things | None) -> tuple[Life, Things]:
    life = Life(born(as_it_is(), folder))
    world = life.world
    with world.open():
        script.set_up(world)
        training.begin(world)
        form_of(world.study, current_codebook(world.study).pk)  # as below
        if elsewhere is None:
            for name in (PEER_OF[watched], f"{PEER_OF[watched]}2"):
                while script.code_by_program(world, name, "a hasty hand"):
                    pass
        world.wait(11)
        script.settle(world)
        script.code_by_page(world, watched)
        script.code_by_program(world, watched)
        acts.opened(world, watched)
        things = elsewhere or Things.of(world)
        look_around(world, "training, nothing final", (watched,), things)
        send_around(world, "training, nothing final", watched, things)
    return life, things


def _life(watched: str, folder: Path, elsewhere: Things | None) -> tuple[Life, Things]:
    """Live the life of `watched`, and of the audit coder, to the review; the peer is idle if things of another are given."""
    life = Life(born(as_it_is(), folder))
    world, peer, busy = life.world, PEER_OF[watched], elsewhere is None
    with world.open():
        for step in BEGINNING:
            step(world)
        world.step = "coding"
        # A process builds a form at its first use: whoever comes first, this is not the peer's doing.
        form_of(world.study, current_codebook(world.study).pk)
        if busy:
            work_hard(world, peer, items=5)
        world.at(40)
        acts.code_as_a(world, watched)
        if busy:
            finish(world, peer)
        world.at(60)
        script.code_by_page(world, watched)
        script.code_by_program(world, "audit")
        things = elsewhere or Things.of(world)
        look_around(world, "coding, all routes", (watched, "audit"), things)
        if watched == "primary_A":
            send_around(world, "coding, all forms", watched, things)
        life.snapshots["coding"] = Snapshot.of(world)
        _close(world, watched, things, busy=busy)
    return life, things


def work_hard(world: World, peer: str, items: int) -> None:
    """Code, flag, keep a draft, skip, recognise a source, ask to be spared, at a pace of one a minute."""
    training.practise(world, peer)
    for _ in range(items):
        script.code_by_program(world, peer, "a hasty hand", **acts.flag_of(world, peer))
        world.wait(1)
    uid = acts.opened(world, peer)
    world.must(peer, "PUT", world.url(f"assignments/{uid}/draft/"), {"fields": {}, "version": 0})
    world.must(peer, "POST", world.url(f"assignments/{uid}/skip/"))
    uid = acts.opened(world, peer)
    world.must(
        peer, "POST", world.url(f"assignments/{uid}/recognised/"), {"how": "says_so", "what": "It says so."}
    )
    uid = acts.opened(world, peer)
    world.must(peer, "POST", world.page(f"annotate/{uid}/skip/"), {"how": "opt_out"})
    world.wait(11 - items)
    script.settle(world)


def finish(world: World, peer: str) -> None:
    """Both of the role code the rest, all but the one with a draft; cases come of it and some are decided."""
    training.practise(world, f"{peer}2")
    for name, left in ((peer, 1), (f"{peer}2", 0)):
        while Assignment.objects.visible_to(world.member(name)).open().count() > left:
            script.code_by_program(world, name, "a hasty hand")
    world.wait(11)
    script.settle(world)
    acts.decide(world, 2)


def _close(world: World, watched: str, things: Things, *, busy: bool) -> None:
    """The watched coder ends, the peer leaves what they leave, coding is closed."""
    world.step = "closing"
    world.at(80)
    while script.code_by_program(world, watched):
        pass
    world.at(95)
    script.settle(world)
    acts.guess(world, watched)
    world.must("project_author", "POST", world.url("phase/"), {"to": "review", "reason": "The week is over."})
    script.settle(world)
    if busy:
        acts.guess(world, PEER_OF[watched])
        acts.decide(world, 1)
    look_around(world, "review, all routes", (watched, "audit"), things)
