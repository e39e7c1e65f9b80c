"""The adjudicator's queue: who gets which case, what a case shows, what a decision does and what it never touches."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from adjudication.models import Case, Decision
from adjudication.projections import CaseView
from adjudication.services.cases import LEASE, claim_next_case
from adjudication.services.decisions import CaseDecision, decide_case
from annotation_app.errors import Absent, Refused
from annotation_app.models import Record, RecordOverlay
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.exposures import recognise
from annotation_app.services.forms import form_of
from annotation_app.services.members import end_membership
from blinding import clock
from blinding.models import Exposure
from tests.clones import cloned_database, connected_to
from tests.factories import StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db


def all_differ(view: AssignmentView) -> dict[str, Any]:
    """Answer like `first_answers`, but every choice with its second option: each output is disputed."""
    answers = first_answers(view)
    for control in view.form["fields"]:
        if control["kind"] == "radio":
            answers[control["key"]] = control["options"][1]["value"]
    return answers


def disputed_study(**more: Any) -> StudyUnderTest:
    study = a_study(**{"phase": "coding", "outputs": rows(tasks=1, per_task=4), **more})
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", all_differ)
    study.settle()
    return study


def take(study: StudyUnderTest, who: str = "adjudicator") -> dict[str, Any]:
    answer = study.api(who).get(study.url("cases/next/"))
    assert answer.status_code == 200
    case: dict[str, Any] = answer.json()
    return case


def decide(study: StudyUnderTest, case: dict[str, Any], source: str = "left", **more: Any) -> Any:
    body = {
        "values": {key: {"from": source} for key in case["disputed"]},
        "rationale": "The anchor says so.",
        "claim_no": case["claim_no"],
    }
    return study.api("adjudicator").post(
        study.url(f"cases/{case['case_uid']}/decision/"), body | more, format="json"
    )


def test_a_case_shows_two_codings_and_no_coder() -> None:
    study = disputed_study()
    case = take(study)
    assert case["step"] == 2
    assert set(case["disputed"]) == {
        key for key in case["left"] if case["left"][key] != case["right"].get(key)
    }
    body = json.dumps(case)
    for told in (
        study["primary_A"].alias,
        study["primary_B"].alias,
        "primary_A",
        "submitted",
        "origin",
        "flag_reason",
    ):
        assert told not in body


def test_asking_again_gives_the_same_case() -> None:
    study = disputed_study()
    first, second = take(study), take(study)
    assert (first["case_uid"], first["claim_no"]) == (second["case_uid"], second["claim_no"])


def test_sides_are_drawn_anew_for_each_case() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=2, per_task=20))
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", all_differ)
    study.settle()
    sides = list(Case.objects.values_list("a_is_left", flat=True))
    assert len(sides) == 40
    assert 4 < sum(sides) < 36  # forty fair coins miss this once in ten million


def test_a_decision_lies_over_both_records_which_stay_as_submitted() -> None:
    study = disputed_study()
    before = list(Record.objects.order_by("pk").values_list("payload", flat=True))
    case = take(study)
    assert decide(study, case).status_code == 201
    overlays = RecordOverlay.objects.exclude(adjudicated_value=None)
    assert overlays.count() == 2
    assert {o.adjudicator_id for o in overlays} == {study["adjudicator"].alias}
    values = json.loads(overlays[0].adjudicated_value or "")
    assert set(values) == {"relevance", "factuality", "r_meta_class", "elicitation_signal"}
    assert list(Record.objects.order_by("pk").values_list("payload", flat=True)) == before


def test_undecided_is_null_in_the_export() -> None:
    study = disputed_study()
    decide(study, take(study), "undecided")
    overlay = RecordOverlay.objects.exclude(adjudicated_value=None)[0]
    assert set(json.loads(overlay.adjudicated_value or "").values()) == {None}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rationale": " "}, "rationale"),
        ({"values": {}}, "f3"),
        ({"values": {"f3": {"from": "other", "value": "99"}}}, "f3"),
        ({"values": {"f99": {"from": "left"}}}, "f99"),
        ({"values": {"f3": {"from": "the coin"}}}, "f3"),
    ],
)
def test_a_decision_that_is_not_whole_names_the_field(change: dict[str, Any], field: str) -> None:
    study = disputed_study()
    answer = decide(study, take(study), **change)
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert not Decision.objects.exists()


def test_a_field_of_other_items_is_answered_like_one_that_no_item_has() -> None:
    """Classes are on the items of controls only, the flag is on no case; by the keys of the form and by the schema's names."""
    no_control = {"positive_control": None, "gold_classes": None, "gold_expected": None}
    study = disputed_study(outputs=rows(tasks=1, per_task=2, **no_control))
    case = take(study)
    shown = {field["key"] for field in case["form"]["fields"]}
    form = form_of(study.study, current_codebook(study.study).pk)
    hidden = [form.by_path[path] for path in ("gold_class_match", "adjudication_required")]
    assert hidden[0].key not in shown

    def answer_to(name: str, choice: Any) -> str:
        body = decide(study, case, values={name: choice})
        assert body.status_code == 422
        return str(body.content.decode()).replace(name, "NAME")

    for choice in ({"from": "left"}, {"from": "own"}, {"from": "other", "value": ["x"]}, {"from": "?"}, "?"):
        for control in hidden:
            assert answer_to(control.key, choice) == answer_to("f99", choice)
            assert answer_to(control.path, choice) == answer_to("no_such_name", choice)
            assert control.path not in decide(study, case, values={control.path: choice}).content.decode()


