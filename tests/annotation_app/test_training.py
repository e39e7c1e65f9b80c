"""Training: references, comparison, agreement in a round, the gate, and texts that must not come back."""

from collections.abc import Callable
from typing import Any

import pytest

from annotation_app import registries
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Batch, Output, ReferenceCode, TrainingGate
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, own_assignment
from annotation_app.services.members import add_membership, sign_declaration
from annotation_app.services.references import (
    comparison_of,
    hold_right,
    reference_of,
    take_agreed_codes,
    training_item,
    training_texts,
    write_reference,
)
from annotation_app.services.standings import open_gate, rounds_of, standings_of
from blinding.models import Event, Job
from blinding.policy import Role
from tests.factories import StudyUnderTest, a_study, an_account, first_answers, rows

pytestmark = pytest.mark.django_db
MARK = {"calibration": {"pass": 0.8}}


@pytest.fixture
def study() -> StudyUnderTest:
    """A study in training whose first round of four texts is released."""
    made = a_study("riverside", protocol=MARK, phase="training")
    made.release(made.import_batch(practice(), "calibration"))
    return made


def practice() -> list[dict[str, Any]]:
    return [row | {"output_id": f"practice-{row['output_id']}"} for row in rows(tasks=1, per_task=4)]


def main_sample() -> list[dict[str, Any]]:
    return [row | {"text": f"Today: {row['text']}"} for row in rows(tasks=2, per_task=2)]


def with_option(number: int) -> Callable[[AssignmentView], dict[str, Any]]:
    """Answer as `first_answers`, but the first question of several options by another one."""

    def choose(view: AssignmentView) -> dict[str, Any]:
        question = next(f for f in view.form["fields"] if f["kind"] == "radio")
        return first_answers(view) | {question["key"]: question["options"][number]["value"]}

    return choose


def code_practice(study: StudyUnderTest, *, b: int = 0) -> None:
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", with_option(b))
    study.finalise()


def items_of(study: StudyUnderTest, name: str) -> list[Assignment]:
    own = (
        Assignment.objects.visible_to(study[name])
        .filter(served_at__isnull=False)
        .order_by("calibration", "position")
    )
    return [own_assignment(membership=study[name], uid=item.pk) for item in own]


def write_all_references(study: StudyUnderTest, name: str = "adjudicator") -> None:
    for output, _ in training_texts(membership=study[name]):
        item = training_item(membership=study[name], uid=output.pk)
        write_reference(membership=study[name], uid=output.pk, fields=first_answers(item))  # type: ignore[arg-type]  # a form is all it needs


def test_peers_are_shown_only_after_the_own_record_is_final(study):
    study.code_all("primary_B", first_answers)
    study.finalise()
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    with pytest.raises(Refused) as refusal:
        comparison_of(membership=study["primary_A"], item=item)
    assert refusal.value.code == "not_final"
    study.code_all("primary_A", with_option(1))
    study.finalise()
    shown = comparison_of(membership=study["primary_A"], item=items_of(study, "primary_A")[0])
    assert shown.other is not None
    assert shown.own.payload != shown.other.payload
    assert len(shown.different) == 1
    assert shown.reference is None


def test_a_peer_whose_record_is_not_final_is_not_shown(study):
    study.code_all("primary_A", first_answers)
    study.finalise()
    assert comparison_of(membership=study["primary_A"], item=items_of(study, "primary_A")[0]).other is None


def test_nobody_compares_main_items(study):
    study.to("coding")
    study.release(study.import_batch(main_sample()))
    open_all_gates(study)
    code_practice(study)
    item = items_of(study, "primary_A")[0]
    assert not item.calibration
    with pytest.raises(Absent):
        comparison_of(membership=study["primary_A"], item=item)


def test_comparing_ends_with_training(study):
    code_practice(study)
    study.to("coding")
    with pytest.raises(Refused):
        comparison_of(membership=study["primary_A"], item=items_of(study, "primary_A")[0])


@pytest.mark.parametrize(
    ("name", "source"), [("adjudicator", "adjudicator"), ("project_author", "project_author")]
)
def test_a_written_reference_is_marked_with_who_wrote_it(study, name, source):
    write_all_references(study, name)
    found = ReferenceCode.objects.filter(output__study=study.study).in_force()
    assert [r.source for r in found] == [source] * 4
    assert {r.by_id for r in found} == {study[name].pk}
    assert [source for _, source in training_texts(membership=study[name])] == [source] * 4


def test_a_reference_must_be_a_record_that_could_be_submitted(study):
    output = Output.objects.filter(study=study.study)[0]
    with pytest.raises(Invalid) as fault:
        write_reference(membership=study["adjudicator"], uid=output.pk, fields={})
    assert fault.value.status == 422
    assert not ReferenceCode.objects.exists()


@pytest.mark.parametrize("name", ["admin", "primary_A", "audit", "monitor"])
def test_others_write_no_reference(study, name):
    output = Output.objects.filter(study=study.study)[0]
    with pytest.raises(Absent):
        write_reference(membership=study[name], uid=output.pk, fields={})


def test_what_the_coders_agree_on_becomes_the_reference_and_the_rest_waits_for_a_person(study):
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", with_option(1), at_most=1)
    study.code_all("primary_B", first_answers)
    study.finalise()
    batch = Batch.objects.get(study=study.study)
    assert take_agreed_codes(membership=study["admin"], batch=batch.pk) == 3
    assert take_agreed_codes(membership=study["admin"], batch=batch.pk) == 0
    found = ReferenceCode.objects.filter(output__batch=batch).in_force()
    assert {(r.source, r.by_id) for r in found} == {("consensus", None)}


