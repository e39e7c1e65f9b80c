"""Voiding a task version: its outputs leave the main figures, counted, and nobody is asked to code them any more."""

from typing import Any

import pytest

from adjudication.models import Case
from adjudication.services.reports import load_pairs
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Task
from annotation_app.projections import AssignmentView
from annotation_app.services.exports import count_records
from annotation_app.services.task_metadata import void_task_version
from blinding.models import Event
from tests.annotation_app.ceremony import unblind
from tests.annotation_app.task_uploads import output
from tests.factories import WHY, StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db


def void(study: StudyUnderTest, task_id: str = "task-1", by: str = "admin") -> None:
    task = Task.objects.get(study=study.study, task_id=task_id)
    void_task_version(membership=study[by], uid=task.pk, reason="The reference was wrong.")


@pytest.fixture
def coding() -> StudyUnderTest:
    """Two tasks by four outputs; A has coded all, B half of them, differently."""
    study = a_study(phase="coding", outputs=rows(tasks=2, per_task=4))
    study.code_all("primary_A", first_answers)
    study.code_all("primary_B", otherwise, at_most=4)
    study.settle()
    return study


def otherwise(view: AssignmentView) -> dict[str, Any]:
    """Differ from `first_answers` in one question."""
    answers = first_answers(view)
    question = next(control for control in view.form["fields"] if control["kind"] == "radio")
    return answers | {question["key"]: question["options"][1]["value"]}


def test_open_items_leave_their_lists_and_the_progress(coding: StudyUnderTest) -> None:
    before = coding["primary_B"].main_total
    open_items = Assignment.objects.open().filter(output__task__task_id="task-1").count()
    void(coding)
    assert not Assignment.objects.open().filter(output__task__task_id="task-1").exists()
    assert coding["primary_B"].main_total == before - open_items
    assert coding.code_all("primary_B", otherwise) == 4 - open_items
    event = Event.objects.get(kind="task_voided")
    assert event.facts == {"reason": "The reference was wrong.", "outputs": 4, "items": open_items}


def test_its_cases_are_withdrawn_and_others_stay(coding: StudyUnderTest) -> None:
    coding.code_all("primary_B", otherwise)
    coding.settle()
    of_task = Case.objects.filter(output__task__task_id="task-1")
    others = Case.objects.exclude(output__task__task_id="task-1").filter(state="open").count()
    assert of_task.filter(state="open").exists()
    void(coding)
    assert not of_task.filter(state="open").exists()
    assert set(of_task.values_list("closed_because", flat=True)) == {"task_voided"}
    assert Case.objects.filter(state="open").count() == others
    coding.settle()
    assert not of_task.filter(state="open").exists()


def test_its_records_leave_the_export_and_are_counted_out_of_agreement(coding: StudyUnderTest) -> None:
    coding.code_all("primary_B", otherwise)
    coding.settle()
    before = count_records(coding.study)
    void(coding)
    assert count_records(coding.study) == before - 8
    pairs, _ = load_pairs(coding.study)
    assert [pair.reason for pair in pairs].count("task_voided") == 4
    assert len(pairs) == 8


def test_only_the_admin_voids_with_a_reason_and_once(coding: StudyUnderTest) -> None:
    for name in ("project_author", "primary_A", "adjudicator", "monitor"):
        with pytest.raises(Absent):
            void(coding, by=name)
    task = Task.objects.get(task_id="task-1")
    with pytest.raises(Invalid):
        void_task_version(membership=coding["admin"], uid=task.pk, reason=" ")
    void(coding)
    with pytest.raises(Refused, match="before"):
        void(coding)


def test_a_task_of_another_study_is_absent(coding: StudyUnderTest) -> None:
    other = a_study("elsewhere")
    with pytest.raises(Absent):
        void_task_version(
            membership=other["admin"], uid=Task.objects.get(task_id="task-1").pk, reason="Not mine."
        )


def test_outputs_of_a_voided_version_are_not_taken_any_more(coding: StudyUnderTest) -> None:
    waiting = coding.import_batch([output(1, "task-1")])
    void(coding)
    again = coding.import_batch([output(2, "task-1")])
    assert [error["code"] for error in again.errors] == ["task_voided"]
    answer = coding.api("admin").post(coding.url(f"batches/{waiting.pk}/release/"), {"reason": WHY})
    assert answer.status_code == 409
    assert "voided" in answer.json()["detail"]
    fresh = coding.import_batch([output(3, "task-1", task_version="2.0.0")])
    assert fresh.status == "in_review", fresh.errors


def test_nothing_is_voided_behind_the_lock() -> None:
    study = a_study(phase="locked", outputs=rows(tasks=1, per_task=2))
    with pytest.raises(Refused, match="lock"):
        void(study)


def test_the_interface_voids_and_lists(coding: StudyUnderTest) -> None:
    admin = coding.api("admin")
    listed = {row["task_id"]: row for row in admin.get(coding.url("tasks/")).json()}
    assert listed["task-1"]["outputs"] == 4
    url = coding.url(f"tasks/{listed['task-1']['uid']}/void/")
    assert admin.post(url, {"reason": ""}).status_code == 400
    for name in ("primary_A", "project_author", "monitor"):
        assert coding.api(name).post(url, {"reason": WHY}).status_code == 404
    assert admin.post(url, {"reason": WHY}).json()["outputs"] == 4
    assert admin.post(url, {"reason": WHY}).status_code == 409
    (row,) = [row for row in admin.get(coding.url("tasks/")).json() if row["task_id"] == "task-1"]
    assert row["void_reason"] == WHY
    assert coding.api("project_author").get(coding.url("tasks/")).status_code == 409
    assert coding.api("primary_A").get(coding.url("tasks/")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_after_the_unblinding_it_is_a_post_unblinding_change() -> None:
    from annotation_app.services.bundles.log import changes_after

    study = a_study(phase="locked", outputs=rows(tasks=2, per_task=2))
    unblind(study)
    before = count_records(study.study)
    void(study)
    assert count_records(study.study) == before - 4
    (change,) = [one for one in changes_after(study.study) if one["kind"] == "task_voided"]
    assert change["post_unblinding"] is True
    assert Case.objects.filter(state="withdrawn").count() == 0