def test_an_old_claim_decides_nothing() -> None:
    study = disputed_study(members={"adjudicator": 2})
    with clock.frozen_at(clock.now()) as later:
        case = take(study)
        later(LEASE + timedelta(seconds=1))
        taken = {claim_next_case(membership=study["adjudicator2"]).case.pk for _ in range(1)}  # type: ignore[union-attr]
        answer = decide(study, case)
    assert {str(pk) for pk in taken} == {case["case_uid"]}
    assert answer.status_code in (404, 409)
    assert not Decision.objects.exists()


def test_a_decided_case_is_closed() -> None:
    study = disputed_study()
    case = take(study)
    decide(study, case)
    assert decide(study, case).status_code == 409


def test_a_sham_looks_like_a_case_and_touches_nothing() -> None:
    study = a_study(
        phase="coding", outputs=rows(tasks=1, per_task=4), protocol={"adjudication": {"sham_share": 1}}
    )
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", first_answers)
    study.settle()
    case = take(study)
    assert case["disputed"] == []
    assert decide(study, case, values={"f3": {"from": "other", "value": "2"}}).status_code == 201
    assert not RecordOverlay.objects.exclude(adjudicated_value=None).exists()
    assert not RecordOverlay.objects.filter(adjudication_required=True).exists()


def test_a_flag_opens_a_case_whose_agreed_fields_can_be_overruled() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=4))
    study.code_all("primary_A", lambda view: first_answers(view) | {"f8": True, "f8-reason": "Hard to tell"})
    study.code_all("primary_B", first_answers)
    study.settle()
    case = take(study)
    assert case["disputed"] == []
    assert "Hard to tell" not in json.dumps(case)
    assert "f8" not in {*case["left"], *case["right"]}  # a flag and a sham look alike
    assert decide(study, case, values={"f3": {"from": "other", "value": "2"}}).status_code == 201
    values = json.loads(RecordOverlay.objects.exclude(adjudicated_value=None)[0].adjudicated_value or "")
    assert values == {"relevance": "irrelevant"}


def test_an_exposure_takes_the_case_back() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=4), protocol={"grace_minutes": 0})
    study.code_all("primary_B", all_differ)
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    study.code_all("primary_A", first_answers, at_most=1)
    study.settle()
    case = Case.objects.open().get(output=item.output_id)
    recognise(membership=study["primary_A"], uid=item.pk, how="knows")
    case.refresh_from_db()
    assert case.state == Case.State.OPEN  # after finality the record stays in
    other = next_assignment(membership=study["primary_A"])
    assert other is not None
    recognise(membership=study["primary_A"], uid=other.pk, how="says_so")
    study.settle()
    assert not Case.objects.open().filter(output=other.output_id).exists()


def test_an_adjudicator_who_recognises_the_source_leaves_the_case_to_another() -> None:
    study = disputed_study(members={"adjudicator": 2})
    claim = claim_next_case(membership=study["adjudicator"])
    assert claim is not None
    recognise(membership=study["adjudicator"], uid=claim.assignment.pk, how="knows")
    case = Case.objects.get(pk=claim.case.pk)
    assert (case.state, case.claimed_by) == (Case.State.OPEN, None)
    others = {c.case.pk for c in _all_claims(study, "adjudicator")}
    assert claim.case.pk not in others
    assert claim.case.pk in {c.case.pk for c in _all_claims(study, "adjudicator2")}


def _all_claims(study: StudyUnderTest, who: str) -> list[Any]:
    """Claim and decide until the queue has nothing for this member."""
    claims = []
    while (claim := claim_next_case(membership=study[who])) is not None:
        claims.append(claim)
        values = {key: {"from": "left"} for key in CaseView.of(claim, study[who]).disputed}
        decision = CaseDecision(values=values, rationale="So.", claim_no=claim.case.claim_no)
        decide_case(membership=study[who], uid=claim.case.pk, decision=decision)
    return claims


def test_only_an_adjudicator_asks_for_cases() -> None:
    study = disputed_study()
    for role in ("primary_A", "project_author", "admin", "monitor", "audit"):
        with pytest.raises(Absent):
            claim_next_case(membership=study[role])


