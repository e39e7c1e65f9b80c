"""News from the domain, and what adjudication hooks into it."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from adjudication.models import Case
from adjudication.services.cases import give_up_case, open_cases
from adjudication.services.pairs import count_pairs, withdraw_pair
from annotation_app import signals
from annotation_app.models import Assignment, Study
from annotation_app.registries import Obstacle
from blinding import clock


@receiver(signals.pair_withdrawn)
def take_case_back(sender: Any, output: UUID, reason: str, **kwargs: Any) -> None:
    withdraw_pair(output=output, reason=reason)


@receiver(signals.case_given_up)
def free_case(sender: Any, assignment: Assignment, **kwargs: Any) -> None:
    give_up_case(assignment)


def guard_lock(study: Study) -> Iterable[Obstacle]:
    """Name what stands against a lock: pairs not compared yet, and cases not decided yet."""
    if waiting := count_pairs(study, uncompared=True):
        yield Obstacle(
            f"{waiting} pairs of records are still to be compared; that takes a few seconds.", waivable=False
        )
    if cases := open_cases(study):
        yield Obstacle(
            f"{cases} cases are open. Decide them, or say in “leave open” why they stay so.", waivable=True
        )


def close_what_stays_open(study: Study, reason: str) -> None:
    Case.objects.open().filter(study=study).update(
        state=Case.State.LEFT_OPEN, closed_at=clock.now(), closed_because=reason[:200]
    )


def counts(study: Study) -> Mapping[str, int]:
    return {
        "final_pairs": count_pairs(study),
        "uncompared": count_pairs(study, uncompared=True),
        "open_cases": open_cases(study),
        "decided_cases": Case.objects.filter(study=study, state=Case.State.DECIDED).count(),
    }
