"""The session that every world lives through, by its interface and its pages: from an empty server to the lock.

What people answer depends on the texts alone. The admin, who handles the labels, is part of it and compared with nobody.
"""

import io
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User

from adjudication.services.pairs import compare_final_pairs
from annotation_app.models import Assignment, Batch
from annotation_app.projections import AssignmentView
from annotation_app.services.records import finalise_due_records
from blinding.event_blocks import close_all_blocks
from tests.blinding.worlds.transcript import watched
from tests.blinding.worlds.world import SLUG, World
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, PASSWORD, run_jobs, varied_answers

MEMBERS = {
    "project_author": "project_author",
    "primary_A": "primary_A",
    "primary_A2": "primary_A",
    "primary_B": "primary_B",
    "primary_B2": "primary_B",
    "adjudicator": "adjudicator",
    "audit": "audit",
    "monitor": "monitor",
}
PROTOCOL = {
    "grace_minutes": 10,
    "audit_share": 0.3,
    "adjudication": {"sham_share": 0.5},
    "guess": {"share": 0.5, "conditions": ["meadow", "harbour"], "models": ["quartz-1", "Claude 3 Opus"]},
    "agreement": {"resamples": 100},
    "calibration": {"pass": 0.9, "practice": 2},
}

Work = Callable[[World], None]


def set_up(world: World) -> None:
    """Make the study, its people, their declarations, both halves of the key."""
    User.objects.create_superuser("admin", password=PASSWORD)
    sign_in(world, "admin")
    world.must(
        "admin",
        "POST",
        "/api/v1/studies/",
        {"slug": SLUG, "title": "Riverside", "passphrase": ADMIN_PASSPHRASE, "protocol": PROTOCOL},
    )
    world.must("admin", "POST", world.url("declaration/"), {"accepted": True})
    for name, role in MEMBERS.items():
        world.must(
            "admin", "POST", world.url("members/"), {"username": name, "role": role, "password": PASSWORD}
        )
        sign_in(world, name)
        world.must(name, "GET", world.page("declaration/"))
        world.must(name, "POST", world.page("declaration/"), {"accepted": "on"})
    world.must("project_author", "POST", world.url("key/"), {"passphrase": AUTHOR_PASSPHRASE})


def sign_in(world: World, name: str) -> None:
    """By the page, as a browser, and for a token, as a program."""
    world.ask(name, "POST", "/sign-in/", {"username": name, "password": PASSWORD})
    got = world.must(name, "POST", "/api/v1/auth/token/", {"username": name, "password": PASSWORD})
    world.tokens[name] = got["token"]


def open_coding(world: World) -> None:
    world.step = "opening"
    world.must("project_author", "POST", world.url("phase/"), {"to": "coding", "reason": "All is ready."})


def upload(world: World) -> None:
    world.step = "upload"
    import_batch(world, world.fixture.upload(), "main")


def release(world: World) -> None:
    world.step = "release"
    release_batch(world, Batch.objects.get(purpose="main"))


def import_batch(world: World, upload: bytes, purpose: str) -> Batch:
    """Import an upload, accept what the lexicon found."""
    content = io.BytesIO(upload)
    content.name = world.fixture.file_name
    sent = world.must(
        "admin", "POST", world.url("batches/"), {"file": content, "name": "First", "purpose": purpose}
    )
    world.note_files("files after the upload")
    work(world)
    world.note_files("files after the import")
    batch = Batch.objects.get(pk=sent["uid"])
    assert batch.status == Batch.Status.IN_REVIEW, (batch.errors, world.transcript[-3:])
    address = world.url(f"batches/{batch.pk}/findings/")
    for finding in batch.findings.filter(kind="lexicon").order_by("term"):
        world.must("admin", "PATCH", address, {"term": finding.term, "kind": "lexicon", "accepted": True})
    return batch


def release_batch(world: World, batch: Batch) -> None:
    address = world.url(f"batches/{batch.pk}/release/")
    world.must("admin", "POST", address, {"reason": "Everything there is."})
    work(world)
    batch.refresh_from_db()
    assert batch.status == Batch.Status.RELEASED
    world.note_files("files after the release")


def work(world: World) -> None:
    """Do what waits in the queue, and note what the worker's log says of it."""
    with watched() as seen:
        run_jobs()
    world.note("machine", "log of the worker", seen.logs)
    world.note("machine", "mails of the worker", seen.mails)


def settle(world: World) -> None:
    """What the periodic tasks do."""
    with watched() as seen:
        finalise_due_records()
        compare_final_pairs()
        close_all_blocks()
    world.note("machine", "log of the periodic tasks", seen.logs)


def answers(world: World, name: str, uid: Any, style: str = "") -> dict[str, Any]:
    """Return what a coder answers to an item, under the form's keys; a function of the text and of the coder's style."""
    member = world.member(name)
    item = (
        Assignment.objects.visible_to(member)
        .select_related("output__task", "output__cluster", "codebook")
        .get(pk=uid)
    )
    return varied_answers(style or name)(AssignmentView.of(item, member))


def code_by_page(world: World, name: str, style: str = "") -> str | None:
    """Open the next item in the browser, submit it, return its uid; None when there is none."""
    response = world.ask(name, "GET", world.page("annotate/"))
    uid = _shown_item(response.seen)  # type: ignore[attr-defined]
    if uid is None:
        return None
    form = answers(world, name, uid, style) | {
        "submission_id": f"by page {uid}",
        "base_version": 0,
        "active_seconds": 30,
    }
    world.must(name, "POST", world.page(f"annotate/{uid}/"), form)
    return uid


def code_by_program(world: World, name: str, style: str = "", **more: Any) -> str | None:
    """Get the next item, submit it, return its uid; None when there is none. `more` goes into the answers."""
    item = world.must(name, "GET", world.url("assignments/next/"))
    if item is None:
        return None
    uid: str = item["assignment_uid"]
    body = {"fields": answers(world, name, uid, style) | more, "submission_id": f"by program {uid}"}
    world.must(name, "POST", world.url(f"assignments/{uid}/record/"), body)
    return uid


def _shown_item(page: bytes) -> str | None:
    """Return the uid of the item on a page, from the address of its form."""
    import re

    found = re.search(rb"/annotate/([0-9a-f-]{36})/", page)
    return found[1].decode() if found else None
