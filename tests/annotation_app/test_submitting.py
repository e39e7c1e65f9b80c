"""Submitting: one version per submission, on the version it builds on, in time; and everything else a coder does to an item."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Draft, Erratum, Membership, OwnCluster, Record
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, own_assignment, save_draft, skip_assignment
from annotation_app.services.exposures import recognise
from annotation_app.services.records import (
    Receipt,
    Submission,
    finalise_due_records,
    report_erratum,
    submit_record,
)
from blinding import clock
from blinding.models import Event, Exposure
from tests.annotation_app.conftest import anew
from tests.factories import StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db
NOON = datetime(2031, 5, 4, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(
        phase="coding", outputs=rows(2, 3), protocol={"grace_minutes": 10}, members={"primary_B": 2}
    )


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


@pytest.fixture
def coder(made: StudyUnderTest) -> Membership:
    return made["primary_A"]


def _next(member: Membership) -> Assignment:
    item = next_assignment(membership=member)
    assert item is not None
    return item


def _answers(member: Membership, item: Assignment) -> dict[str, Any]:
    return first_answers(AssignmentView.of(item, member))


def _submit(member: Membership, item: Assignment, **how: Any) -> Receipt:
    fields = how.pop("fields", None) or _answers(member, item)
    return submit_record(membership=member, uid=item.pk, submission=Submission(fields, **how))


def test_the_first_submission_is_version_one_and_gives_a_receipt_only(coder: Membership) -> None:
    item = _next(coder)
    with clock.frozen_at(NOON):
        receipt = _submit(coder, item)
    assert receipt == Receipt(item.record_id, 1, NOON, NOON + timedelta(minutes=10))
    stored = Record.objects.get()
    assert (stored.assignment_id, stored.version, stored.submitted_at) == (item.pk, 1, NOON)
    assert stored.codebook_id == item.codebook_id


def test_all_that_follows_from_a_submission_is_there_with_it(coder: Membership) -> None:
    item = _next(coder)
    save_draft(membership=coder, uid=item.pk, fields={"f3": "1"}, version=0)
    _submit(coder, item, active_seconds=40, idle_seconds=2)
    row = Assignment.objects.get(pk=item.pk)
    assert (row.version, row.submitted_at is None, row.final_at) == (1, False, None)
    assert not Draft.objects.filter(pk=item.pk).exists()
    assert Membership.objects.get(pk=coder.pk).main_submitted == 1
    event = Event.objects.get(kind="record_submitted")
    assert (event.study, event.actor, event.subject, event.facts) == (
        coder.study_id,
        coder.pk,
        item.pk,
        {"version": 1},
    )
    record = Record.objects.get()
    assert (record.active_seconds, record.idle_seconds) == (40, 2)


def test_a_known_submission_gives_the_same_receipt_and_stores_nothing(coder: Membership) -> None:
    item = _next(coder)
    first = _submit(coder, item, submission_id="tab-1")
    again = _submit(coder, item, submission_id="tab-1")
    assert not first.replayed
    assert again.replayed
    assert (again.record_id, again.version) == (first.record_id, first.version)
    assert (again.submitted_at, again.revisable_until) == (first.submitted_at, first.revisable_until)
    assert Record.objects.count() == 1


def test_a_known_submission_is_known_after_coding_was_closed_too(
    made: StudyUnderTest, coder: Membership
) -> None:
    item = _next(coder)
    first = _submit(coder, item, submission_id="from-the-outbox")
    made.to("review")
    again = _submit(made["primary_A"], item, submission_id="from-the-outbox", fields={"f3": "nonsense"})
    assert (again.replayed, again.record_id) == (True, first.record_id)


def test_within_the_grace_period_a_record_is_revised_and_older_versions_stay(coder: Membership) -> None:
    item = _next(coder)
    with clock.frozen_at(NOON) as forward:
        first = _submit(coder, item)
        forward(timedelta(minutes=9, seconds=59))
        second = _submit(coder, item, base_version=1, fields=_answers(coder, item) | {"f3": "2"})
    assert (second.version, second.record_id) == (2, first.record_id)
    assert second.revisable_until == first.revisable_until  # counted from the first submission
    kept = Record.objects.order_by("version").values_list("version", "payload__relevance")
    assert [version for version, _ in kept] == [1, 2]
    assert len({relevance for _, relevance in kept}) == 2
    assert Membership.objects.get(pk=coder.pk).main_submitted == 1


@pytest.mark.parametrize("base", [0, 2, 7])
def test_another_base_is_refused_with_the_current_version(coder: Membership, base: int) -> None:
    item = _next(coder)
    _submit(coder, item)
    with pytest.raises(Refused) as refusal:
        _submit(coder, item, base_version=base)
    assert (refusal.value.code, refusal.value.facts) == ("version_conflict", {"version": 1})
    assert Record.objects.count() == 1


def test_after_the_grace_period_the_record_stays(coder: Membership) -> None:
    item = _next(coder)
    with clock.frozen_at(NOON) as forward:
        _submit(coder, item)
        forward(timedelta(minutes=10))
        with pytest.raises(Refused) as refusal:
            _submit(coder, item, base_version=1)
    assert (refusal.value.code, refusal.value.facts) == ("final", {"version": 1})


def test_a_record_becomes_final_by_one_update_when_its_time_is_over(coder: Membership) -> None:
    item = _next(coder)
    with clock.frozen_at(NOON) as forward:
        _submit(coder, item)
        forward(timedelta(minutes=9))
        assert finalise_due_records() == 0
        forward(timedelta(minutes=1))
        assert finalise_due_records() == 1
        assert finalise_due_records() == 0
    assert Assignment.objects.get(pk=item.pk).final_at == NOON + timedelta(minutes=10)
    with clock.frozen_at(NOON), pytest.raises(Refused) as refusal:
        _submit(coder, item, base_version=1)
    assert refusal.value.code == "final"


def test_answers_that_break_a_rule_are_refused_by_place_and_nothing_is_stored(coder: Membership) -> None:
    item = _next(coder)
    with pytest.raises(Invalid) as refusal:
        _submit(coder, item, fields=_answers(coder, item) | {"f3": "99"})
    assert refusal.value.status == 422
    assert [error["field"] for error in refusal.value.errors] == ["f3"]
    assert not Record.objects.exists()


def test_nobody_submits_another_s_item_or_one_that_was_not_served(
    made: StudyUnderTest, coder: Membership
) -> None:
    item = _next(coder)
    unserved = Assignment.objects.filter(member=coder, served_at=None)[0]
    for member, uid in ((made["primary_B"], item.pk), (coder, unserved.pk), (coder, uuid4())):
        with pytest.raises(Absent):
            submit_record(membership=member, uid=uid, submission=Submission({}))
    with pytest.raises(Absent):
        submit_record(membership=made["monitor"], uid=item.pk, submission=Submission({}))


def test_outside_the_phases_of_coding_a_submission_is_refused(
    made: StudyUnderTest, coder: Membership
) -> None:
    item = _next(coder)
    answers = _answers(coder, item)
    made.to("review")
    with pytest.raises(Refused) as refusal:
        _submit(coder, item, fields=answers)  # a membership read before coding was closed
    assert refusal.value.code == "not_coding"
    assert not Record.objects.exists()


def test_the_same_item_is_served_until_it_is_submitted(coder: Membership) -> None:
    with clock.frozen_at(NOON) as forward:
        first = _next(coder)
        forward(timedelta(hours=1))
        again = _next(coder)
        assert (again.pk, again.served_at) == (first.pk, NOON)
        _submit(coder, again)
        other = _next(coder)
    assert other.pk != first.pk
    assert other.served_at == NOON + timedelta(hours=1)


def test_when_all_is_submitted_nothing_is_next(made: StudyUnderTest) -> None:
    assert made.code_all("primary_A") == 6
    assert next_assignment(membership=made["primary_A"]) is None


def test_an_adjudicator_has_no_list_of_items(made: StudyUnderTest) -> None:
    made.code_all("primary_A")
    for role in ("adjudicator", "admin", "project_author", "monitor"):
        with pytest.raises(Absent):
            next_assignment(membership=made[role])


def test_a_skipped_item_comes_back_at_the_end_with_its_draft(coder: Membership) -> None:
    item = _next(coder)
    save_draft(membership=coder, uid=item.pk, fields={"f3": "1"}, version=0)
    skip_assignment(membership=coder, uid=item.pk)
    seen = []
    while (other := _next(coder)).pk != item.pk:
        seen.append(other.pk)
        _submit(coder, other)
    assert len(seen) == 5
    assert other.draft.fields == {"f3": "1"}
    _submit(coder, other)
    with pytest.raises(Refused) as refusal:
        skip_assignment(membership=coder, uid=item.pk)
    assert refusal.value.code == "closed"


def test_a_draft_is_saved_on_the_version_it_builds_on(coder: Membership) -> None:
    item = _next(coder)
    assert save_draft(membership=coder, uid=item.pk, fields={"f3": "1"}, version=0).version == 1
    assert save_draft(membership=coder, uid=item.pk, fields={"f3": "2"}, version=1).version == 2
    for stale in (0, 1, 3):
        with pytest.raises(Refused) as refusal:
            save_draft(membership=coder, uid=item.pk, fields={"f3": "3"}, version=stale)
        assert refusal.value.code == "version_conflict"
        assert refusal.value.facts == {"version": 2, "fields": {"f3": "2"}}
    assert own_assignment(membership=coder, uid=item.pk).draft.fields == {"f3": "2"}


def test_a_draft_needs_an_open_item_of_one_s_own(made: StudyUnderTest, coder: Membership) -> None:
    item = _next(coder)
    with pytest.raises(Absent):
        save_draft(membership=made["primary_B"], uid=item.pk, fields={}, version=0)
    with pytest.raises(Invalid):
        save_draft(membership=coder, uid=item.pk, fields={"f9": "x" * 200_001}, version=0)
    Assignment.objects.filter(pk=item.pk).update(held_at=NOON)
    with pytest.raises(Refused) as refusal:
        save_draft(membership=coder, uid=item.pk, fields={}, version=0)
    assert refusal.value.code == "closed"


def test_what_is_held_or_taken_away_is_neither_served_nor_taken(coder: Membership) -> None:
    held, answers = (item := _next(coder)), _answers(coder, item)
    Assignment.objects.filter(pk=held.pk).update(held_at=NOON)
    with pytest.raises(Refused) as refusal:
        _submit(coder, held, fields=answers)
    assert refusal.value.code == "held"
    voided = _next(coder)
    assert voided.pk != held.pk
    Assignment.objects.filter(pk=voided.pk).update(voided_at=NOON, void_reason="reassigned")
    with pytest.raises(Refused) as refusal:
        _submit(coder, voided)
    assert refusal.value.code == "voided"
    assert _next(coder).pk not in (held.pk, voided.pk)


def test_a_new_cluster_is_named_and_offered_again_in_its_task(coder: Membership) -> None:
    item = _next(coder)
    new = _answers(coder, item) | {"f1-cluster": "new", "f1": "3"}
    _submit(coder, item, fields=new)
    made = OwnCluster.objects.get()
    assert (made.member_id, made.task_id, made.code) == (coder.pk, item.output.task_id, "N1")
    _submit(coder, item, base_version=1, fields=new | {"f1-cluster": "N1"})
    assert OwnCluster.objects.count() == 1
    same_task = Assignment.objects.filter(member=coder, output__task=item.output.task_id).exclude(pk=item.pk)[
        0
    ]
    Assignment.objects.filter(pk=same_task.pk).update(served_at=NOON, codebook=item.codebook_id)
    shown = AssignmentView.of(own_assignment(membership=coder, uid=same_task.pk), coder)
    assert "N1" in [pick["value"] for pick in shown.form["fields"][0]["picker"]["options"]]
    _submit(coder, same_task, fields=new)
    assert sorted(OwnCluster.objects.values_list("code", flat=True)) == ["N1", "N2"]


@pytest.mark.parametrize("how", ["says_so", "knows"])
def test_who_recognises_the_source_is_set_apart_and_somebody_else_codes(
    made: StudyUnderTest, how: str
) -> None:
    coder = made["primary_B"]
    item = _next(coder)
    recognise(membership=coder, uid=item.pk, how=how, what="I saw it")
    exposure = Exposure.objects.get()
    assert (exposure.output, exposure.member, exposure.how, exposure.before_final) == (
        item.output_id,
        coder.pk,
        how,
        True,
    )
    assert Assignment.objects.get(pk=item.pk).void_reason == "exposed"
    fresh = Assignment.objects.get(output=item.output_id, slot="B", voided_at=None)
    assert (fresh.member_id, fresh.given_later) == (made["primary_B2"].pk, True)
    assert _next(coder).pk != item.pk
    with pytest.raises(Refused) as refusal:
        _submit(coder, item)
    assert refusal.value.code == "voided"


def test_a_hunch_is_noted_and_the_item_stays(coder: Membership) -> None:
    item = _next(coder)
    recognise(membership=coder, uid=item.pk, how="hunch", what="")
    assert Exposure.objects.get().how == "hunch"
    assert _next(coder).pk == item.pk
    assert _submit(coder, item).version == 1


def test_a_mistake_in_a_final_record_is_reported_and_the_record_stays(coder: Membership) -> None:
    item = _next(coder)
    with clock.frozen_at(NOON) as forward:
        _submit(coder, item)
        with pytest.raises(Refused) as refusal:
            report_erratum(membership=coder, uid=item.pk, text="wrong box")
        assert refusal.value.code == "revisable"
        forward(timedelta(minutes=10))
        finalise_due_records()
        report_erratum(membership=coder, uid=item.pk, text=" wrong box ")
    assert Erratum.objects.get().text == "wrong box"
    assert Record.objects.count() == 1


def test_over_rest_a_receipt_is_201_a_replay_200_a_conflict_409_and_a_bad_answer_422(
    made: StudyUnderTest,
) -> None:
    program = made.api("primary_A")
    item = program.get(made.url("assignments/next/")).json()
    path = made.url(f"assignments/{item['assignment_uid']}/record/")
    answers = _answers(made["primary_A"], _next(made["primary_A"]))
    bad = program.post(path, {"fields": answers | {"f3": "99"}}, "json")
    assert (bad.status_code, list(bad.json()["errors"][0])) == (422, ["field", "rule", "message"])
    body = {"fields": answers, "submission_id": "one", "base_version": None}
    stored, again = (program.post(path, body, "json") for _ in range(2))
    assert (stored.status_code, again.status_code) == (201, 200)
    assert list(stored.json()) == ["record_id", "version", "submitted_at", "revisable_until"]
    assert stored.json() == again.json()
    conflict = program.post(path, {"fields": answers, "base_version": 0}, "json")
    told = conflict.json()
    assert (conflict.status_code, told["code"], told["version"]) == (409, "version_conflict", 1)


@pytest.mark.parametrize("kind", ["token", "session"])
def test_both_ways_in_give_the_same_answers(made: StudyUnderTest, kind: str) -> None:
    caller: Any = made.api("primary_A") if kind == "token" else made.client("primary_A")
    json = {"content_type": "application/json"} if kind == "session" else {"format": "json"}
    item = caller.get(made.url("assignments/next/"))
    assert (item.status_code, item.headers["Content-Type"]) == (200, "application/json")
    path = made.url(f"assignments/{item.json()['assignment_uid']}/")
    assert caller.put(f"{path}draft/", {"fields": {"f3": "1"}, "version": 0}, **json).json()["version"] == 1
    assert caller.put(f"{path}draft/", {"fields": {}, "version": 0}, **json).status_code == 409
    assert caller.put(f"{path}draft/", {"fields": []}, **json).status_code == 400
    assert caller.post(f"{path}record/", {"fields": {}}, **json).status_code == 422
    assert (
        caller.post(f"{path}record/", '{"fields": NaN}', content_type="application/json").status_code == 400
    )
    assert caller.post(f"{path}record/", "[" * 100_000, content_type="application/json").status_code == 400
    assert caller.get(made.url("assignments/next/").replace("riverside", "elsewhere")).status_code == 404
    assert caller.delete(made.url("assignments/next/")).status_code == 405
    while (left := caller.get(made.url("assignments/next/"))).status_code == 200:
        made.code_all("primary_A", at_most=1)
    assert (left.status_code, left.content, "Content-Type" in left.headers) == (204, b"", False)


@pytest.mark.parametrize("header", ["Token", "Token x y", "Token " + "0" * 64, "Bearer abc", ""])
def test_without_a_good_token_there_is_no_answer(made: StudyUnderTest, header: str, client: Any) -> None:
    answer = client.get(made.url("assignments/next/"), HTTP_AUTHORIZATION=header)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Token"
