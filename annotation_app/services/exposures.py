"""A coder recognises where an output comes from. A hunch stays in; the other answers, before finality, are an exposure."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from annotation_app import signals
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Membership
from annotation_app.services.assignments import require_coder, require_coding
from annotation_app.services.reassignment import find_fresh_coder, hand_back_case, void_assignment
from blinding import clock
from blinding.events import OF_CASES, record_event
from blinding.models import Exposure

HOW = ("says_so", "knows", "hunch")
RECOGNISED_IN_A_CASE = f"{OF_CASES}recognised"  # an event of a case: it tells that there is one


def recognise(*, membership: Membership, uid: UUID, how: str, what: str = "") -> None:
    """Record that the member recognises the source of an item, and go on without a word about the result.

    `how` says_so or knows before finality: the item leaves the member's list, the main data and alpha, and the output
    gets a fresh coder if there is one. A case's item is final with its decision. Raises Absent, Invalid for an unknown
    answer.
    """
    if how not in HOW:
        raise Invalid.at("how", "unknown", f"The answer must be one of: {', '.join(HOW)}.")
    require_coding(membership)
    with transaction.atomic():
        item = (
            Assignment.objects.visible_to(membership)
            .select_for_update()
            .filter(pk=uid, served_at__isnull=False, voided_at=None)
            .first()
        )
        if item is None:
            raise Absent
        exposure = Exposure.objects.create(
            study=membership.study_id,
            output=item.output_id,
            member=membership.pk,
            assignment=item.pk,
            how=how,
            what=what,
            before_final=item.final_at is None,
            exposed_at=clock.now(),
        )
        record_event(
            RECOGNISED_IN_A_CASE if item.slot == Assignment.Slot.ADJUDICATOR else "source_recognised",
            study=membership.study_id,
            actor=membership.pk,
            subject=item.pk,
            facts={"exposure": str(exposure.pk)},
        )
        if how != "hunch" and item.final_at is None:
            set_apart(item)


def set_apart(item: Assignment) -> None:
    """Void an exposed item and give its output to somebody else who has not met it, if there is one.

    A primary coder's exposure takes the output's pair out of comparison; an adjudicator's only frees the case.
    """
    if item.slot == Assignment.Slot.ADJUDICATOR:
        hand_back_case(item, "exposed")
        return
    void_assignment(item, "exposed")
    find_fresh_coder(item)
    if item.slot in (Assignment.Slot.A, Assignment.Slot.B):
        signals.pair_withdrawn.send(sender=Assignment, output=item.output_id, reason="exposed")


def opt_out(*, membership: Membership, uid: UUID) -> None:
    """Take an item out of the member's list without a reason, for somebody else who has not met it, if there is one.

    It is no exposure and does not look like one, and does not tell whether anybody is left: that would tell what others
    have met. Raises Absent, or Refused for one that is not open any more.
    """
    require_coder(membership)
    require_coding(membership)
    with transaction.atomic():
        own = Assignment.objects.visible_to(membership).filter(pk=uid, served_at__isnull=False)
        item = own.select_for_update().open().first()
        if item is None:
            if not own.exists():
                raise Absent
            raise Refused(
                _("This item is not open any more, so there is nothing to give back."), code="closed"
            )
        void_assignment(item, "opted_out")
        find_fresh_coder(item)
        record_event("item_given_back", study=membership.study_id, actor=membership.pk, subject=uid)
