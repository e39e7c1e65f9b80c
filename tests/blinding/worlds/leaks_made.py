"""Leaks in the making of a batch: what import and release might do with labels while they have them."""

import logging
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotation_app.models import Finding, Output, StagedOutput
from blinding.allocation import Placement
from tests.blinding.worlds import script, training
from tests.blinding.worlds.fixture import Fixture
from tests.blinding.worlds.leaks import HOME, NEXT, Leak, asked, planter, wrapped
from tests.blinding.worlds.transcript import Answer
from tests.blinding.worlds.world import Snapshot, World

MADE: list[Leak] = []
planted = planter(MADE)


def made(snapshot: Snapshot, fixture: Fixture, folder: Path, leak: Leak | None) -> list[Answer]:
    """Import and release a fixture in a fresh copy of a world, with a leak or without, and look at it as A."""
    with snapshot.reborn(fixture, folder) as world:
        if leak is None:
            return _lived(world, (NEXT, HOME))
        with leak.plant(world):
            return _lived(world, leak.asks)


def _lived(world: World, asks: Any) -> list[Answer]:
    script.upload(world)
    script.release(world)
    training.practise(world, "primary_A")
    shown = Output.objects.order_by("pk").values_list("text", "html", "masks")
    world.note("coders", "texts as they will be shown", [str(row) for row in shown])
    return asked(world, asks)


@planted("codes of clusters in the order of their ids", NEXT)
def cluster_codes_by_id(world: World) -> Iterator[None]:
    def around(shuffled: Any, items: Any, purpose: str, subject: Any) -> Any:
        return sorted(items) if purpose == "cluster codes" else shuffled(items, purpose, subject)

    with wrapped("blinding.entropy.shuffled", around):
        yield


@planted("label values masked by default", HOME)
def labels_masked(world: World) -> Iterator[None]:
    def around(store: Any, table: Any) -> None:
        store(table)
        Finding.objects.filter(kind=Finding.Kind.LABEL).update(accepted=True)

    with wrapped("annotation_app.services.batches.findings.FindingTable.store", around):
        yield


@planted("an upload kept under its own name", HOME)
def own_file_name(world: World) -> Iterator[None]:
    def around(write: Any, path: Path, upload: Any) -> None:
        write(path, upload)
        path.with_name(f"{path.stem} {upload.name}").touch()

    with wrapped("annotation_app.services.batches.upload._write", around):
        yield


@planted("a row quoted in the worker's log", HOME)
def row_in_the_log(world: World) -> Iterator[None]:
    def around(label_box: Any, fields: Any, *args: Any) -> bytes:
        logging.getLogger("annotation_app").warning("sealing %s", fields["condition"])
        return bytes(label_box(fields, *args))

    with wrapped("blinding.sealing.label_box", around):
        yield


@planted("an allocation that blocks by arm", NEXT)
def allocation_by_arm(world: World) -> Iterator[None]:
    def around(allocate: Any, *args: Any) -> list[Placement]:
        texts = dict(Output.objects.values_list("blinded_output_id", "text"))
        placements = allocate(*args)
        arms = sorted(
            placements, key=lambda p: (p.slot, p.member, world.fixture.condition_of(texts[p.blinded_id]))
        )
        places = sorted(placements, key=lambda p: (p.slot, p.member, p.position))
        return [
            Placement(a.blinded_id, a.slot, a.member, p.position) for a, p in zip(arms, places, strict=True)
        ]

    with wrapped("annotation_app.services.batches.allocation.allocate", around):
        yield


@planted("blinded ids that are hashes of the label", NEXT)
def id_of_a_label(world: World) -> Iterator[None]:
    def around(draw: Any, purpose: str, subject: Any, n: int) -> bytes:
        if purpose != "blinded id":
            return bytes(draw(purpose, subject, n))
        text = StagedOutput.objects.get(pk=subject).text
        return sha256(f"{text}{world.fixture.condition_of(text)}".encode()).digest()[:n]

    with wrapped("blinding.entropy.draw", around):
        yield
