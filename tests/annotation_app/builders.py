"""Studies for tests, made only through the services that people use, as far into their life as a test needs."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from adjudication.services.pairs import compare_final_pairs
from annotation_app.models import Assignment, Batch, Membership, Output, Study
from annotation_app.services.assignments import next_assignment
from annotation_app.services.batches.release import release_batch
from annotation_app.services.batches.upload import upload_batch
from annotation_app.services.keys import add_second_half
from annotation_app.services.members import add_membership, sign_declaration
from annotation_app.services.phases import change_phase
from annotation_app.services.records import Submission, finalise_due_records, submit_record
from annotation_app.services.studies import create_study
from blinding import jobs
from blinding.models import Job
from blinding.policy import Role

ADMIN_PASSPHRASE = "seven herons at dusk"
AUTHOR_PASSPHRASE = "nine pebbles in a jar"
ARMS = [(condition, model) for condition in ("meadow", "harbour") for model in ("quartz-1", "basalt-2")]
AT_ONCE = {"grace_minutes": 0, "audit_share": 0, "adjudication": {"sham_share": 0}}

Codes = Callable[[Assignment], dict[str, Any]]


@dataclass
class World:
    """A study with one member of each role (a second coder in a slot is `primary_A2`)."""

    slug: str
    recovery: dict[str, str] = field(default_factory=dict)
    members: dict[str, Membership] = field(default_factory=dict)

    @property
    def study(self) -> Study:
        return Study.objects.get(slug=self.slug)

    def __getitem__(self, name: str) -> Membership:
        """The member as a request finds them now."""
        return Membership.objects.select_related("study", "user").get(pk=self.members[name].pk)

    def alias(self, name: str) -> str:
        return self.members[name].alias

    def output(self, text_part: str) -> Output:
        return Output.objects.get(study__slug=self.slug, text__contains=text_part)


def rows(tasks: int = 3, arms: Iterable[tuple[str, str]] = tuple(ARMS), **more: Any) -> list[dict[str, Any]]:
    """One output per task and arm; each text names its task and its turn, and no arm."""
    return [
        {
            "output_id": f"out-{task}-{turn}",
            "task_id": f"task-{task}",
            "task_statement": f"Describe the way to place {task}.",
            "text": f"Follow the river to place {task}, then turn {turn} times.",
            "condition": condition,
            "model": model,
            "theory": "tides" if condition == "harbour" else None,
            "auto_cluster_id": f"kappa-{turn % 2}",
            "note_of_the_lab": f"kept {turn}",
            **more,
        }
        for task in range(1, tasks + 1)
        for turn, (condition, model) in enumerate(arms, 1)
    ]


def make_study(slug: str = "riverside", coders: int = 1, **protocol: Any) -> World:
    """A study in setup: all roles, all declared, both halves of the key."""
    admin = User.objects.create_superuser(f"{slug}-admin", password="a long password")
    made = create_study(
        user=admin, slug=slug, title="Riverside", passphrase=ADMIN_PASSPHRASE, protocol=AT_ONCE | protocol
    )
    world = World(slug, {"admin": made.recovery_sheet})
    world.members["admin"] = Membership.objects.get(study__slug=slug)
    for role in (r for r in Role if r != Role.ADMIN):
        for number in range(1, (coders if role in (Role.PRIMARY_A, Role.PRIMARY_B) else 1) + 1):
            name = role.value + (str(number) if number > 1 else "")
            user = User.objects.create_user(f"{slug}-{name}", password="a long password")
            world.members[name] = add_membership(study=world.study, user=user, role=role)
    for name in world.members:
        sign_declaration(membership=world[name])
    world.recovery["project_author"] = add_second_half(
        membership=world["project_author"], passphrase=AUTHOR_PASSPHRASE
    )
    return world


def open_coding(world: World, outputs: list[dict[str, Any]] | None = None) -> Batch:
    """Open coding and release one main batch."""
    change_phase(membership=world["project_author"], to="coding")
    return add_batch(world, rows() if outputs is None else outputs)


def add_batch(world: World, outputs: list[dict[str, Any]], purpose: str = "main") -> Batch:
    content = "\n".join(json.dumps(row) for row in outputs).encode()
    batch = upload_batch(
        membership=world["admin"], upload=SimpleUploadedFile("upload.jsonl", content), purpose=purpose
    )
    run_jobs()
    batch.refresh_from_db()
    assert batch.status == "in_review", batch.errors
    release_batch(membership=world["admin"], uid=batch.pk, reason="all that there is")
    run_jobs()
    batch.refresh_from_db()
    assert batch.status == "released", Job.objects.filter(state="failed").values_list("error")
    return batch


def run_jobs() -> None:
    """Do every queued job, here and now."""
    for pk in list(Job.objects.filter(state="queued").values_list("pk", flat=True)):
        jobs.run(pk)


def codes(item: Assignment, **changes: Any) -> dict[str, Any]:
    """An answer by schema path; a coder who confirms the proposed cluster."""
    code = item.output.cluster.code if item.output.cluster else "C1"
    return {
        "semantic_cluster_decision": {"cluster_id": code, "decision": "confirm"},
        "relevance": "relevant",
        "factuality": "mixed",
        "r_meta_class": "uncertain",
        "elicitation_signal": "none_detected",
        "confidence": 0.5,
    } | changes


def code_all(world: World, name: str, answer: Codes = codes, at_most: int = 10_000) -> int:
    """Submit what is left of a member's list; return how many items."""
    done = 0
    while done < at_most and (item := next_assignment(membership=world[name])) is not None:
        submit_record(membership=world[name], uid=item.pk, submission=Submission(answer(item)))
        done += 1
    return done


def settle() -> None:
    """What periodic tasks do: make final, compare."""
    finalise_due_records()
    compare_final_pairs()


def lock(world: World, leave_open: str = "") -> Study:
    """Close coding and lock."""
    author = "project_author"
    settle()
    change_phase(membership=world[author], to="review")
    settle()
    change_phase(membership=world[author], to="locked", leave_open=leave_open)
    return world.study
