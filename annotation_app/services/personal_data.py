"""What is kept about one person, for that person."""

from typing import Any

from django.contrib.auth.models import User

from annotation_app.models import Assignment, Membership
from annotation_app.record_schema import Payload, to_neutral
from annotation_app.services.contexts import context_of
from annotation_app.services.forms import form_of


def personal_data(user: User) -> dict[str, Any]:
    """Return the account, the memberships, and for each item served its times and the person's own codes, in the
    interface's own keys."""
    members = Membership.objects.filter(user=user).select_related("study")
    return {
        "username": user.get_username(),
        "joined": user.date_joined,
        "last_sign_in": user.last_login,
        "memberships": [_membership(m) for m in members],
    }


def _membership(member: Membership) -> dict[str, Any]:
    items = (
        member.assignments.filter(served_at__isnull=False)
        .select_related("output__task", "output__cluster")
        .order_by("position")
    )
    return {
        "study": member.study.title,
        "role": member.role if member.slot not in ("A", "B", "audit") else "annotator",
        "pseudonym": member.alias,
        "joined_at": member.joined_at,
        "declared_at": member.declared_at,
        "items": [_item(member, item) for item in items],
    }


def _item(member: Membership, item: Assignment) -> dict[str, Any]:
    form = form_of(member.study, item.codebook_id)  # type: ignore[arg-type]
    context = context_of(item)
    versions = [
        {
            "version": r.version,
            "submitted_at": r.submitted_at,
            "active_seconds": r.active_seconds,
            "idle_seconds": r.idle_seconds,
            "answers": to_neutral(form, Payload(r.payload, r.flag_reason), context),
        }
        for r in item.records.order_by("version")
    ]
    return {"position": item.position, "opened_at": item.served_at, "versions": versions}
