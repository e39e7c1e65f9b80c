"""Questions about a rule: nobody learns who asks, the answer reaches all coders at once, after lint."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from annotation_app.models import Question
from blinding import clock
from blinding.models import Event
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study

pytestmark = pytest.mark.django_db

QUESTION = "Is a text that only repeats the task noise?"


def ask(study: StudyUnderTest, text: str = QUESTION, role: str = "primary_A") -> Any:
    return study.client(role).post(study.page("questions/"), {"do": "ask", "text": text})


def answer(study: StudyUnderTest, text: str, question: str = "", role: str = "project_author") -> Any:
    sent = {"do": "answer", "question": question or str(Question.objects.get().pk), "answer": text}
    return study.client(role).post(study.page("questions/"), sent)


def read(study: StudyUnderTest, role: str) -> str:
    return text_of(study.client(role).get(study.page("questions/")))


def test_a_question_is_the_askers_and_the_project_authors_until_it_is_answered() -> None:
    study = a_study(phase="coding")
    assert ask(study).status_code == 302
    assert "asked by you" in read(study, "primary_A")
    assert QUESTION not in read(study, "primary_B")
    page = read(study, "project_author")
    assert QUESTION in page
    assert study["primary_A"].alias not in page


def test_the_log_keeps_that_somebody_asked_and_not_who() -> None:
    study = a_study(phase="coding")
    ask(study)
    event = Event.objects.get(kind="question_asked")
    assert (event.actor, event.facts) == (None, {})


def test_an_answer_reaches_all_coders_at_once_and_the_question_only_who_asked() -> None:
    study = a_study(phase="coding")
    ask(study)
    assert answer(study, "Yes, if it adds nothing.").status_code == 302
    assert QUESTION in read(study, "primary_A")
    for role in ("primary_A", "primary_B", "audit", "adjudicator"):
        assert "Yes, if it adds nothing." in read(study, role)
    for role in ("primary_B", "audit", "adjudicator"):
        page = read(study, role)
        assert QUESTION not in page
        assert "Somebody asked about a rule" in page
        assert "asked by you" not in page


def test_others_learn_when_a_question_was_answered_and_not_when_it_was_asked() -> None:
    study = a_study(phase="coding")
    with clock.frozen_at(datetime.fromisoformat("2031-05-05T10:00:00+00:00")) as advance:
        ask(study)
        advance(timedelta(hours=3))
        answer(study, "Yes.")
        page = body_of(study.client("primary_B").get(study.page("questions/")))
    assert "2031-05-05T13:00:00" in page
    assert "2031-05-05T10:00:00" not in page


def test_an_answer_with_a_telling_word_is_refused_and_kept_in_the_form() -> None:
    study = a_study(phase="coding", protocol={"forbidden_vocabulary": ["tides"]})
    ask(study)
    page = text_of(answer(study, "Think of the tides first."), 422)
    assert "“tides”, which coders must not read" in page
    assert "Think of the tides first." in page
    assert "tides" not in read(study, "primary_A")


def test_a_question_is_answered_once() -> None:
    study = a_study(phase="coding")
    ask(study)
    answer(study, "Yes.")
    assert "coders have read it" in text_of(answer(study, "No."), 409)


def test_nothing_is_neither_asked_nor_answered() -> None:
    study = a_study(phase="coding")
    text_of(ask(study, "   "), 422)
    ask(study)
    assert "Write an answer first." in text_of(answer(study, " "), 422)


def test_who_may_not_ask_or_answer_finds_nothing() -> None:
    study = a_study(phase="coding")
    ask(study)
    assert ask(study, role="project_author").status_code == 404
    assert answer(study, "Yes.", role="primary_B").status_code == 404
    assert answer(study, "Yes.", question="no uuid").status_code == 404
    assert answer(study, "Yes.", question="00000000-0000-4000-8000-000000000000").status_code == 404
    assert ask(study, role="monitor").status_code == 404


def test_after_the_lock_nobody_asks() -> None:
    study = a_study(phase="locked")
    assert "Your question" not in read(study, "primary_A")
    assert ask(study).status_code == 409
