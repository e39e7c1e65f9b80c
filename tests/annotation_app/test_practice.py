"""Main items under another set of references than training: a few practice texts come first, unless the protocol waives it."""

from html import unescape
from typing import Any, cast

import pytest

from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership, Output, Practice
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.practice import finish_practice, practice_of
from annotation_app.services.references import training_item, write_reference
from blinding.models import Event
from tests.annotation_app.task_uploads import output, rows_that_hold, upload
from tests.blinding.task_metadata.packages import metadata
from tests.factories import StudyUnderTest, a_study, first_answers

pytestmark = pytest.mark.django_db


def trained(*, practice: int = 2, references: bool = True) -> StudyUnderTest:
    """Three training texts under one set of references, coded by both and with reference codes; then coding is open."""
    study = a_study(phase="training", protocol={"calibration": {"practice": practice}})
    calib = metadata({"task_id": "trial", "split": "calib", "reference_set_version": "set-of-spring"})
    outputs = [output(f"trial-{n}", "trial") for n in range(3)]
    study.release(upload(study, outputs, calib, purpose="calibration"))
    for name in ("primary_A", "primary_B"):
        study.code_all(name, first_answers)
    study.finalise()
    if references:
        _write_references(study)
    study.to("coding")
    return study


def _write_references(study: StudyUnderTest) -> None:
    author = study["project_author"]
    for text in Output.objects.filter(study=study.study):
        item = training_item(membership=author, uid=text.pk)
        write_reference(membership=author, uid=text.pk, fields=first_answers(cast(AssignmentView, item)))


def release_main(study: StudyUnderTest, reference_set: str, number: int = 1) -> None:
    tree = metadata({"task_id": f"menu-{number}", "reference_set_version": reference_set})
    study.release(upload(study, [output(f"{number}-{n}", f"menu-{number}") for n in range(2)], tree))


def refused(study: StudyUnderTest, name: str = "primary_A") -> str:
    with pytest.raises(Refused) as fault:
        next_assignment(membership=study[name])
    return fault.value.code


def test_another_set_of_references_asks_for_practice_once() -> None:
    study = trained()
    release_main(study, "set-of-autumn")
    assert refused(study) == "practice_first"
    texts = practice_of(membership=study["primary_A"])
    assert len(texts) == 2
    assert all(text.task_statement == "" and text.values for text in texts)
    finish_practice(membership=study["primary_A"])
    assert next_assignment(membership=study["primary_A"]) is not None
    assert refused(study, "primary_B") == "practice_first"
    release_main(study, "set-of-autumn", number=2)
    assert not study["primary_A"].awaits_practice
    assert [e.facts for e in Event.objects.filter(kind="practice_asked")] == [
        {"coders": 2, "without_texts": 0}
    ]
    assert Event.objects.filter(kind="practice_done").count() == 1


def test_the_set_of_the_training_asks_nobody() -> None:
    study = trained()
    release_main(study, "set-of-spring")
    assert not Membership.objects.filter(awaits_practice=True).exists()
    assert next_assignment(membership=study["primary_A"]) is not None


def test_outputs_that_come_without_their_package_are_held_against_it_too() -> None:
    study = trained()
    upload(study, None, metadata({"task_id": "menu-1", "reference_set_version": "set-of-autumn"}))
    study.release(study.import_batch([output(1, "menu-1", task_version="1.0.0")]))
    assert refused(study) == "practice_first"


def test_the_protocol_can_waive_it() -> None:
    study = trained(practice=0)
    release_main(study, "set-of-autumn")
    assert next_assignment(membership=study["primary_A"]) is not None
    assert not Practice.objects.exists()


def test_who_was_never_trained_and_where_no_text_has_a_reference_nobody_waits() -> None:
    study = a_study(phase="coding")
    release_main(study, "set-of-autumn")
    assert next_assignment(membership=study["primary_A"]) is not None
    other = trained_elsewhere()
    assert next_assignment(membership=other["primary_A"]) is not None
    assert Event.objects.get(kind="practice_asked").facts == {"coders": 0, "without_texts": 2}


def trained_elsewhere() -> StudyUnderTest:
    study = a_study("elsewhere", phase="training")
    calib = metadata({"task_id": "trial", "split": "calib", "reference_set_version": "set-of-spring"})
    study.release(upload(study, [output(f"t-{n}", "trial") for n in range(2)], calib, purpose="calibration"))
    for name in ("primary_A", "primary_B"):
        study.code_all(name, first_answers)
    study.finalise()
    study.to("coding")
    release_main(study, "set-of-autumn")
    return study


def test_which_set_it_is_stays_closed() -> None:
    study = trained()
    release_main(study, "set-of-autumn")
    assert rows_that_hold(["set-of-spring", "set-of-autumn"]) == {}


def test_only_who_has_to_practise_finds_the_texts() -> None:
    study = trained()
    with pytest.raises(Refused):
        practice_of(membership=study["primary_A"])
    release_main(study, "set-of-autumn")
    for name in ("admin", "project_author", "adjudicator", "audit", "monitor"):
        with pytest.raises(Absent):
            practice_of(membership=study[name])
    study.to("review")
    with pytest.raises(Refused):
        practice_of(membership=study["primary_A"])


def test_a_browser_is_led_through_it() -> None:
    study = trained()
    release_main(study, "set-of-autumn")
    browser = study.client("primary_A")
    assert "A few practice texts come first." in unescape(browser.get(study.page()).content.decode())
    led = browser.get(study.page("annotate/"))
    assert (led.status_code, led.headers["Location"]) == (302, study.page("practice/"))
    page = browser.get(study.page("practice/")).content.decode()
    assert page.count("should be coded as</summary>") == 2
    assert browser.post(study.page("practice/"), {}).status_code == 422
    done: Any = browser.post(study.page("practice/"), {"confirmed": "on"}, follow=True)
    assert "Item 1 of 2" in done.content.decode()
    assert browser.get(study.page("practice/")).status_code == 409


def test_a_program_is_told_to_practise() -> None:
    study = trained()
    release_main(study, "set-of-autumn")
    program = study.api("primary_B")
    told = program.get(study.url("assignments/next/"))
    assert (told.status_code, told.json()["code"]) == (409, "practice_first")
    assert len(program.get(study.url("practice/")).json()) == 2
    assert program.post(study.url("practice/")).status_code == 204
    assert program.get(study.url("assignments/next/")).status_code == 200
