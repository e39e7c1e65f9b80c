"""Home by role: what is left, what comes next, and nothing that the role may not know."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation_app.models import Question
from annotation_app.services.assignments import next_assignment, save_draft, skip_assignment
from annotation_app.services.codebooks import add_codebook, current_codebook
from annotation_app.services.exposures import recognise
from annotation_app.services.members import add_membership
from annotation_app.services.questions import answer_question, ask_question
from blinding import clock
from blinding.models import StudyKey
from blinding.policy import Role
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


def home(study: StudyUnderTest, role: str) -> str:
    return text_of(study.client(role).get(study.page()))


def test_a_coder_sees_what_is_left_and_begins() -> None:
    study = a_study(phase="coding", outputs=rows())
    page = home(study, "primary_A")
    assert "24 of 24 items left" in page
    assert "Item 1 is next" in page
    assert "Begin" in page
    assert "Batch 1 0 of 24" in page


def test_a_coder_resumes_an_item_with_a_draft() -> None:
    study = a_study(phase="coding", outputs=rows())
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    save_draft(membership=study["primary_A"], uid=item.pk, fields={"f2": "1"}, version=0)
    page = home(study, "primary_A")
    assert "Item 1 is open, with a draft saved at" in page
    assert "Resume item 1" in page


def test_a_coder_finds_what_can_be_revised_and_what_was_skipped() -> None:
    study = a_study(phase="coding", outputs=rows(), protocol={"grace_minutes": 10})
    study.code_all("primary_A", at_most=2)
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    skip_assignment(membership=study["primary_A"], uid=item.pk)
    page = home(study, "primary_A")
    assert "Revise item 1" in page
    assert "Revise item 2" in page
    assert "Code now item 3" in page
    assert "2 submitted, 1 skipped." in page


def test_a_coder_with_nothing_left_is_thanked() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1))
    study.code_all("primary_A")
    page = home(study, "primary_A")
    assert "All 8 items are coded" in page
    assert "Nothing is left to code. Thank you." in page


def test_a_coder_learns_that_an_item_was_set_apart_and_no_result() -> None:
    study = a_study(phase="coding", outputs=rows())
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    recognise(membership=study["primary_A"], uid=item.pk, how="knows")
    page = home(study, "primary_A")
    assert "Recognised 1, set apart" in page
    assert "23 of 23 items left" in page


def test_a_coder_is_told_of_a_codebook_that_is_newer_than_the_last_item() -> None:
    study = a_study(phase="coding", outputs=rows())
    next_assignment(membership=study["primary_A"])
    assert "Changed since your last item" not in home(study, "primary_A")
    document = current_codebook(study.study).document | {"version": "1.1", "kind": "clarification"}
    with clock.frozen_at(datetime.now(UTC) + timedelta(hours=1)):
        add_codebook(membership=study["project_author"], document=document)
    page = home(study, "primary_A")
    assert "Changed since your last item Codebook 1.1 , clarification. It applies at once." in page
    assert "Changed since your last item" not in home(study, "primary_B")


def test_a_coder_is_told_of_an_answer_that_is_newer_than_the_last_item() -> None:
    study = a_study(phase="coding", outputs=rows())
    next_assignment(membership=study["primary_A"])
    ask_question(membership=study["primary_B"], text="Is a list a contrast?")
    with clock.frozen_at(datetime.now(UTC) + timedelta(hours=1)):
        answer_question(membership=study["project_author"], uid=Question.objects.get().pk, answer="It is.")
    page = home(study, "primary_A")
    assert "Changed since your last item A question about a rule was answered. Read the answers" in page
    assert "Changed since your last item" not in home(study, "primary_B")  # who has opened none yet


def test_a_coder_sees_nothing_of_other_coders() -> None:
    study = a_study(phase="coding", outputs=rows())
    before = home(study, "primary_A")
    study.code_all("primary_B")
    study.finalise()
    assert home(study, "primary_A") == before


def test_before_and_after_coding_a_coder_is_told_so() -> None:
    study = a_study()
    assert "Coding has not begun yet." in home(study, "primary_A")
    study.to("coding")
    study.to("review")
    assert "Coding is closed. Thank you." in home(study, "primary_A")


def test_the_project_author_sees_totals_during_coding_and_no_name() -> None:
    study = a_study(phase="coding", outputs=rows())
    study.code_all("primary_A"), study.code_all("primary_B")
    study.settle()
    page = home(study, "project_author")
    assert "24 with two final codes" in page
    assert "Codes submitted 48" in page
    for name in ("primary_A", "primary_B", "adjudicator"):
        assert study[name].alias not in page
    for figure in ("alpha", "agreement of", "disagree", "exposure"):
        assert figure not in page


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("setup", "Next: open coding"),
        ("coding", "Next: close coding"),
        ("review", "Next: lock the data"),
        ("locked", "Next: unblinding, when the analysis is ready for it"),
    ],
)
def test_the_project_author_is_told_what_comes_next(phase: str, words: str) -> None:
    assert words in home(a_study(phase=phase, outputs=rows(tasks=1)), "project_author")


def test_what_is_left_is_counted_in_its_own_words() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=2))
    assert "Next: close coding. Still open: 2 outputs" in home(study, "project_author")
    study.code_all("primary_A"), study.code_all("primary_B", at_most=1)
    study.settle()
    assert "Next: close coding. Still open: 1 output" in home(study, "project_author")


def test_a_coder_learns_that_closing_questions_follow_once_all_is_final() -> None:
    asked = {"share": 1, "conditions": ["meadow", "harbour"], "models": []}
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=2), protocol={"guess": asked})
    told = "A few closing questions follow once what you submitted is final"
    done = lambda: text_of(study.client("primary_A").get(study.page("annotate/")))  # noqa: E731
    study.code_all("primary_A", at_most=1)
    assert told not in home(study, "primary_A")
    study.code_all("primary_A")
    assert told in home(study, "primary_A")
    assert told in done()
    study.finalise()
    assert told not in home(study, "primary_A")
    assert told not in done()
    assert "Closing questions" in done()


def test_the_project_author_adds_a_half_of_the_key_first() -> None:
    study = a_study()
    StudyKey.objects.update(layers=1)
    assert "Next: add your half of the key" in home(study, "project_author")


def test_the_admin_is_told_what_waits() -> None:
    study = a_study(phase="coding")
    assert "Next: upload a batch" in home(study, "admin")
    batch = study.import_batch(rows(), name="Spring")
    assert "Next: review the redactions of Spring" in home(study, "admin")
    study.release(batch)
    assert "Nothing waits for you" in home(study, "admin")
    assert "Next: find the people" in home(a_study("hillside", members={"primary_B": 0}), "admin")


def test_the_adjudicator_learns_that_a_case_waits_and_not_how_many() -> None:
    study = a_study(phase="coding", outputs=rows())
    assert "No case is waiting." in home(study, "adjudicator")
    study.code_all("primary_A"), study.code_all("primary_B")
    study.settle()
    page = home(study, "adjudicator")
    assert "A case is waiting Open the next case" in page
    study.client("adjudicator").get(study.page("cases/"))
    assert "You hold a case" in home(study, "adjudicator")
    study.decide_all(at_most=1)
    assert "Decided by you" in home(study, "adjudicator")


def test_the_monitor_sees_the_log_and_totals_and_no_text() -> None:
    study = a_study(phase="coding", outputs=rows())
    page = body_of(study.client("monitor").get(study.page()))
    assert "Outputs in main batches" in page
    assert "Follow the river" not in page


def test_home_takes_as_many_queries_for_many_studies_as_for_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    study = a_study("riverside")
    client = study.client("primary_A")
    with django_assert_num_queries(5):
        client.get("/")
    for slug in ("hillside", "seaside"):
        other = a_study(slug, members={"monitor": 0})
        add_membership(study=other.study, user=study.user("primary_A"), role=Role.MONITOR)
    with django_assert_num_queries(5):
        assert "Seaside" in body_of(client.get("/"))
