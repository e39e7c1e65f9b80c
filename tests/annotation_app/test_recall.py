"""Recall: frozen for everybody at once, masked by who sees text only, exposed people set apart, others go on."""

from typing import Any

import pytest

from adjudication.models import Case
from adjudication.services.cases import claim_next_case, claimed_case
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Cluster, Membership, Output
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, own_assignment, save_draft
from annotation_app.services.exports import count_records
from annotation_app.services.phases import change_phase
from annotation_app.services.recall import freeze_output, frozen_output, lift_recall, mask_output
from annotation_app.services.records import Submission, submit_record
from blinding.models import Amendment, Event, Exposure
from tests.annotation_app.conftest import anew
from tests.factories import WHY, StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db

LEAK = "brassworks"


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    outputs = rows(tasks=2, per_task=4)
    for row in outputs:
        row["text"] += f" Signed {LEAK} no. {row['output_id'][-1]}."
    return a_study(
        phase="coding", members={"primary_A": 2, "primary_B": 2}, outputs=outputs, protocol={"exemplars": 0}
    )


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def opened_by(study: StudyUnderTest, name: str) -> Assignment:
    item = next_assignment(membership=study[name])
    assert item is not None
    return item


def freeze(study: StudyUnderTest, output: Output) -> None:
    freeze_output(
        membership=study["admin"], blinded_id=output.blinded_output_id, reason="A signature stands there."
    )


def mask(study: StudyUnderTest, output: Output, **what: Any) -> Any:
    given = {"words": [LEAK], "note": "Codes may lean to one side."} | what
    return mask_output(membership=study["admin"], blinded_id=output.blinded_output_id, **given)


