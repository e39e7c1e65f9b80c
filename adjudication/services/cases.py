"""The adjudicator's queue: claiming a case under a lease with a fencing number, and what a claimed case shows."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from adjudication.models import Case, CaseQuerySet
from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, Membership, Study
from annotation_app.services.assignments import require_coding
from annotation_app.services.reassignment import void_assignment
from blinding import clock, entropy
from blinding.events import record_event
from blinding.policy import Role

LEASE = timedelta(minutes=45)


@dataclass(frozen=True)
class Claim:
    """A case in the hands of one adjudicator, until somebody else claims it after the lease."""

    case: Case
    assignment: Assignment


def claim_next_case(*, membership: Membership) -> Claim | None:
    """Give the member their claimed case again, or the next free one; None when no case waits.

    Two adjudicators asking at once get different cases, one who asks twice at once gets one. Raises Absent for another
    role and for who has left meanwhile, Refused outside coding and review.
    """
    _require_adjudicator(membership)
    with transaction.atomic():
        if not Membership.objects.current().select_for_update(no_key=True).filter(pk=membership.pk).exists():
            raise Absent
        case = _own(membership) or _lapsed(membership) or _unclaimed(membership)
        if case is None:
            return None
        return _claim(membership, case)


def claimed_case(*, membership: Membership, uid: UUID) -> Claim:
    """Return a case the member holds. Raises Absent for any other, Refused for one that is closed or on hold."""
    _require_adjudicator(membership)
    case = Case.objects.visible_to(membership).filter(pk=uid).select_related("comparison", "study").first()
    if case is None or case.assignment_id is None:
        raise Absent
    if case.state != Case.State.OPEN:
        raise Refused(_("This case is closed."), code="case_closed")
    claim = Claim(case, _assignment(case))
    if claim.assignment.held_at is not None:
        raise Refused(_("This case is on hold. Go on with the next one."), code="held")
    return claim


def _require_adjudicator(membership: Membership) -> None:
    if membership.role != Role.ADJUDICATOR:
        raise Absent
    require_coding(membership)


def _own(membership: Membership) -> Case | None:
    mine = Case.objects.open().filter(
        study=membership.study_id, claimed_by=membership, output__frozen_at=None
    )
    return mine.select_for_update(of=["self"]).order_by("place").first()


def _lapsed(membership: Membership) -> Case | None:
    """Return a case whose lease is over, with its assignment locked too: whoever acts on that now keeps the case."""
    over = _not_met(membership).filter(
        lease_until__lt=clock.now(), assignment__slot=Assignment.Slot.ADJUDICATOR
    )
    locked = over.select_related("assignment").select_for_update(skip_locked=True, of=["self", "assignment"])
    return locked.order_by("place").first()


def _unclaimed(membership: Membership) -> Case | None:
    free = _not_met(membership).filter(claimed_by=None)
    return free.select_for_update(skip_locked=True, of=["self"]).order_by("place").first()


def _not_met(membership: Membership) -> CaseQuerySet:
    met = Assignment.objects.filter(member=membership).values("output")
    waiting = Case.objects.open().filter(study=membership.study_id, output__frozen_at=None)
    return waiting.exclude(output__in=met)


def _claim(membership: Membership, case: Case) -> Claim:
    now = clock.now()
    fresh = case.claimed_by_id != membership.pk
    if fresh:
        if case.assignment_id is not None:
            void_assignment(_assignment(case), "lease_lapsed")
        case.assignment = _adjudicator_assignment(membership, case)
        case.claimed_by = membership
        case.claim_no += 1
        record_event(
            "case_claimed",
            study=case.study_id,
            actor=membership.pk,
            subject=case.pk,
            facts={"claim_no": case.claim_no},
        )
    case.lease_until = now + LEASE
    case.save(update_fields=["assignment", "claimed_by", "claim_no", "lease_until"])
    return Claim(case, _assignment(case))


def _adjudicator_assignment(membership: Membership, case: Case) -> Assignment:
    now = clock.now()
    codebook = case.comparison.record_a.codebook_id
    return Assignment.objects.create(
        record_id=entropy.uuid("record id", case.pk),
        study_id=case.study_id,
        output_id=case.output_id,
        member=membership,
        slot=Assignment.Slot.ADJUDICATOR,
        served_at=now,
        codebook_id=codebook,
    )


def _assignment(case: Case) -> Assignment:
    assert case.assignment_id is not None
    return Assignment.objects.select_related("output__task", "output__cluster", "codebook").get(
        pk=case.assignment_id
    )


def give_up_case(assignment: Assignment) -> None:
    """Put a claimed case back into the queue for somebody else; its drafts go, and later writes of this claim are refused."""
    for case in Case.objects.select_for_update().open().filter(assignment=assignment):
        case.claimed_by, case.lease_until, case.assignment = None, None, None
        case.claim_no += 1
        case.save(update_fields=["claimed_by", "lease_until", "assignment", "claim_no"])
        case.drafts.all().delete()
        record_event("case_given_up", study=case.study_id, actor=assignment.member_id, subject=case.pk)


def open_cases(study: Study) -> int:
    return Case.objects.open().filter(study=study).count()
