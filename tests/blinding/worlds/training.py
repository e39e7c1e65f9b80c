"""Training, which every world goes through before it codes: a round of texts, codes compared, references, the gate.

In training coders see each other's codes of a text once their own is final. So whatever happens here is the same in worlds
that differ in a peer, but for the world of a peer who does not begin (`test_peers`).
"""

from typing import Any, cast
from uuid import UUID

from annotation_app.models import Assignment, Batch, Output
from annotation_app.projections import AssignmentView
from annotation_app.services.references import training_item
from tests.blinding.worlds import script
from tests.blinding.worlds.world import World
from tests.factories import varied_answers

CODERS = ("primary_A", "primary_A2", "primary_B", "primary_B2")
TEXTS = Output.objects.filter(batch__purpose=Batch.Purpose.CALIBRATION)


def begin(world: World) -> None:
    """Open training and release a round of texts."""
    world.step = "training"
    world.must("admin", "POST", world.url("phase/"), {"to": "training", "reason": "All know the codebook."})
    script.release_batch(world, script.import_batch(world, world.fixture.training_upload(), "calibration"))


def everybody(world: World) -> None:
    """All code their list; they compare, agree on some texts; others write references for the rest."""
    for name in CODERS:
        script.code_by_page(world, name)
        while script.code_by_program(world, name):
            pass
    world.wait(11)
    script.settle(world)
    for name in CODERS:
        world.must(name, "GET", world.page("training/"))
        for item in own_items(world, name):
            world.must(name, "GET", world.page(f"training/items/{item}/"))
            world.must(name, "POST", world.page(f"training/items/{item}/"), {"which": which(name)})
    author, first, *rest = "project_author", *TEXTS.order_by("pk").values_list("pk", flat=True)
    round_of = {"do": "agreed", "round": str(Batch.objects.get().pk)}
    world.must(author, "POST", world.page("training/"), round_of)
    world.must(author, "GET", world.page("training/texts/"))
    world.must(author, "POST", world.page(f"training/texts/{first}/"), reference(world, author, first))
    for text in rest:
        body = {"fields": reference(world, "adjudicator", text)}
        world.must("adjudicator", "POST", world.url(f"training/texts/{text}/"), body)


def pass_on(world: World) -> None:
    """The project author passes every coder on, each for a reason."""
    for name in CODERS:
        body = {"alias": world.member(name).alias, "reason": "Knows the codebook by now."}
        world.must("project_author", "POST", world.url("training/gates/"), body)


def practise(world: World, *names: str) -> None:
    """Go through the practice texts that main items under another set of references ask for."""
    for name in names:
        world.must(name, "GET", world.page("annotate/"))
        world.must(name, "GET", world.page("practice/"))
        world.must(name, "POST", world.page("practice/"), {"confirmed": "on"})


def own_items(world: World, name: str) -> list[UUID]:
    """Return a coder's own training items in the order of their list."""
    own = Assignment.objects.filter(member=world.member(name), calibration=True).order_by("position")
    return list(own.values_list("pk", flat=True))


def which(name: str) -> str:
    """Return whose code a coder holds to be right: all hold the A side's."""
    return "own" if name.startswith("primary_A") else "other"


def reference(world: World, name: str, text: UUID) -> dict[str, Any]:
    """Return a reference code, a function of the text alone."""
    item = training_item(membership=world.member(name), uid=text)
    return varied_answers("a reference")(cast(AssignmentView, item))
