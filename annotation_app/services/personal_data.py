"""What is kept about one person, for that person."""

from typing import Any

from django.contrib.auth.models import User

from annotation_app.models import Assignment, Guess, Membership, Question, TrainingGate
from annotation_app.record_schema import Payload, to_draft, to_neutral
from annotation_app.services.contexts import context_of
from annotation_app.services.forms import form_of
from annotation_app.services.guesses import KEYS
from blinding.models import Exposure

RECOGNISED = ("says_so", "knows", "hunch")  # what a person said; other entries of the ledger are not theirs


def personal_data(user: User) -> dict[str, Any]:
    """Return the account, the memberships, and for each item served its times and all that the person entered, in the
    interface's own keys."""
    members = Membership.objects.filter(user=user).select_related("study")
    return {
        "username": user.get_username(),
        "joined": user.date_joined,
        "last_sign_in": user.last_login,
        "memberships": [_membership(m) for m in members],
    }


def _membership(member: Membership) -> dict[str, Any]:
    items = member.assignments.filter(served_at__isnull=False).order_by("calibration", "position", "pk")
    items = items.select_related("output__task", "output__cluster", "draft", "guess")
    gate = TrainingGate.objects.filter(member=member).first()
    asked = Question.objects.filter(asked_by=member).order_by("asked_at")
    return {
        "study": member.study.title,
        "role": member.role if member.slot not in ("A", "B", "audit") else "annotator",
        "pseudonym": member.alias,
        "joined_at": member.joined_at,
        "declared_at": member.declared_at,
        "passed_on_at": gate.passed_at if gate else None,
        "questions": [{"text": q.text, "asked_at": q.asked_at} for q in asked],
        "items": [_item(member, item) for item in items],
    }


def _item(member: Membership, item: Assignment) -> dict[str, Any]:
    draft, guess = getattr(item, "draft", None), getattr(item, "guess", None)
    said = Exposure.objects.filter(member=member.pk, output=item.output_id, how__in=RECOGNISED)
    return {
        "position": item.position,
        "opened_at": item.served_at,
        "skipped": item.skips,
        "draft": _draft(member, item) if draft else None,
        "versions": _versions(member, item),
        "corrections": list(item.errata.order_by("reported_at").values("text", "reported_at")),
        "recognised": list(said.order_by("exposed_at").values("how", "what", "exposed_at")),
        "closing_answers": _closing(guess) if guess else None,
    }


def _draft(member: Membership, item: Assignment) -> dict[str, Any]:
    form = form_of(member.study, item.codebook_id)  # type: ignore[arg-type]
    return {
        "saved_at": item.draft.saved_at,
        "answers": to_draft(form, item.draft.fields, context_of(item)),
        "active_seconds": item.draft.active_seconds,
        "idle_seconds": item.draft.idle_seconds,
    }


def _versions(member: Membership, item: Assignment) -> list[dict[str, Any]]:
    form, context = form_of(member.study, item.codebook_id), context_of(item)  # type: ignore[arg-type]
    return [
        {
            "version": r.version,
            "submitted_at": r.submitted_at,
            "active_seconds": r.active_seconds,
            "idle_seconds": r.idle_seconds,
            "answers": to_neutral(form, Payload(r.payload, r.flag_reason), context),
        }
        for r in item.records.order_by("version")
    ]


def _closing(guess: Guess) -> dict[str, Any]:
    given = {key: getattr(guess, name) for key, (_, name) in KEYS.items()}
    return given | {"reason": guess.reason, "answered_at": guess.guessed_at}