def test_a_frozen_output_is_in_nobody_s_hands(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    freeze(made, item.output)
    assert opened_by(made, "primary_A").pk != item.pk
    answers = first_answers(AssignmentView.of(item, made["primary_A"]))
    for act in (
        lambda: own_assignment(membership=made["primary_A"], uid=item.pk),
        lambda: save_draft(membership=made["primary_A"], uid=item.pk, fields={}, version=0),
        lambda: submit_record(membership=made["primary_A"], uid=item.pk, submission=Submission(answers)),
    ):
        with pytest.raises(Refused):
            act()
    for name in ("primary_B", "primary_B2"):
        made.code_all(name)
    assert not Assignment.objects.filter(output=item.output, slot="B", version__gt=0).exists()


def test_a_mask_changes_the_text_the_blind_version_and_the_leaf(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    before = Output.objects.get(pk=item.output_id)
    freeze(made, before)
    mask(made, before)
    after = Output.objects.get(pk=item.output_id)
    assert LEAK in before.text
    assert after.text == before.text.replace(LEAK, "[name removed]")
    assert (after.masks, after.recalled, after.frozen_at) == (before.masks + 1, 1, None)
    assert after.blind_version == f"{before.blind_version}+r1"
    amendment = Amendment.objects.get(output=before.pk)
    assert (amendment.number, amendment.version_before) == (1, before.blind_version)
    assert LEAK.encode() not in bytes(amendment.sealed)
    event = Event.objects.get(kind="output_recalled", subject=before.pk)
    assert event.facts["impact"] == "Codes may lean to one side."
    assert LEAK not in str(event.facts)


def test_who_had_opened_it_is_exposed_and_others_take_over(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    made.code_all("primary_A", at_most=1)
    made.finalise()
    assert count_records(made.study) == 1
    freeze(made, item.output)
    impact = mask(made, item.output)
    assert (impact.exposed, impact.records, impact.fresh_coders) == (1, 1, 1)
    item.refresh_from_db()
    assert (item.void_reason, count_records(made.study)) == ("recalled", 0)
    exposure = Exposure.objects.get(output=item.output_id)
    assert (exposure.member, exposure.how, exposure.before_final) == (made["primary_A"].pk, "recall", True)
    fresh = Assignment.objects.get(output=item.output_id, slot="A", voided_at=None)
    assert (fresh.member, fresh.given_later) == (made["primary_A2"], True)
    made.code_all("primary_A2")
    made.code_all("primary_B"), made.code_all("primary_B2")
    texts = Output.objects.filter(pk=item.output_id, assignments__version__gt=0).values_list(
        "text", flat=True
    )
    assert {LEAK in text for text in texts} == {False}
    assert Membership.objects.get(pk=made["primary_A"].pk).main_total == made["primary_A2"].main_total - 2


def test_who_had_not_opened_it_keeps_it(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    other = Assignment.objects.get(output=item.output_id, slot="B")
    freeze(made, item.output)
    mask(made, item.output)
    other.refresh_from_db()
    assert (other.voided_at, other.held_at) == (None, None)
    assert not Exposure.objects.filter(member=other.member_id).exists()


def test_a_case_on_it_waits_and_is_taken_back(made: StudyUnderTest) -> None:
    for name in ("primary_A", "primary_A2", "primary_B", "primary_B2"):
        made.code_all(name)
    made.settle()
    claim = claim_next_case(membership=made["adjudicator"])
    assert claim is not None
    output = claim.case.output
    freeze(made, output)
    with pytest.raises(Refused, match="on hold"):
        claimed_case(membership=made["adjudicator"], uid=claim.case.pk)
    following = claim_next_case(membership=made["adjudicator"])
    assert following is None or following.case.pk != claim.case.pk
    mask(made, output)
    assert Case.objects.get(pk=claim.case.pk).state == "withdrawn"
    assert Exposure.objects.filter(output=output.pk, member=made["adjudicator"].pk).exists()


def test_a_mistaken_freeze_is_lifted_and_costs_nothing(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    freeze(made, item.output)
    lift_recall(membership=made["admin"], blinded_id=item.output.blinded_output_id, note="An ordinary word.")
    assert opened_by(made, "primary_A").pk == item.pk
    assert not Exposure.objects.exists()
    assert not Amendment.objects.exists()


def test_two_recalls_of_one_output_are_both_proven_at_the_unblinding(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    for words, version in (([LEAK], "+r1"), (["Signed"], "+r2")):
        freeze(made, item.output)
        mask(made, item.output, words=words)
        assert Output.objects.get(pk=item.output_id).blind_version.endswith(version)
    assert list(Amendment.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_spans_are_code_points_of_the_text_shown(made: StudyUnderTest) -> None:
    item = opened_by(made, "primary_A")
    text = item.output.text
    start = text.index(LEAK)
    freeze(made, item.output)
    for spans in ([[0, len(text) + 1]], [[4, 4]], [[1]]):
        with pytest.raises(Invalid):
            mask(made, item.output, words=[], spans=spans)
    mask(made, item.output, words=[], spans=[[start, start + len(LEAK)]])
    assert Output.objects.get(pk=item.output_id).text == text.replace(LEAK, "[name removed]")


def test_a_leak_in_an_excerpt_exposes_who_saw_it_beside_other_items() -> None:
    study = a_study("excerpts", phase="coding", members={"primary_A": 2}, outputs=rows(tasks=1, per_task=8))
    cluster = Cluster.objects.filter(exemplars__0__isnull=False)[0]
    output = Output.objects.get(pk=cluster.exemplars[0]["output"])
    reader = study["primary_B"]
    while opened_by(study, "primary_B").output_id == output.pk:
        study.code_all("primary_B", at_most=1)
    assert output.text in str(AssignmentView.of(opened_by(study, "primary_B"), reader).clusters)
    freeze(study, output)
    assert output.text not in str(AssignmentView.of(opened_by(study, "primary_B"), reader).clusters)
    mask(study, output, words=["river"])
    assert Exposure.objects.filter(output=output.pk, member=reader.pk).exists()
    assert "[name removed]" in str(AssignmentView.of(opened_by(study, "primary_B"), reader).clusters)


def test_bad_input_and_wrong_states_are_named(made: StudyUnderTest) -> None:
    output = opened_by(made, "primary_A").output
    with pytest.raises(Refused, match="Freeze"):
        mask(made, output)
    with pytest.raises(Invalid):
        freeze_output(membership=made["admin"], blinded_id=output.blinded_output_id, reason=" ")
    freeze(made, output)
    with pytest.raises(Refused, match="already"):
        freeze(made, output)
    faults: list[dict[str, Any]] = [{"words": ["not there"]}, {"words": []}, {"note": ""}]
    for fault in faults:
        with pytest.raises(Invalid):
            mask(made, output, **fault)
    with pytest.raises(Absent):
        freeze_output(membership=made["project_author"], blinded_id=output.blinded_output_id, reason=WHY)
    with pytest.raises(Absent):
        freeze_output(membership=made["admin"], blinded_id="b-0000000000000000", reason=WHY)


def test_nothing_is_locked_over_a_frozen_output_and_nothing_recalled_behind_a_lock(
    made: StudyUnderTest,
) -> None:
    output = opened_by(made, "primary_A").output
    freeze(made, output)
    made.to("review")
    assert frozen_error(made, output) == "no_text"
    with pytest.raises(Refused, match="frozen by a recall"):
        change_phase(membership=made["project_author"], to="locked", leave_open=WHY)
    mask(made, output)
    assert Assignment.objects.filter(output=output, given_later=True).count() == 0
    made.lock()
    with pytest.raises(Refused) as refusal:
        freeze(made, output)
    assert refusal.value.code == "wrong_phase"


def frozen_error(study: StudyUnderTest, output: Output) -> str:
    with pytest.raises(Refused) as refusal:
        frozen_output(membership=study["admin"], blinded_id=output.blinded_output_id)
    return refusal.value.code


def test_the_interface_takes_two_steps(made: StudyUnderTest) -> None:
    output = opened_by(made, "primary_A").output
    api, url = made.api("admin"), made.url(f"outputs/{output.blinded_output_id}/recall/")
    assert api.get(url).status_code == 409
    assert api.post(url, {"reason": WHY}).status_code == 201
    shown = api.get(url).json()
    assert (shown["text"], shown["opened"]) == (output.text, 1)
    assert api.post(f"{url}mask/", {"words": ["nowhere"], "note": WHY}).status_code == 400
    done = api.post(f"{url}mask/", {"words": [LEAK.upper()], "note": WHY})
    assert done.json() == {"exposed": 1, "records": 0, "fresh_coders": 1}
    assert api.post(f"{url}lift/", {"note": WHY}).status_code == 409
    for name in ("project_author", "primary_A", "monitor", "adjudicator"):
        assert made.api(name).post(url, {"reason": WHY}).status_code == 404
