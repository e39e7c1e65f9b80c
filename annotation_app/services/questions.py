"""Questions about a rule: asked without a name, answered to all coders at once after lint."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership, Question
from annotation_app.vocabulary import forbidden_words
from blinding import clock
from blinding.events import record_event
from blinding.policy import CODERS, Role
from blinding.vocabulary import lint_texts

LONGEST = 4000
ASKING = (*CODERS, Role.ADJUDICATOR)


@dataclass(frozen=True)
class QuestionView:
    """A question as its reader may know it: never who asked."""

    uid: UUID
    text: str
    asked_at: datetime | None
    answer: str
    answered_at: datetime | None
    mine: bool


def may_ask(membership: Membership) -> bool:
    return membership.role in ASKING and membership.study.is_writable


def questions_of(*, membership: Membership) -> list[QuestionView]:
    """Return what a member may read, open ones first: the project author all questions, others their own and what
    was answered. Raises Absent for a role that neither codes nor answers.

    Of somebody else's question there is the answer only, which was linted, and its time: the asker's own words could
    carry a message from one coder to the other, and their time would tell when somebody works.
    """
    if membership.role not in (*ASKING, Role.PROJECT_AUTHOR):
        raise Absent
    found = Question.objects.filter(study=membership.study_id).order_by(
        F("answered_at").desc(nulls_first=True), "-asked_at", "pk"
    )
    return [_shown(q, membership) for q in found if _may_read(q, membership)]


def count_open_questions(membership: Membership) -> int:
    return Question.objects.filter(study=membership.study_id, answered_at=None).count()


def count_answers_since(membership: Membership, moment: datetime) -> int:
    """Return how many questions, of whoever, were answered to all coders after `moment`."""
    return Question.objects.filter(study=membership.study_id, answered_at__gt=moment).count()


def ask_question(*, membership: Membership, text: str) -> None:
    """Send a question to the project author; the log keeps that one was asked, not by whom.

    Raises Absent for who neither codes nor adjudicates, Refused once the data are locked, Invalid without a text.
    """
    if membership.role not in ASKING:
        raise Absent
    if not membership.study.is_writable:
        raise Refused(_("The data are locked; no rule can change any more."))
    if not text.strip():
        raise Invalid.at("text", "required", _("Write your question first."))
    with transaction.atomic():
        question = Question.objects.create(
            study=membership.study, asked_by=membership, text=text.strip()[:LONGEST], asked_at=clock.now()
        )
        record_event("question_asked", study=membership.study_id, actor=None, subject=question.pk)


def answer_question(*, membership: Membership, uid: UUID, answer: str) -> None:
    """Answer a question, to all coders at once.

    Raises Absent for who is not the project author or an unknown question, Refused for one answered before, Invalid
    for an empty answer or one that uses a word which coders must not read.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    with transaction.atomic():
        question = Question.objects.select_for_update().filter(study=membership.study_id, pk=uid).first()
        if question is None:
            raise Absent
        if question.answered_at is not None:
            raise Refused(
                _("This question is answered; coders have read it. Publish a clarification instead.")
            )
        question.answer, question.answered_at = _checked(membership, answer), clock.now()
        question.save(update_fields=["answer", "answered_at"])
        record_event("question_answered", study=membership.study_id, actor=membership.pk, subject=question.pk)


def _checked(membership: Membership, answer: str) -> str:
    text = answer.strip()[:LONGEST]
    if not text:
        raise Invalid.at("answer", "required", _("Write an answer first."))
    hits = lint_texts({"answer": text}, forbidden_words(membership.study))
    if hits:
        raise Invalid(
            [
                {
                    "field": place,
                    "rule": "forbidden_vocabulary",
                    "message": f"The answer uses “{word}”, which coders must not read. Put it in other words.",
                }
                for place, word in hits
            ]
        )
    return text


def _may_read(question: Question, membership: Membership) -> bool:
    if membership.role == Role.PROJECT_AUTHOR:
        return True
    return question.asked_by_id == membership.pk or question.answered_at is not None


def _shown(question: Question, membership: Membership) -> QuestionView:
    mine = question.asked_by_id == membership.pk
    in_full = mine or membership.role == Role.PROJECT_AUTHOR
    return QuestionView(
        uid=question.pk,
        text=question.text if in_full else "",
        asked_at=question.asked_at if in_full else None,
        answer=question.answer,
        answered_at=question.answered_at,
        mine=mine,
    )
