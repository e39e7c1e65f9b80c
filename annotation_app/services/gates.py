"""The gate from training to the main items: who waits at it, and when there is one.

There is a gate where the protocol names a mark to reach (`calibration.pass`) and a training batch was released. A person
opens it, coder by coder (`services.standings`).
"""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation_app.errors import Refused
from annotation_app.models import Batch, Membership, Study
from blinding.policy import PRIMARIES, Phase

WAITING = _(
    "You are not passed on to the main items yet. Somebody who runs the study looks at your practice first; "
    "you will find your items here afterwards."
)
PRACTISE_FIRST = _("Before your next items, go through a few practice texts under “Practice”.")


def mark_of(study: Study) -> float | None:
    """Return the agreement with the reference that the protocol demands, if it does."""
    mark = study.protocol["calibration"]["pass"]
    return None if mark is None else float(mark)


def rounds_in(study: Study) -> QuerySet[Batch]:
    """Return the released training batches in order."""
    return study.batches.filter(purpose=Batch.Purpose.CALIBRATION, status=Batch.Status.RELEASED).order_by(
        "number"
    )


def has_gate(study: Study) -> bool:
    return mark_of(study) is not None and rounds_in(study).exists()


def waits_on_joining(study: Study, role: str) -> bool:
    """Say whether somebody who joins now has to be passed on first."""
    return role in PRIMARIES and study.phase == Phase.CODING and has_gate(study)


def close_gates(study: Study) -> None:
    """When coding opens, main items wait for every coder who was not passed on."""
    if has_gate(study):
        study.memberships.filter(role__in=PRIMARIES, gate=None).update(awaits_gate=True)


def require_passed(membership: Membership) -> None:
    """Raise Refused for a coder who waits at the gate, or has to practise first, while main items are coded; asks the
    database nothing."""
    if membership.awaits_gate and membership.study.phase == Phase.CODING:
        raise Refused(str(WAITING), code="not_passed")
    if membership.awaits_practice and membership.study.phase == Phase.CODING:
        raise Refused(str(PRACTISE_FIRST), code="practice_first")


def count_passed(study: Study) -> tuple[int, int]:
    """Return how many current primary coders are passed on, of how many."""
    coders = study.memberships.current().filter(role__in=PRIMARIES)
    return coders.filter(gate__isnull=False).count(), coders.count()
