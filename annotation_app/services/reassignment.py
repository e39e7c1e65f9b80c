"""Work that changes hands: a voided record's output, or what a leaver has not coded."""

from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from annotation_app import signals
from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, Membership, Study
from annotation_app.models.assignment import AssignmentQuerySet
from blinding import clock, entropy
from blinding.events import record_event
from blinding.models import Exposure
from blinding.policy import Role

# What a member who has left the study did not submit.
_LEFT_OPEN = Q(submitted_at=None, member__ended_at__isnull=False)


def void_assignment(item: Assignment, reason: str) -> None:
    """Take an item out of its coder's list and progress, once; a record it has stays stored and leaves the main data."""
    if not Assignment.objects.filter(pk=item.pk, voided_at=None).update(
        voided_at=clock.now(), void_reason=reason
    ):
        return
    if item.position is not None:
        prefix = "calibration" if item.calibration else "main"
        change = {f"{prefix}_total": F(f"{prefix}_total") - 1}
        if item.version:
            change[f"{prefix}_submitted"] = F(f"{prefix}_submitted") - 1
        Membership.objects.filter(pk=item.member_id).update(**change)


def hand_back_case(item: Assignment, reason: str) -> None:
    """Void an adjudicator's item and put its case back into the queue."""
    void_assignment(item, reason)
    signals.case_given_up.send(sender=Assignment, assignment=item)


def hand_back_cases(leaver: Membership) -> None:
    """Put back into the queue what an adjudicator has claimed and not decided."""
    claimed = leaver.assignments.filter(slot=Assignment.Slot.ADJUDICATOR, submitted_at=None, voided_at=None)
    for item in claimed.select_for_update().order_by("pk"):
        hand_back_case(item, "reassigned")


def find_fresh_coder(item: Assignment) -> Assignment | None:
    """Give a voided item's output to the least loaded other member of the slot who has not met it; None if nobody is left."""
    met = Assignment.objects.filter(output=item.output_id).values("member")
    exposed = Exposure.objects.filter(output=item.output_id).values("member")
    others = (
        Membership.objects.current()
        .in_slot(item.slot)
        .filter(study=item.study_id)
        .exclude(pk__in=met)
        .exclude(pk__in=exposed)
    )
    left = Count("assignments", filter=Q(assignments__submitted_at=None, assignments__voided_at=None))
    ordered = others.annotate(left=left).order_by("awaits_gate", "left", "alias")
    fresh = ordered.exclude(pk__in=_met_a_variant(item)).first() or ordered.first()
    return give(item, fresh) if fresh else None


def stranded_items(study: Study) -> AssignmentQuerySet:
    """Return an item for each place of a primary coder in main batches that nobody fills any more.

    Who has left fills the places of what they submitted, and no others."""
    unfilled = Q(voided_at__isnull=False) | _LEFT_OPEN
    filled = Assignment.objects.filter(output=OuterRef("output"), slot=OuterRef("slot")).exclude(unfilled)
    left = Assignment.objects.filter(unfilled, study=study, calibration=False, slot__in=["A", "B"])
    kept = left.filter(output__excluded_at=None, output__task__voided_at=None)
    return kept.exclude(Exists(filled)).order_by("output", "slot", "pk").distinct("output", "slot")


def give_stranded_items(member: Membership) -> int:
    """Give a newcomer what nobody else of the slot was left for; return how many items."""
    of_leavers = Assignment.objects.filter(_LEFT_OPEN, study=member.study, calibration=False, voided_at=None)
    for item in of_leavers.filter(slot=member.slot):
        void_assignment(item, "reassigned")
    left = list(stranded_items(member.study).filter(slot=member.slot, output__frozen_at=None))
    for item in entropy.shuffled(left, "stranded", member.pk):
        give(item, member)
    return len(left)


def _met_a_variant(item: Assignment) -> QuerySet[Assignment, Any]:
    """Return who was given another variant of the item's task."""
    task = item.output.task
    others = Assignment.objects.filter(
        study=item.study_id, output__task__variant_group=task.variant_group or None
    )
    return others.exclude(output__task=task).values("member")


def give(item: Assignment, member: Membership) -> Assignment:
    """Put an item's output at the end of another member's order."""
    own = member.assignments.filter(calibration=item.calibration)
    last = own.aggregate(last=Max("position"))["last"] or 0
    new = Assignment.objects.create(
        record_id=entropy.uuid("record id", f"{item.output_id} {member.pk}"),
        study_id=item.study_id,
        output_id=item.output_id,
        member=member,
        slot=item.slot,
        calibration=item.calibration,
        position=last + 1,
        given_later=True,
    )
    counter = "calibration_total" if item.calibration else "main_total"
    Membership.objects.filter(pk=member.pk).update(**{counter: F(counter) + 1})
    record_event("reassigned", study=item.study_id, actor=None, subject=new.pk, facts={"from": str(item.pk)})
    return new


def reassign_rest(*, membership: Membership, alias: str) -> int:
    """Share out what a member has not submitted among the others of the role; return how many items.

    Raises Absent for who is not the admin or an unknown alias, Refused where nobody else has the role.
    """
    if membership.role != Role.ADMIN:
        raise Absent
    leaver = Membership.objects.filter(study=membership.study_id, alias=alias).first()
    if leaver is None:
        raise Absent
    others = (
        Membership.objects.current().filter(study=membership.study_id, role=leaver.role).exclude(pk=leaver.pk)
    )
    if not others.exists():
        raise Refused(f"Nobody else has the role {leaver.role}. Add a member first.")
    rest = list(leaver.assignments.filter(submitted_at=None, voided_at=None).order_by("position"))
    for item in rest:
        void_assignment(item, "reassigned")
        find_fresh_coder(item)
    return len(rest)
