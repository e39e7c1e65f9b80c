"""Makes the two studies through the same services that people use."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils.module_loading import import_string

from annotation_app.api.authentication import find_membership
from annotation_app.demonstration import outputs, people
from annotation_app.demonstration.people import ADMIN, PEOPLE
from annotation_app.models import Membership, Study
from annotation_app.pages.labels import ROLES_IN_FULL
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.batches.release import release_batch
from annotation_app.services.batches.upload import upload_batch
from annotation_app.services.demonstration import sign_ins_path
from annotation_app.services.keys import add_second_half
from annotation_app.services.members import add_member, sign_declaration
from annotation_app.services.phases import change_phase
from annotation_app.services.records import Submission, finalise_due_records, submit_record
from annotation_app.services.studies import create_study
from blinding import clock, jobs
from blinding.models import Job

CODED_IN_PART = 40
STORY = timedelta(days=2)  # how long ago it began
PER_ITEM = timedelta(seconds=75)
Later = Callable[[timedelta], None]
PROTOCOL: dict[str, Any] = {
    "presentation": "markdown",
    "agreement": {"resamples": 2000, "seed": 20250301},
    "adjudication": {"steps": 1, "sham_share": 0.1},
}


class File:
    """Bytes under a name, as an upload."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name: str | None = name
        self._content = content

    def chunks(self) -> Iterator[bytes]:
        yield self._content


@dataclass
class Cast:
    """The members of one study by role."""

    slug: str
    by_role: dict[str, str]

    def member(self, role: str) -> Membership:
        user = User.objects.get(username=self.by_role[role])
        member = find_membership(user, self.slug)
        assert member is not None
        return member


def load() -> bool:
    """Make the demonstration once; return whether this call did."""
    if Study.objects.filter(demonstration=True).exists():
        return False
    administrator, _ = User.objects.get_or_create(username=ADMIN.username, defaults={"is_superuser": True})
    administrator.set_password(ADMIN.password)
    administrator.save()
    with clock.frozen_at(clock.now() - STORY) as later:
        locked = _locked_study(later)
        coding = _study_in_coding(later)
    Study.objects.filter(slug__in=[coding.slug, locked.slug]).update(demonstration=True)
    _write_sign_ins()
    return True


def _locked_study(later: Later) -> Cast:
    cast = _study("town-notes", "Town notes", PROTOCOL)
    _release(cast, "locked", "Whole sample")
    for role in ("primary_A", "primary_B", "audit"):
        _code(cast, role, later)
    later(timedelta(hours=1))
    finalise_due_records()
    import_string("adjudication.demonstration.decide_and_report")(cast, _do)
    return cast


def _study_in_coding(later: Later) -> Cast:
    cast = _study("street-survey", "Street survey", PROTOCOL)
    _release(cast, "coding", "First batch")
    _code(cast, "primary_A", later, CODED_IN_PART)
    _code(cast, "primary_B", later, CODED_IN_PART + 8)
    later(timedelta(hours=1))
    finalise_due_records()
    import_string("adjudication.services.pairs.compare_final_pairs")()
    return cast


def sign_ins() -> list[dict[str, str]]:
    return [
        {
            "role": p.role,
            "role_label": str(ROLES_IN_FULL[p.role]),
            "username": p.username,
            "password": p.password,
        }
        for p in (ADMIN, *PEOPLE)
    ]


def _study(slug: str, title: str, protocol: dict[str, Any]) -> Cast:
    user = User.objects.get(username=ADMIN.username)
    create_study(user=user, slug=slug, title=title, passphrase=people.ADMIN_PASSPHRASE, protocol=protocol)
    cast = Cast(slug, {p.role: p.username for p in (ADMIN, *PEOPLE)})
    for person in PEOPLE:
        add_member(
            membership=cast.member("admin"),
            username=person.username,
            role=person.role,
            password=person.password,
        )
    for person in (ADMIN, *PEOPLE):
        sign_declaration(membership=cast.member(person.role))
    add_second_half(membership=cast.member("project_author"), passphrase=people.AUTHOR_PASSPHRASE)
    change_phase(membership=cast.member("project_author"), to="coding", reason="Demonstration")
    return cast


def _release(cast: Cast, part: str, name: str) -> None:
    admin = cast.member("admin")
    batch = upload_batch(membership=admin, upload=File("outputs.jsonl", outputs.as_jsonl(part)), name=name)
    _do(batch)
    release_batch(membership=admin, uid=batch.pk)
    _do(batch)


def _do(subject: Any) -> None:
    """Do the subject's queued job here: at this point no worker runs yet."""
    for job in Job.objects.filter(subject=subject.pk, state=Job.State.QUEUED):
        jobs.run(job.pk)
    failed = Job.objects.filter(subject=subject.pk, state=Job.State.FAILED).first()
    if failed is not None:
        raise RuntimeError(failed.error)


def _code(cast: Cast, role: str, later: Later, limit: int = 10_000) -> None:
    for _ in range(limit):
        member = cast.member(role)
        item = next_assignment(membership=member)
        if item is None:
            return
        later(PER_ITEM)
        view = AssignmentView.of(item, member)
        submit_record(
            membership=member,
            uid=item.pk,
            submission=Submission(people.answers(view.form, role, view.text), active_seconds=70),
        )


def _write_sign_ins() -> None:
    path = sign_ins_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"sign_ins": sign_ins()}, ensure_ascii=False, indent=1), encoding="utf-8")
    path.chmod(0o600)