def test_a_view_that_both_coders_share_after_comparing_is_a_consensus(study):
    code_practice(study, b=1)
    a = items_of(study, "primary_A")[0]
    b = Assignment.objects.get(output=a.output_id, slot="B")
    assert hold_right(membership=study["primary_A"], uid=a.pk, which="other") is False
    assert reference_of(a.output_id) is None
    assert comparison_of(
        membership=study["primary_B"], item=own_assignment(membership=study["primary_B"], uid=b.pk)
    ).other_holds
    assert hold_right(membership=study["primary_B"], uid=b.pk, which="own") is True
    reference = reference_of(a.output_id)
    assert reference is not None
    assert reference.source == "consensus"
    assert reference.values == b.records.get().payload


def test_a_shared_view_does_not_replace_what_an_adjudicator_wrote(study):
    code_practice(study, b=1)
    write_all_references(study)
    a = items_of(study, "primary_A")[0]
    b = Assignment.objects.get(output=a.output_id, slot="B")
    hold_right(membership=study["primary_A"], uid=a.pk, which="other")
    hold_right(membership=study["primary_B"], uid=b.pk, which="own")
    reference = reference_of(a.output_id)
    assert reference is not None
    assert reference.source == "adjudicator"


def test_standing_is_the_share_of_compared_answers_equal_to_the_reference(study):
    """B differs from the reference in one answer of each text; the confidence is not compared, nor what nobody answered."""
    code_practice(study, b=1)
    write_all_references(study)
    a, b = standings_of(membership=study["admin"])
    compared = len(
        registries.compare_codes(study.study, items_of(study, "primary_A")[0].records.get().payload, {}).asked
    )
    assert a.last is not None
    assert (a.last.texts, a.last.compared, a.last.share, a.reaches) == (4, 4 * compared, 1.0, True)
    assert b.last is not None
    assert b.last.share == pytest.approx(1 - 1 / compared)


def test_a_round_shows_the_agreement_between_its_coders(study):
    code_practice(study, b=1)
    shown = rounds_of(membership=study["project_author"])
    assert [(r.texts, r.items, r.final_items) for r in shown] == [(4, 8, 8)]
    by_agreement = sorted(field.agreement for field in shown[0].agreement if field.agreement is not None)
    assert by_agreement[0] == 0.0
    assert set(by_agreement[1:]) == {1.0}


def open_all_gates(study: StudyUnderTest) -> None:
    for standing in standings_of(membership=study["admin"]):
        open_gate(membership=study["admin"], alias=standing.alias, reason="Talked it through.")


def test_main_items_wait_for_a_person_to_open_the_gate(study):
    code_practice(study)
    write_all_references(study)
    study.to("coding")
    study.release(study.import_batch(main_sample()))
    answer = study.api("primary_A").get(study.url("assignments/next/"))
    assert answer.status_code == 409
    assert answer.json()["code"] == "not_passed"
    open_gate(membership=study["project_author"], alias=study["primary_A"].alias)
    assert study.api("primary_A").get(study.url("assignments/next/")).status_code == 200
    assert study.api("primary_B").get(study.url("assignments/next/")).status_code == 409
    gate = TrainingGate.objects.get()
    assert (gate.member, gate.passed_by, gate.share) == (study["primary_A"], study["project_author"], 1.0)


def test_a_gate_below_the_mark_needs_a_reason(study):
    code_practice(study)
    alias = study["primary_B"].alias
    with pytest.raises(Invalid) as fault:
        open_gate(membership=study["admin"], alias=alias)
    assert fault.value.status == 422
    open_gate(membership=study["admin"], alias=alias, reason="Known from an earlier study.")
    with pytest.raises(Refused) as refusal:
        open_gate(membership=study["admin"], alias=alias, reason="Again.")
    assert refusal.value.code == "already_passed"
    event = Event.objects.get(kind="gate_opened")
    assert event.facts == {"agreement": None, "mark": 0.8, "reason": "Known from an earlier study."}


def test_who_joins_a_trained_study_while_it_is_coded_waits_too(study):
    study.to("coding")
    study.release(study.import_batch(main_sample()))
    study.names["late"] = an_account("late").username
    add_membership(study=study.study, user=study.user("late"), role=Role.PRIMARY_A)
    sign_declaration(membership=study["late"])
    with pytest.raises(Refused) as refusal:
        next_assignment(membership=study["late"])
    assert refusal.value.code == "not_passed"


@pytest.mark.parametrize("protocol", [{}, {"calibration": {"pass": None}}])
def test_nobody_waits_where_the_protocol_demands_no_mark(protocol):
    study = a_study("lakeside", protocol=protocol, phase="training")
    study.release(study.import_batch(practice(), "calibration"))
    study.to("coding")
    study.release(study.import_batch(main_sample()))
    assert next_assignment(membership=study["primary_A"]) is not None


def test_nobody_waits_where_no_training_batch_was_released():
    study = a_study("lakeside", protocol=MARK, phase="coding", outputs=main_sample())
    assert next_assignment(membership=study["primary_A"]) is not None


def test_training_texts_are_refused_in_the_main_sample(study):
    """Two of the four texts come back under other ids, one of them with the name that was masked in training."""
    study.to("coding")
    repeated = [row | {"output_id": f"main-{n}"} for n, row in enumerate(practice()[:2])]
    batch = study.import_batch([*rows(tasks=2, per_task=3)[3:], *repeated])
    with pytest.raises(AssertionError):
        study.release(batch)
    batch.refresh_from_db()
    assert batch.status == "in_review"
    error = Job.objects.get(kind="release_batch", state="failed").error
    assert error.startswith("2 of 5 texts were used in training")
