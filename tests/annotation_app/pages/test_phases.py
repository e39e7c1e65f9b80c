"""The phase page: the steps of one's role, what stands against them, and the two people who undo a lock."""

from datetime import UTC, datetime
from typing import Any

import pytest

from blinding import clock
from blinding.models import StudyKey
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


def page(study: StudyUnderTest, role: str = "project_author") -> str:
    return text_of(study.client(role).get(study.page("phase/")))


def move(study: StudyUnderTest, to: str, role: str = "project_author", **more: str) -> Any:
    return study.client(role).post(study.page("phase/"), {"to": to, **more})


def test_training_is_the_admins_step_and_coding_the_project_authors() -> None:
    study = a_study()
    assert "Open training" in page(study, "admin")
    assert "open coding" not in page(study, "admin")
    assert "Sign the preregistration and open coding" in page(study)
    assert "Open training" not in page(study)
    assert move(study, "training").status_code == 404
    assert move(study, "training", "admin").status_code == 302
    assert study.study.phase == "training"


def test_coding_waits_for_both_halves_of_the_key() -> None:
    study = a_study()
    StudyKey.objects.update(layers=1)
    assert "Still open: Both halves of the key." in page(study)
    assert "Only half of the key is in place" in text_of(move(study, "coding"), 409)
    assert study.study.phase == "setup"


def test_coding_waits_for_its_people() -> None:
    study = a_study(members={"adjudicator": 0})
    assert "Still open: A member as Adjudicator." in page(study)
    assert "Nobody has the role adjudicator" in text_of(move(study, "coding"), 409)


def test_opening_coding_freezes_and_says_so() -> None:
    study = a_study()
    answer = move(study, "coding", reason="Ready")
    assert answer.status_code == 302
    assert "The study is now in phase “Coding”." in page(study)
    assert study.study.preregistration_hash


def test_closing_coding_names_what_is_not_done_and_may_be_done_all_the_same() -> None:
    study = a_study(phase="coding", outputs=rows())
    study.code_all("primary_A")
    assert "Two final codes for each output 0 of 24" in page(study)
    assert move(study, "review").status_code == 302


def test_a_lock_with_open_cases_needs_a_reason_to_leave_them() -> None:
    study = a_study(phase="coding", outputs=rows())
    study.code_all("primary_A"), study.code_all("primary_B")
    study.to("review")
    study.settle()
    assert "cases are open" in page(study)
    refused = text_of(move(study, "locked", reason="Done"), 409)
    assert "Not possible." in refused
    assert "Done" in refused
    assert move(study, "locked", leave_open="The adjudicator fell ill.").status_code == 302
    assert study.study.left_open["reason"] == "The adjudicator fell ill."


def test_a_lock_waits_for_pairs_to_be_compared() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1))
    study.code_all("primary_A"), study.code_all("primary_B")
    study.to("review")
    assert "Every pair of records is compared 8 left" in page(study)
    assert "still to be compared" in text_of(move(study, "locked", leave_open="x"), 409)


def test_a_lock_is_undone_by_two_people() -> None:
    study = a_study(phase="locked")
    assert "The project author has to ask first." in page(study, "admin")
    assert move(study, "review", "admin", reason="No").status_code == 409
    assert "Say why the lock must be undone" in text_of(move(study, "review"), 422)
    asked = study.client("project_author").post(
        study.page("phase/"), {"to": "review", "reason": "A record is missing."}, follow=True
    )
    assert "The admin has to confirm it." in text_of(asked)
    assert "The project author asks: A record is missing." in page(study, "admin")
    assert "answer the request to undo the lock" in text_of(study.client("admin").get(study.page()))
    assert move(study, "review", "admin", reason="Agreed").status_code == 302
    assert study.study.phase == "review"


def test_no_step_leads_elsewhere() -> None:
    study = a_study()
    assert move(study, "locked").status_code == 409
    assert move(study, "unblinded").status_code == 409
    assert "The phase must be one of" not in page(study)
    assert move(study, "nowhere").status_code == 422
    assert move(study, "nowhere\0").status_code == 400


def test_the_phases_say_when_they_were_opened_and_that_training_was_skipped() -> None:
    shown = page(a_study(phase="coding"))
    assert "Training skipped" in shown
    assert "Coding opened" in shown


def test_days_and_times_name_their_zone_and_can_be_read_by_machines() -> None:
    with clock.frozen_at(datetime(2031, 5, 5, 23, 30, tzinfo=UTC)):
        study = a_study()
        body = body_of(study.client("admin").get(study.page("phase/")))
    machine, told = 'datetime="2031-05-05T23:30:00+00:00"', 'title="5 May 2031, 23:30 UTC"'
    assert f'opened <time {machine} {told} data-local="date">5 May 2031</time>' in body


def test_a_phase_that_is_to_come_has_no_day() -> None:
    shown = page(a_study(phase="coding"))
    assert "Review Locked" not in shown.split("Close coding")[1]
