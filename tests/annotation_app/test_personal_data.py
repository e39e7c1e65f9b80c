"""One's own data: everything a person entered, nothing of anybody else, no word of the schema."""

import json

import pytest

from annotation_app.services.assignments import next_assignment, save_draft, skip_assignment
from annotation_app.services.exposures import recognise
from annotation_app.services.guesses import guess, next_guess
from annotation_app.services.questions import ask_question
from annotation_app.services.records import report_erratum
from tests.factories import a_study, rows

pytestmark = pytest.mark.django_db
GUESSING = {"guess": {"share": 1.0, "conditions": ["inland"], "models": []}}


def test_all_that_a_coder_entered_is_in_the_download():
    study = a_study(protocol=GUESSING, phase="coding", outputs=rows(tasks=1, per_task=3))
    coder = study["primary_A"]
    first = next_assignment(membership=coder)
    assert first is not None
    save_draft(
        membership=coder, uid=first.pk, fields={"f3": "1"}, version=0, active_seconds=40, idle_seconds=2
    )
    skip_assignment(membership=coder, uid=first.pk)
    recognise(membership=coder, uid=first.pk, how="hunch", what="The tone.")
    ask_question(membership=coder, text="What is a bank?")
    before = downloaded(study)
    waiting = next(item for item in before["items"] if item["draft"])
    assert (waiting["draft"]["answers"], waiting["draft"]["active_seconds"]) == ({"f3": "1"}, 40)
    assert (waiting["skipped"], waiting["recognised"][0]["what"]) == (1, "The tone.")
    assert before["questions"][0]["text"] == "What is a bank?"
    study.code_all("primary_A")
    study.finalise()
    report_erratum(membership=coder, uid=first.pk, text="I meant the other bank.")
    closing = next_guess(membership=coder)
    assert closing is not None
    guess(membership=coder, uid=closing.assignment_uid, answers={"g1": "inland"}, reason="The boats.")
    after = downloaded(study)
    assert [len(item["versions"]) for item in after["items"]] == [1, 1, 1]
    assert [c["text"] for item in after["items"] for c in item["corrections"]] == ["I meant the other bank."]
    answered = [item["closing_answers"] for item in after["items"] if item["closing_answers"]]
    assert [(a["g1"], a["reason"]) for a in answered] == [("inland", "The boats.")]


def test_an_answer_to_a_question_that_an_item_does_not_have_is_not_in_the_download():
    study = a_study(phase="coding", outputs=rows(tasks=2, per_task=2))
    study.code_all("primary_A")
    entered = [item["versions"][0]["answers"] for item in downloaded(study)["items"]]
    assert sorted("f2" in answers for answers in entered) == [False, False, True, True]


def test_the_download_holds_neither_labels_nor_the_words_of_the_schema():
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=2))
    study.code_all("primary_A")
    text = json.dumps(downloaded(study))
    for word in (
        "meadow",
        "harbour",
        "quartz",
        "basalt",
        "tides",
        "kappa",
        "r_meta",
        "primary_A",
        "semantic",
    ):
        assert word not in text


def downloaded(study):
    answer = study.client("primary_A").post("/account/", {"do": "data"})
    assert answer.status_code == 200
    membership = json.loads(answer.content)["memberships"][0]
    assert membership["study"] == "Riverside"
    return membership
