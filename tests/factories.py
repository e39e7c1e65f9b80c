"""Studies for tests, made only through the services that people use, as far into their life as a test needs.

study = a_study(phase="coding", outputs=rows())
study.code_all("primary_A"), study.code_all("primary_B"), study.settle()
study.api("primary_A").get(study.url("assignments/next/"))
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from knox.models import AuthToken
from rest_framework.test import APIClient

from adjudication.services.cases import claim_next_case
from adjudication.services.decisions import CaseDecision, decide_case
from adjudication.services.pairs import compare_final_pairs
from annotation_app.models import Batch, Membership, Study
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.batches.release import release_batch
from annotation_app.services.batches.upload import upload_batch
from annotation_app.services.forms import form_of
from annotation_app.services.keys import add_second_half
from annotation_app.services.members import add_membership, sign_declaration
from annotation_app.services.phases import change_phase
from annotation_app.services.records import Submission, finalise_due_records, submit_record
from annotation_app.services.studies import create_study
from blinding import clock, jobs
from blinding.models import Job
from blinding.policy import Phase, Role

ADMIN_PASSPHRASE = "seven herons at dusk"
AUTHOR_PASSPHRASE = "nine pebbles in a jar"
PASSWORD = "a long and plain password"
ARMS = [(condition, model) for condition in ("meadow", "harbour") for model in ("quartz-1", "basalt-2")]
AT_ONCE: dict[str, Any] = {"grace_minutes": 0, "audit_share": 0, "adjudication": {"sham_share": 0}}
WHY = "A reason for the log."

Choose = Callable[[AssignmentView], dict[str, Any]]


def rows(tasks: int = 3, per_task: int = 8, **more: Any) -> list[dict[str, Any]]:
    """Return outputs in two conditions by two models; the last task is a positive control, one output names its model."""
    return [_row(task, turn, tasks) | more for task in range(1, tasks + 1) for turn in range(per_task)]


def _row(task: int, turn: int, tasks: int) -> dict[str, Any]:
    condition, model = ARMS[turn % len(ARMS)]
    named = "As ChatGPT I would walk. " if (task, turn) == (1, 1) else ""
    row = {
        "output_id": f"out-{task}-{turn}",
        "task_id": f"task-{task}",
        "task_statement": f"Describe the way to place {task}.",
        "text": f"{named}Follow the river to place {task}, then take turn number {turn}.",
        "condition": condition,
        "model": model,
        "theory": "tides",
        "auto_cluster_id": f"kappa-{turn % 2}",
        "note_of_the_lab": f"kept {turn}",
    }
    control = {
        "positive_control": True,
        "gold_classes": ["left bank", "right bank"],
        "gold_expected": ["left bank"],
    }
    return row | (control if task == tasks else {})


def jsonl(outputs: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in outputs).encode()


def first_answers(view: AssignmentView) -> dict[str, Any]:
    """Answer every question of the item's form with its first option; the proposed cluster is confirmed."""
    return _answers(view.form, lambda key, options: 0)


