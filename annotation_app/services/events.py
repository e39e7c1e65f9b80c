"""The event log for who watches over a study: read in pages, verified as a whole.

Until the policy opens them, events of cases are neither shown nor counted: soon after a record became final, a case tells
that it is disputed."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Membership
from blinding import event_blocks
from blinding.event_blocks import EventRow, LogState
from blinding.policy import Disclosure

PAGE = 100
MOST = 1000
_BLOCK_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class LoggedEvent:
    """An event with its actor's pseudonym; empty for what the system did."""

    uid: UUID
    kind: str
    by: str
    role: str
    subject: UUID | None
    facts: dict[str, Any]
    happened_at: datetime
    block: int | None


@dataclass(frozen=True)
class EventPage:
    """Events, newest first; `next` is the cursor of the page after, None on the last."""

    events: list[LoggedEvent]
    next: str | None


@dataclass(frozen=True)
class Verdict:
    """What a verification of the whole log found; `problem` is None where nothing was altered. `events` counts those shown."""

    ok: bool
    problem: str | None
    events: int
    blocks: int
    head: str


def events_of(*, membership: Membership, before: str = "", kind: str = "", limit: int = PAGE) -> EventPage:
    """Return a page of the log. Raises Absent for who does not watch over the study, Invalid for a broken cursor."""
    _require_watcher(membership)
    limit = max(1, min(limit, MOST))
    events = event_blocks.shown_events(membership.study_id, with_cases=_reads_cases(membership))
    if kind:
        events = events.filter(kind=kind)
    if before:
        moment, key = _read_cursor(before)
        events = events.filter(Q(happened_at__lt=moment) | Q(happened_at=moment, pk__lt=key))
    found = list(events.order_by("-happened_at", "-pk")[: limit + 1])
    shown = found[:limit]
    blocks = event_blocks.blocks_of(membership.study_id, [event.pk for event in shown])
    rows = [EventRow.of(event, blocks.get(event.pk)) for event in shown]
    last = f"{shown[-1].happened_at.isoformat()}|{shown[-1].pk}" if len(found) > limit else None
    return EventPage(_with_names(membership, rows), last)


def verify_events(*, membership: Membership, head: str = "") -> Verdict:
    """Verify the whole log; `head` is the hash of a block that was noted earlier. Raises Absent, Invalid for no hash."""
    _require_watcher(membership)
    noted = head.strip().lower()
    if noted and not _BLOCK_HASH.fullmatch(noted):
        raise Invalid.at("head", "malformed", _("A block’s hash is 64 letters a to f and digits."))
    problem = event_blocks.verify_log(membership.study_id, head=noted or None)
    state = log_state(membership=membership)
    return Verdict(problem is None, str(problem) if problem else None, state.events, state.blocks, state.head)


def log_state(*, membership: Membership) -> LogState:
    """Return how long the log is as far as the member reads it. Raises Absent."""
    _require_watcher(membership)
    return event_blocks.log_state(membership.study_id, with_cases=_reads_cases(membership))


def _reads_cases(membership: Membership) -> bool:
    return membership.may_learn(Disclosure.CASE_EVENTS)


def _require_watcher(membership: Membership) -> None:
    if not membership.may_learn(Disclosure.EVENTS):
        raise Absent


def _read_cursor(cursor: str) -> tuple[datetime, UUID]:
    moment, _, key = cursor.partition("|")
    try:
        read = datetime.fromisoformat(moment)
        if read.tzinfo is None:
            raise ValueError(moment)
        # As the database compares it: a moment near the first or last year may have no time in UTC.
        return read.astimezone(UTC), UUID(key)
    except (ValueError, OverflowError) as fault:
        raise Invalid.at("before", "malformed", "Take the cursor from the page before as it is.") from fault


def _with_names(membership: Membership, rows: list[EventRow]) -> list[LoggedEvent]:
    actors = {row.actor for row in rows if row.actor}
    members = {m.pk: m for m in Membership.objects.filter(study=membership.study_id, pk__in=actors)}
    return [
        LoggedEvent(
            uid=row.id,
            kind=row.kind,
            by=members[row.actor].alias if row.actor in members else "",
            role=members[row.actor].role if row.actor in members else "",
            subject=row.subject,
            facts=row.facts,
            happened_at=row.happened_at,
            block=row.block,
        )
        for row in rows
    ]