def test_nothing_is_claimed_behind_a_lock() -> None:
    study = disputed_study()
    study.lock()
    with pytest.raises(Refused):
        claim_next_case(membership=study["adjudicator"])


def test_a_lock_waits_for_open_cases_unless_a_reason_leaves_them() -> None:
    study = disputed_study()
    study.to("review")
    author = study.api("project_author")
    refused = author.post(study.url("phase/"), {"to": "locked"}, format="json")
    assert refused.status_code == 409
    assert "4 cases" in refused.json()["detail"]
    left = author.post(study.url("phase/"), {"to": "locked", "leave_open": "No time is left."}, format="json")
    assert left.json() == {"phase": "locked"}
    assert Case.objects.filter(state=Case.State.LEFT_OPEN).count() == 4


@pytest.mark.django_db(transaction=True)
def test_two_adjudicators_asking_at_once_get_different_cases() -> None:
    study = disputed_study(members={"adjudicator": 2})

    def claim(who: str) -> str:
        try:
            found = claim_next_case(membership=study[who])
            assert found is not None
            return str(CaseView.of(found, study[who]).case_uid)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        claimed = list(pool.map(claim, ["adjudicator", "adjudicator2"]))
    assert len(set(claimed)) == 2


def test_a_decided_case_stays_decided_when_its_adjudicator_recognises_the_source_later() -> None:
    study = disputed_study(members={"adjudicator": 2})
    case = take(study)
    assert decide(study, case).status_code == 201
    decided = Case.objects.get(pk=case["case_uid"])
    assert decided.assignment is not None
    answer = study.api("adjudicator").post(
        study.url(f"assignments/{decided.assignment_id}/recognised/"), {"how": "knows"}, format="json"
    )
    assert answer.status_code == 200
    noted = Exposure.objects.get(member=study["adjudicator"].pk)
    assert (noted.how, noted.before_final) == ("knows", False)
    decided.refresh_from_db()
    decided.assignment.refresh_from_db()
    assert (decided.state, decided.claimed_by) == (Case.State.DECIDED, study["adjudicator"])
    assert decided.assignment.voided_at is None
    assert decided.assignment.final_at == decided.closed_at
    assert RecordOverlay.objects.exclude(adjudicated_value=None).count() == 2


def test_who_leaves_hands_back_what_they_had_claimed_and_keeps_what_they_decided() -> None:
    study = disputed_study(members={"adjudicator": 2})
    done = take(study)
    decide(study, done)
    held = take(study)
    leaver = study["adjudicator"]
    end_membership(membership=study["admin"], alias=leaver.alias, reason="A new post.")
    case = Case.objects.get(pk=held["case_uid"])
    assert (case.state, case.claimed_by, case.assignment) == (Case.State.OPEN, None, None)
    assert Case.objects.get(pk=done["case_uid"]).claimed_by == leaver
    voided = leaver.assignments.filter(voided_at__isnull=False)
    assert list(voided.values_list("output", "void_reason")) == [(case.output_id, "reassigned")]
    with pytest.raises(Absent):
        claim_next_case(membership=leaver)
    assert held["case_uid"] in {str(c.case.pk) for c in _all_claims(study, "adjudicator2")}


def test_a_case_shows_classes_only_where_the_output_has_some() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=2, per_task=2))
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", all_differ)
    study.settle()
    shown = [CaseView.of(claim, study["adjudicator"]) for claim in _all_claims(study, "adjudicator")]
    assert sorted(bool(view.classes) for view in shown) == [False, False, True, True]
    for view in shown:
        assert ("f2" in view.left, "f2" in view.right) == (bool(view.classes), bool(view.classes))


def test_notes_reach_an_adjudicator_with_names_masked() -> None:
    study = a_study(
        phase="coding",
        outputs=rows(tasks=1, per_task=4),
        protocol={"adjudication": {"show_notes": True, "sham_share": 0}},
    )
    study.code_all("primary_A", lambda view: first_answers(view) | {"f1-notes": "Reads like ChatGPT."})
    study.code_all("primary_B", all_differ)
    study.settle()
    case = take(study)
    notes = [case[side]["f1-notes"] for side in ("left", "right") if case[side].get("f1-notes")]
    assert notes == ["Reads like [name removed]."]
    assert Record.objects.filter(payload__semantic_cluster_decision__notes="Reads like ChatGPT.").exists()


def test_one_adjudicator_asking_many_times_at_once_gets_one_case(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    with cloned_database(django_db_blocker) as database:
        study = disputed_study()

        def claim(_: int) -> str:
            with connected_to(database):
                found = claim_next_case(membership=study["adjudicator"])
                assert found is not None
                return str(found.case.pk)

        with ThreadPoolExecutor(4) as pool:
            claimed = list(pool.map(claim, range(8)))
        assert len(set(claimed)) == 1
        assert Case.objects.filter(claimed_by=study["adjudicator"]).count() == 1
        assert Case.objects.open().count() == 4