def varied_answers(role: str) -> Choose:
    """Return answers that depend on the text, and for a third of the texts on the role: coders agree on the others."""

    def choose(view: AssignmentView) -> dict[str, Any]:
        own = role if _number(view.text) % 3 == 0 else ""
        return _answers(view.form, lambda key, options: _number(f"{own} {key} {view.text}") % options)

    return choose


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def _answers(form: Mapping[str, Any], pick: Callable[[str, int], int]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for control in form["fields"]:
        key, kind = control["key"], control["kind"]
        if kind == "radio":
            given[key] = control["options"][pick(key, len(control["options"]))]["value"]
        elif kind == "scale":
            given[key] = 0.5
        elif kind == "number":
            given[key] = (control["min"] or 0) + pick(key, 3)
        elif kind in ("text", "line") and control["required"]:
            given[key] = "A word on it."
        elif kind == "fieldset":
            given.update(_answers(control, pick))
        elif kind == "cluster":
            given.update(_cluster_answer(control))
    return given


def _cluster_answer(control: Mapping[str, Any]) -> dict[str, Any]:
    """Confirm the proposed cluster, or pick the first one; make a new one where the task has none."""
    key, picker = control["key"], control["picker"]
    if picker["preset"]:
        return {key: "1"}
    first = picker["options"][0]["value"]
    return {f"{key}-cluster": first, key: "3" if first == "new" and len(picker["options"]) > 1 else "1"}


def run_jobs() -> None:
    """Do every queued job, here and now, and those that they queue."""
    while waiting := list(
        Job.objects.filter(state="queued").order_by("created_at", "pk").values_list("pk", flat=True)
    ):
        for pk in waiting:
            jobs.run(pk)


@dataclass
class StudyUnderTest:
    """A study and its people. Members go by role; a second coder in a slot is `primary_A2`, a third `primary_A3`."""

    slug: str
    names: dict[str, str] = field(default_factory=dict)
    recovery_sheets: dict[str, str] = field(default_factory=dict)

    @property
    def study(self) -> Study:
        return Study.objects.get(slug=self.slug)

    def __getitem__(self, name: str) -> Membership:
        """The member as a request finds them now."""
        return Membership.objects.select_related("study", "user").get(
            study__slug=self.slug, user__username=self.names[name]
        )

    def user(self, name: str) -> User:
        return User.objects.get(username=self.names[name])

    def url(self, rest: str = "") -> str:
        return f"/api/v1/studies/{self.slug}/{rest}"

    def page(self, rest: str = "") -> str:
        return f"/studies/{self.slug}/{rest}"

    def client(self, name: str) -> Client:
        """A browser in which the member is signed in; each call gives the same one."""
        return self._clients.setdefault(name, signed_in(self.user(name)))

    def token(self, name: str) -> str:
        return str(AuthToken.objects.create(user=self.user(name))[1])

    def api(self, name: str) -> APIClient:
        """A program with the member's token; each call gives the same one."""
        if name not in self._programs:
            self._programs[name] = with_token(self.token(name))
        return self._programs[name]

    @cached_property
    def _clients(self) -> dict[str, Client]:
        return {}

    @cached_property
    def _programs(self) -> dict[str, APIClient]:
        return {}

    def import_batch(
        self,
        outputs: list[dict[str, Any]] | Path | bytes,
        purpose: str = "main",
        *,
        name: str = "",
        file_name: str = "upload.jsonl",
    ) -> Batch:
        """Upload and import; return the batch in whatever state the import left it."""
        if isinstance(outputs, Path):
            content, file_name = outputs.read_bytes(), outputs.name
        else:
            content = outputs if isinstance(outputs, bytes) else jsonl(outputs)
        batch = upload_batch(
            membership=self["admin"],
            upload=SimpleUploadedFile(file_name, content),
            name=name,
            purpose=purpose,
        )
        run_jobs()
        batch.refresh_from_db()
        return batch

    def release(self, batch: Batch) -> Batch:
        """Release a batch that is in review. Fails with what the import or the release found wrong."""
        assert batch.status == Batch.Status.IN_REVIEW, batch.errors
        release_batch(membership=self["admin"], uid=batch.pk, reason=WHY)
        run_jobs()
        batch.refresh_from_db()
        assert batch.status == Batch.Status.RELEASED, list(
            Job.objects.filter(state="failed").values_list("error", flat=True)
        )
        return batch

    def code_all(self, name: str, choose: Choose | None = None, *, at_most: int = 10_000) -> int:
        """Submit what is left of a member's list, at most so many items; return how many it were."""
        choose, member, done = choose or varied_answers(name), self[name], 0
        while done < at_most and (item := next_assignment(membership=member)) is not None:
            submission = Submission(choose(AssignmentView.of(item, member)))
            submit_record(membership=member, uid=item.pk, submission=submission)
            done += 1
        return done

    def finalise(self) -> int:
        return finalise_due_records()

    def compare(self) -> int:
        return compare_final_pairs()

    def settle(self) -> None:
        """What the periodic tasks do: make final, compare."""
        self.finalise()
        self.compare()

    def decide_all(self, name: str = "adjudicator", *, at_most: int = 10_000) -> int:
        """Decide the cases that wait, at most so many, always for the left side; return how many it were."""
        done = 0
        while done < at_most and (claim := claim_next_case(membership=self[name])) is not None:
            assert claim.assignment.codebook_id is not None
            form = form_of(self.study, claim.assignment.codebook_id)
            values = {form.by_path[path].key: {"from": "left"} for path in claim.case.comparison.disputed}
            decision = CaseDecision(
                values=values, rationale="The text says so.", claim_no=claim.case.claim_no
            )
            decide_case(membership=self[name], uid=claim.case.pk, decision=decision)
            done += 1
        return done

    def to(self, phase: str, **more: str) -> None:
        """Move to a phase by whoever may (training: the admin, everything else: the project author)."""
        who = "admin" if phase == Phase.TRAINING else "project_author"
        change_phase(membership=self[who], to=phase, reason=WHY, **more)

    def lock(self, leave_open: str = WHY) -> Study:
        """Close coding where it is open, compare what is left, lock."""
        self.settle()
        if self.study.phase == Phase.CODING:
            self.to("review")
            self.settle()
        self.to("locked", leave_open=leave_open)
        return self.study


def a_study(
    slug: str = "riverside",
    *,
    protocol: dict[str, Any] | None = None,
    record_schema: dict[str, Any] | None = None,
    phase: str = "setup",
    members: Mapping[str, int] | None = None,
    outputs: list[dict[str, Any]] | Path | None = None,
    declared: bool = True,
) -> StudyUnderTest:
    """Make a study with one member of each role (`members={"primary_A": 2}` for more, 0 for none), and lead it to `phase`.

    `outputs` are released as one main batch when coding opens; beyond coding everything is coded, compared and decided.
    Records are final at once, nothing is audited, no case is a sham, unless `protocol` says otherwise.
    """
    made = StudyUnderTest(slug)
    _found(made, AT_ONCE | (protocol or {}), record_schema)
    for role in (r.value for r in Role if r is not Role.ADMIN):
        for number in range(1, 1 + (members or {}).get(role, 1)):
            made.names[role if number == 1 else f"{role}{number}"] = _join(made, role, number)
    if declared:
        for name in made.names:
            sign_declaration(membership=made[name])
    made.recovery_sheets["project_author"] = add_second_half(
        membership=made["project_author"], passphrase=AUTHOR_PASSPHRASE
    )
    _lead(made, phase, outputs)
    return made


def an_account(username: str, *, superuser: bool = False) -> User:
    if superuser:
        return User.objects.create_superuser(username, password=PASSWORD, date_joined=clock.now())
    return User.objects.create_user(username, password=PASSWORD, date_joined=clock.now())


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def _found(made: StudyUnderTest, protocol: dict[str, Any], record_schema: dict[str, Any] | None) -> None:
    founder = an_account(f"{made.slug}-admin")
    founder.user_permissions.add(
        Permission.objects.get(codename="add_study", content_type__app_label="annotation_app")
    )
    study = create_study(
        user=founder,
        slug=made.slug,
        title=made.slug.replace("-", " ").capitalize(),
        passphrase=ADMIN_PASSPHRASE,
        protocol=protocol,
        record_schema=record_schema,
    )
    made.names["admin"] = founder.username
    made.recovery_sheets["admin"] = study.recovery_sheet


def _join(made: StudyUnderTest, role: str, number: int) -> str:
    user = an_account(f"{made.slug}-{role}{number if number > 1 else ''}")
    add_membership(study=made.study, user=user, role=Role(role))
    return user.username


def _lead(made: StudyUnderTest, phase: str, outputs: list[dict[str, Any]] | Path | None) -> None:
    if phase in ("setup", "training"):
        if phase == "training":
            made.to("training")
        return
    made.to("coding")
    if outputs is not None:
        made.release(made.import_batch(outputs))
    if phase == "coding":
        return
    for name in (n for n in made.names if n.startswith("primary_")):
        made.code_all(name)
    made.settle()
    made.to("review")
    made.settle()
    made.decide_all()
    if phase == "locked":
        made.lock()
