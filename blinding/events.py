"""The event log: what happened, who did it (a pseudonym's UUID), when. Facts are UUIDs, numbers, reasons; never a label."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from blinding import clock
from blinding.models import Event

OF_CASES = "case_"  # so begin, and no other kinds do, the kinds of events that tell of a disagreement


def record_event(
    kind: str,
    *,
    study: UUID,
    actor: UUID | None,
    subject: UUID | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Event:
    """Append one event in the caller's transaction. `facts` must be JSON and free of labels, names and text."""
    return Event.objects.create(
        study=study, kind=kind, actor=actor, subject=subject, facts=dict(facts or {}), happened_at=clock.now()
    )


def record_events(kind: str, *, study: UUID, actor: UUID | None, subjects: Iterable[UUID]) -> int:
    """Append one event for each subject; return how many."""
    at = clock.now()
    rows = [Event(study=study, kind=kind, actor=actor, subject=s, happened_at=at) for s in subjects]
    return len(Event.objects.bulk_create(rows))
