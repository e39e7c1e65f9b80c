"""Serving items: the next one in a coder's own order, drafts, skips. Nothing here reads another coder's rows."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, OuterRef, Subquery

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Codebook, Draft, Membership
from annotation_app.services.members import require_declaration
from blinding import clock
from blinding.events import record_event
from blinding.policy import CODERS, Phase, Role


@dataclass(frozen=True)
class SavedDraft:
    version: int
    saved_at: Any


def next_assignment(*, membership: Membership) -> Assignment | None:
    """Return the member's first open item, marking it served; the same one until it is submitted or skipped.

    None when all are done. Raises Absent for who never codes, Refused outside the phases of coding.
    """
    require_coding(membership)
    item = _items(membership).open().in_own_order().first()
    if item is not None:
        serve(item)
    return item


def own_assignment(*, membership: Membership, uid: UUID) -> Assignment:
    """Return one of the member's own items that was served to them. Raises Absent for any other, Refused for one on hold."""
    item = _items(membership).filter(pk=uid, served_at__isnull=False).first()
    if item is None:
        raise Absent
    if item.held_at is not None:
        raise Refused("This item is on hold. Go on with the next one.", code="held")
    return item


def serve(item: Assignment) -> None:
    """Write down once when an item was opened and under which codebook version."""
    if item.served_at is not None:
        return
    now = clock.now()
    codebook = item.codebook_for_serving  # type: ignore[attr-defined]
    if Assignment.objects.filter(pk=item.pk, served_at=None).update(served_at=now, codebook_id=codebook):
        item.served_at, item.codebook_id = now, codebook
    else:  # another tab was first
        item.refresh_from_db(fields=["served_at", "codebook"])


def save_draft(*, membership: Membership, uid: UUID, fields: dict[str, Any], version: int) -> SavedDraft:
    """Keep what was entered so far. `version` is the draft's version this builds on (0: none yet).

    Raises Absent, or Refused with the current version where another tab was faster or the item is closed.
    """
    require_coding(membership)
    if not isinstance(fields, dict) or len(str(fields)) > 200_000:
        raise Invalid.at("fields", "wrong_type", "fields must be an object of at most 200,000 characters.")
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_SAVE_DRAFT, {"fields": _json(fields), "now": now, "uid": uid, "member": membership.pk, "base": version})
        row = cursor.fetchone()
    if row is not None:
        return SavedDraft(row[0], now)
    item = own_assignment(membership=membership, uid=uid)
    if item.final_at is not None or item.voided_at is not None or item.held_at is not None:
        raise Refused("This item is closed; nothing more can be saved for it.", code="closed")
    draft = Draft.objects.filter(pk=uid).first()
    raise Refused(
        "This item was changed in another window. Reload to see it; what you typed here is kept.",
        code="version_conflict",
        version=draft.version if draft else 0,
        fields=draft.fields if draft else {},
    )


def skip_assignment(*, membership: Membership, uid: UUID) -> None:
    """Put an open item at the end of the member's order. Raises Absent, or Refused for one already submitted."""
    require_coding(membership)
    with transaction.atomic():
        own = Assignment.objects.visible_to(membership).filter(pk=uid, served_at__isnull=False)
        if not own.open().update(skips=F("skips") + 1):
            if not own.exists():
                raise Absent
            raise Refused("This item is not open any more, so there is nothing to skip.", code="closed")
        record_event("item_skipped", study=membership.study_id, actor=membership.pk, subject=uid)


def require_coding(membership: Membership) -> None:
    """Raise Absent for a role that never codes; Refused before the declaration and outside the phases of coding."""
    if membership.role not in CODERS and membership.role != Role.ADJUDICATOR:
        raise Absent
    require_declaration(membership)
    phase = membership.study.phase
    open_in = (Phase.CODING, Phase.REVIEW) if membership.role in (Role.AUDIT, Role.ADJUDICATOR) else (Phase.TRAINING, Phase.CODING)
    if phase not in open_in:
        before = phase in (Phase.SETUP, Phase.TRAINING)
        raise Refused("Coding has not begun yet." if before else "Coding is closed.", code="not_coding")


def _items(membership: Membership) -> Any:
    """The member's items of the present phase, each with what a page needs, in one query."""
    newest = Codebook.objects.filter(
        study=membership.study_id, rule_version__lte=OuterRef("output__batch__codebook__rule_version")
    ).order_by("-number")
    return (
        Assignment.objects.visible_to(membership)
        .filter(calibration=membership.study.phase == Phase.TRAINING)
        .select_related("output__task", "output__cluster", "draft", "codebook")
        .defer("codebook__document", "output__batch")
        .annotate(codebook_for_serving=Subquery(newest.values("pk")[:1]))
    )


def _json(value: Any) -> str:
    import json

    return json.dumps(value)


# One statement for both cases, so that two tabs can never both win. A draft needs a served item that is still open to
# the coder: not final, voided or held.
_SAVE_DRAFT = """
WITH own AS (
    SELECT id FROM annotation_app_assignment
     WHERE id = %(uid)s AND member_id = %(member)s AND served_at IS NOT NULL
       AND final_at IS NULL AND voided_at IS NULL AND held_at IS NULL
)
INSERT INTO annotation_app_draft AS d (assignment_id, fields, version, saved_at)
SELECT id, %(fields)s::jsonb, 1, %(now)s FROM own WHERE %(base)s = 0 OR EXISTS (SELECT 1 FROM annotation_app_draft x WHERE x.assignment_id = own.id)
ON CONFLICT (assignment_id) DO UPDATE
   SET fields = EXCLUDED.fields, version = d.version + 1, saved_at = EXCLUDED.saved_at WHERE d.version = %(base)s
RETURNING version
"""
