"""The event log in hashed blocks: closing them under a lock, verifying them, and an event as a page may show it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max, QuerySet

from blinding import clock
from blinding.events import OF_CASES
from blinding.events_chain import Problem, event_hash, next_block, verify_blocks
from blinding.models import Event, EventBlock

SIZE = 5000  # events in a block, at most
# A transaction may commit an event later than the block that closed around its time: so far back is looked again.
OVERLAP = timedelta(days=1)
PAGE = 5000


@dataclass(frozen=True)
class EventRow:
    """An event of the log: who and about what are UUIDs; `block` is None until one has closed it in."""

    id: UUID
    kind: str
    actor: UUID | None
    subject: UUID | None
    facts: dict[str, Any]
    happened_at: datetime
    block: int | None

    @classmethod
    def of(cls, event: Event, block: int | None) -> "EventRow":
        return cls(
            event.pk, event.kind, event.actor, event.subject, dict(event.facts), event.happened_at, block
        )


@dataclass(frozen=True)
class LogState:
    """How long the log is as far as it is shown; `head` is the hash of the newest block, empty where there is none."""

    events: int
    blocks: int
    head: str


def event_document(event: Event) -> dict[str, Any]:
    """Return all fields of an event as JSON values: what is hashed, and a line of `events.jsonl`."""
    return {
        "id": str(event.pk),
        "study": str(event.study),
        "kind": event.kind,
        "actor": str(event.actor) if event.actor else None,
        "subject": str(event.subject) if event.subject else None,
        "facts": event.facts,
        "happened_at": event.happened_at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }


def block_document(block: EventBlock) -> dict[str, Any]:
    """Return a block as the chain's arithmetic knows it, a line of `event_blocks.jsonl`."""
    return {
        "number": block.number,
        "previous": block.previous,
        "events": [item for _, item in block.entries],
        "hash": block.hash,
    }


def close_all_blocks() -> int:
    """Close what waits in every study; return how many events were closed in."""
    studies = Event.objects.order_by("study").values_list("study", flat=True).distinct()
    return sum(close_block(study) for study in studies)


def close_block(study: UUID) -> int:
    """Close a study's waiting events into the next blocks of its chain; return how many events."""
    closed = 0
    while done := _close_one(study):
        closed += done
    return closed


def _close_one(study: UUID) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 4))", [f"events {study}"])
        last = EventBlock.objects.filter(study=study).order_by("-number").first()
        waiting = _waiting(study, last)
        if not _may_close(waiting):
            return 0
        names = {event_hash(event_document(event)): str(event.pk) for event in waiting}
        made = next_block(block_document(last) if last else None, map(event_document, waiting))
        EventBlock.objects.create(
            study=study,
            number=made["number"],
            previous=made["previous"],
            entries=[[names[item], item] for item in made["events"]],
            hash=made["hash"],
            closed_at=clock.now(),
        )
        return len(waiting)


_WAITING = """
WITH recent AS (
    SELECT (entry ->> 0)::uuid AS id
      FROM blinding_eventblock b, jsonb_array_elements(b.entries) AS entry
     WHERE b.study = %(study)s AND b.closed_at >= %(since)s
)
SELECT e.* FROM blinding_event e LEFT JOIN recent r ON r.id = e.id
 WHERE e.study = %(study)s AND e.happened_at >= %(since)s AND r.id IS NULL
 ORDER BY e.happened_at, e.id LIMIT %(size)s
"""


def _waiting(study: UUID, last: EventBlock | None) -> list[Event]:
    """Events are closed in as they happened, so what is older than the newest block's by the overlap is closed in."""
    since = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    if last is not None:
        inside = Event.objects.filter(pk__in=[name for name, _ in last.entries])
        since = (inside.aggregate(newest=Max("happened_at"))["newest"] or last.closed_at) - OVERLAP
    return list(Event.objects.raw(_WAITING, {"study": study, "since": since, "size": SIZE}))


def _may_close(waiting: list[Event]) -> bool:
    """Events of cases wait for another one: a block of theirs alone would tell when a case was opened."""
    return len(waiting) == SIZE or any(not event.kind.startswith(OF_CASES) for event in waiting)


def verify_log(study: UUID, *, head: str | None = None) -> Problem | None:
    """Return the first thing in a study's log that is not as it was written, or None.

    Events that wait for their first block are as yet unproven. `head` is a block's hash that somebody noted earlier:
    without it nobody can tell that the log was cut at its end.
    """
    blocks = list(EventBlock.objects.filter(study=study).order_by("number"))
    events = [event_document(event) for event in _all_events(study)]
    named = _first_changed(blocks, {event["id"]: event for event in events})
    broken = verify_blocks([block_document(block) for block in blocks], events, head=head, pending=True)
    return named if named is not None and (broken is None or named.block == broken.block) else broken


def log_state(study: UUID, *, with_cases: bool = True) -> LogState:
    """Return how long a study's log is, with or without counting its events of cases."""
    last = EventBlock.objects.filter(study=study).order_by("-number").values_list("number", "hash").first()
    number, head = last or (0, "")
    return LogState(shown_events(study, with_cases=with_cases).count(), number, head)


def shown_events(study: UUID, *, with_cases: bool) -> QuerySet[Event]:
    """Return a study's events, with or without those of cases."""
    events = Event.objects.filter(study=study)
    return events if with_cases else events.exclude(kind__startswith=OF_CASES)


def blocks_of(study: UUID, events: list[UUID]) -> dict[UUID, int]:
    """Return in which block each of some events is; those that wait for one are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (entry ->> 0)::uuid, b.number FROM blinding_eventblock b, jsonb_array_elements(b.entries) AS entry"
            " WHERE b.study = %s AND (entry ->> 0)::uuid = ANY(%s)",
            [study, events],
        )
        return dict(cursor.fetchall())


def all_blocks(study: UUID) -> Iterator[EventBlock]:
    """Yield a study's blocks in their order."""
    return EventBlock.objects.filter(study=study).order_by("number").iterator(chunk_size=10)


def closed_events(study: UUID) -> Iterator[list[dict[str, Any]]]:
    """Yield the events that blocks have closed in, a block at a time, in the order in which they happened."""
    for block in all_blocks(study):
        inside = Event.objects.filter(pk__in=[name for name, _ in block.entries])
        yield [event_document(event) for event in inside.order_by("happened_at", "pk")]


def _all_events(study: UUID) -> Iterator[Event]:
    return Event.objects.filter(study=study).iterator(chunk_size=PAGE)


def _first_changed(blocks: list[EventBlock], events: Mapping[str, Mapping[str, Any]]) -> Problem | None:
    """Name the first event that is in a block and no more in the log, or not as it was."""
    for block in blocks:
        for name, expected in block.entries:
            if name not in events:
                return Problem(block.number, f"event {name} was removed")
            if event_hash(events[name]) != expected:
                return Problem(block.number, f"event {name} was altered")
    return None
