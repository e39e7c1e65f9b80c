"""Serving items: the next one in a coder's own order, drafts, skips. Nothing here reads another coder's rows."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DataError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Draft, Membership
from annotation_app.record_schema.neutral import scrubbed
from annotation_app.services.gates import require_passed
from annotation_app.services.items import serve_next, served_item
from annotation_app.services.members import require_declaration
from annotation_app.services.statements import Statement
from blinding import clock
from blinding.events import record_event
from blinding.policy import CODERS, Disclosure, Phase, Role

DRAFT_MAX = 200_000  # characters of JSON


@dataclass(frozen=True)
class SavedDraft:
    version: int
    saved_at: datetime


# One statement for the first draft and all later ones, so that two tabs can never both win. A draft needs a served item
# that is still open to the coder: not final, voided or held.
_SAVE_DRAFT = Statement("""
WITH own AS (
    SELECT id FROM annotation_app_assignment
     WHERE id = %(uid)s AND member_id = %(member)s AND served_at IS NOT NULL
       AND final_at IS NULL AND voided_at IS NULL AND held_at IS NULL
)
INSERT INTO annotation_app_draft AS d (assignment_id, fields, version, saved_at, active_seconds, idle_seconds)
SELECT id, %(fields)s::jsonb, 1, %(now)s, %(active)s, %(idle)s FROM own
 WHERE %(base)s = 0 OR EXISTS (SELECT 1 FROM annotation_app_draft x WHERE x.assignment_id = own.id)
ON CONFLICT (assignment_id) DO UPDATE
   SET fields = EXCLUDED.fields, version = d.version + 1, saved_at = EXCLUDED.saved_at,
       active_seconds = EXCLUDED.active_seconds, idle_seconds = EXCLUDED.idle_seconds
 WHERE d.version = %(base)s
RETURNING version
""")


def next_assignment(*, membership: Membership) -> Assignment | None:
    """Return the member's first open item, marking it served; the same one until it is submitted or skipped.

    None when all are done. Raises Absent for who has no list of items, Refused outside the phases of coding.
    """
    require_coder(membership)
    require_coding(membership)
    require_passed(membership)
    return serve_next(membership.pk, calibration=membership.study.phase == Phase.TRAINING, now=clock.now())


def own_assignment(*, membership: Membership, uid: UUID) -> Assignment:
    """Return one of the member's own items that was served to them, to be read or coded.

    Raises Absent for any other, Refused for one on hold and where texts are closed to the member.
    """
    item = served_item(membership.pk, uid)
    if item is None:
        raise Absent
    if not membership.may_learn(Disclosure.TEXT):
        raise Refused(_("Texts are closed to you now. What you submitted stays as it is."), code="closed")
    if item.held_at is not None:
        raise Refused(_("This item is on hold. Go on with the next one."), code="held")
    return item


def save_draft(
    *,
    membership: Membership,
    uid: UUID,
    fields: dict[str, Any],
    version: int,
    active_seconds: int = 0,
    idle_seconds: int = 0,
) -> SavedDraft:
    """Keep what was entered so far. `version` is the draft's version this builds on (0: none yet).

    Raises Absent, or Refused with the current version where another tab was faster or the item is closed.
    """
    require_coding(membership)
    text = json.dumps(scrubbed(fields))
    if not isinstance(fields, dict) or len(text) > DRAFT_MAX:
        message = f"fields must be an object of at most {DRAFT_MAX:,} characters."
        raise Invalid.at("fields", "wrong_type", message)
    now, spent = clock.now(), {"active": active_seconds, "idle": idle_seconds}
    try:
        saved = _SAVE_DRAFT.first(uid=uid, member=membership.pk, fields=text, now=now, base=version, **spent)
    except DataError as fault:
        raise Invalid.at("fields", "unstorable", _("fields hold a character that cannot be kept.")) from fault
    if saved is None:
        raise _not_saved(membership, uid)
    return SavedDraft(saved[0], now)


def skip_assignment(*, membership: Membership, uid: UUID) -> None:
    """Put an open item at the end of the member's order. Raises Absent, or Refused for one already submitted."""
    require_coder(membership)
    require_coding(membership)
    with transaction.atomic():
        own = Assignment.objects.visible_to(membership).filter(pk=uid, served_at__isnull=False)
        if not own.open().update(skips=F("skips") + 1):
            if not own.exists():
                raise Absent
            raise Refused(_("This item is not open any more, so there is nothing to skip."), code="closed")
        record_event("item_skipped", study=membership.study_id, actor=membership.pk, subject=uid)


def require_coder(membership: Membership) -> None:
    """Raise Absent for a role without a list of items: an adjudicator's come as cases."""
    if membership.role not in CODERS:
        raise Absent


def require_coding(membership: Membership) -> None:
    """Raise Absent for a role that never codes; Refused before the declaration and outside the phases of coding."""
    if membership.role not in CODERS and membership.role != Role.ADJUDICATOR:
        raise Absent
    require_declaration(membership)
    phase = membership.study.phase
    open_in = (
        (Phase.CODING, Phase.REVIEW)
        if membership.role in (Role.AUDIT, Role.ADJUDICATOR)
        else (Phase.TRAINING, Phase.CODING)
    )
    if phase not in open_in:
        before = phase in (Phase.SETUP, Phase.TRAINING)
        raise Refused(_("Coding has not begun yet.") if before else _("Coding is closed."), code="not_coding")


def _not_saved(membership: Membership, uid: UUID) -> Absent | Refused:
    """Say why a draft was not saved."""
    item = Assignment.objects.visible_to(membership).filter(pk=uid, served_at__isnull=False).first()
    if item is None:
        return Absent()
    if item.final_at is not None or item.voided_at is not None or item.held_at is not None:
        return Refused(_("This item is closed; nothing more can be saved for it."), code="closed")
    draft = Draft.objects.filter(pk=uid).first()
    return Refused(
        _("This item was changed in another window. Reload to see it; what you typed here is kept."),
        code="version_conflict",
        version=draft.version if draft else 0,
        fields=draft.fields if draft else {},
    )
