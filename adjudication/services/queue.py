"""What an adjudicator may know of the queue: whether a case waits, the one they hold, those they decided."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from adjudication.models import Case, Decision
from annotation_app.models import Assignment, Membership
from blinding import clock

LISTED = 20


@dataclass(frozen=True)
class DecidedRow:
    task_code: str
    decided_at: datetime


@dataclass(frozen=True)
class QueueView:
    """No number of waiting cases: it would tell how often the coders disagree."""

    held: bool
    lease_until: datetime | None
    waiting: bool
    decided: list[DecidedRow]


def queue_of(membership: Membership) -> QueueView:
    """Return the queue as the adjudicator `membership` may know it; nothing in it names an output."""
    open_here = Case.objects.open().filter(study=membership.study_id)
    held = open_here.filter(claimed_by=membership).order_by("place").first()
    unclaimed = Q(claimed_by=None) | Q(lease_until__lt=clock.now())
    met = Assignment.objects.filter(member=membership).values("output")
    own = (
        Decision.objects.filter(decided_by=membership)
        .select_related("case__output__task")
        .order_by("-decided_at", "case__place")
    )
    return QueueView(
        held=held is not None,
        lease_until=held.lease_until if held else None,
        waiting=open_here.filter(unclaimed).exclude(output__in=met).exists(),
        decided=[DecidedRow(d.case.output.task.code, d.decided_at) for d in own[:LISTED]],
    )
