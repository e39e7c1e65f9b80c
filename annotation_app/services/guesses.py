"""Closing guesses: once all of a coder's items are final, some are shown again, and the coder says where they think each
came from. A guess changes nothing, is given once, and is read by nobody before the unblinding."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Guess, Membership, Study
from annotation_app.services.members import require_declaration
from blinding import clock
from blinding.events import record_event
from blinding.policy import PRIMARIES, Phase

# By the neutral key under which a coder answers: the protocol's list of choices, and the guess's own field.
KEYS = {"g1": ("conditions", "condition"), "g2": ("models", "model")}
DONT_KNOW = ""


@dataclass(frozen=True)
class GuessQuestion:
    """A question and its choices as {value, label}; not knowing comes first and is an answer."""

    key: str
    options: list[dict[str, str]]


@dataclass(frozen=True)
class GuessItem:
    """An item shown again, read-only; `number` of `total` to be guessed at."""

    assignment_uid: UUID
    number: int
    total: int
    task_code: str
    task_statement: str
    text: str
    html: str
    questions: list[GuessQuestion]


def next_guess(*, membership: Membership) -> GuessItem | None:
    """Return the member's next item to guess at, None when there is none (or the protocol asks for no guess).

    Raises Absent for who is no primary coder, Refused before all of the member's items are final and after the lock.
    """
    _require_open(membership)
    drawn = _drawn(membership)
    item = drawn.filter(guess=None).select_related("output__task").order_by("position").first()
    asked = questions_of(membership.study)
    if item is None or not asked:
        return None
    return GuessItem(
        assignment_uid=item.pk,
        number=drawn.exclude(guess=None).count() + 1,
        total=drawn.count(),
        task_code=item.output.task.code,
        task_statement=item.output.task.statement,
        text=item.output.text,
        html=item.output.html,
        questions=asked,
    )


def guesses_due(*, membership: Membership) -> int:
    """Return how many items the member can guess at now; 0 where it is not time, without a fault."""
    if membership.role not in PRIMARIES or not questions_of(membership.study) or not _is_time(membership):
        return 0
    return _drawn(membership).filter(guess=None).count()


def guesses_open(study: Study) -> tuple[int, int]:
    """Return how many closing questions of a study are answered, and how many it draws."""
    if not questions_of(study):
        return 0, 0
    drawn = Assignment.objects.filter(study=study, guess_drawn=True, voided_at=None)
    return drawn.exclude(guess=None).count(), drawn.count()


def are_guesses_coming(*, membership: Membership) -> bool:
    """Return whether closing questions follow for the member once what is submitted is final."""
    if membership.role not in PRIMARIES or not questions_of(membership.study) or _is_time(membership):
        return False
    own = Assignment.objects.visible_to(membership).filter(calibration=False, guess_drawn=True, held_at=None)
    return membership.study.phase == Phase.CODING and own.exists()


def guess(*, membership: Membership, uid: UUID, answers: Mapping[str, Any], reason: str = "") -> None:
    """Store a guess, once. `answers` by the questions' keys; null or "" for not knowing, which an absent key is not.

    Raises Absent, Refused for an item that was guessed at, Invalid for a missing or unknown answer.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT phase FROM annotation_app_study WHERE id = %s FOR SHARE", [membership.study_id]
            )
            membership.study.phase = cursor.fetchone()[0]
        _require_open(membership)
        item = _drawn(membership).filter(pk=uid).first()
        if item is None:
            raise Absent
        chosen = _read(membership.study, answers)
        try:
            with transaction.atomic():
                Guess.objects.create(assignment=item, reason=reason.strip(), guessed_at=clock.now(), **chosen)
        except IntegrityError as fault:
            raise Refused(_("You have guessed at this item already."), code="already_guessed") from fault
        record_event("guess_given", study=membership.study_id, actor=membership.pk, subject=item.pk)


def questions_of(study: Study) -> list[GuessQuestion]:
    """Return the questions that the protocol lists choices for."""
    asked = study.protocol["guess"]
    return [
        GuessQuestion(
            key,
            [
                {"value": DONT_KNOW, "label": "I don’t know"},
                *({"value": c, "label": c} for c in asked[choices]),
            ],
        )
        for key, (choices, _) in KEYS.items()
        if asked[choices]
    ]


def _require_open(membership: Membership) -> None:
    if membership.role not in PRIMARIES:
        raise Absent
    require_declaration(membership)
    if not _is_time(membership):
        closed = membership.study.phase in (Phase.LOCKED, Phase.UNBLINDED)
        raise Refused(
            _("The data are locked; nothing is asked any more.")
            if closed
            else _("This comes once all of your items are final."),
            code="not_time",
        )


def _is_time(membership: Membership) -> bool:
    """In coding once everything is final; in review, where nothing else can become so, at once."""
    if membership.study.phase == Phase.REVIEW:
        return True
    own = Assignment.objects.live().filter(member=membership, calibration=False)
    return membership.study.phase == Phase.CODING and own.exists() and not own.filter(final_at=None).exists()


def _drawn(membership: Membership) -> QuerySet[Assignment]:
    return Assignment.objects.visible_to(membership).final().filter(guess_drawn=True, held_at=None)


def _read(study: Study, answers: Mapping[str, Any]) -> dict[str, str]:
    asked = {question.key: question for question in questions_of(study)}
    if unknown := set(answers) - set(asked):
        raise Invalid.at(min(unknown), "unknown", _("This is not asked."))
    chosen = {}
    for key, question in asked.items():
        if key not in answers:
            raise Invalid.at(key, "required", _("Choose an answer; not knowing is one."))
        value = DONT_KNOW if answers[key] is None else answers[key]
        if value not in [option["value"] for option in question.options]:
            raise Invalid.at(key, "unknown", _("Choose one of the answers listed."))
        chosen[KEYS[key][1]] = value
    return chosen
