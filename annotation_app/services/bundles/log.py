"""The event log in a bundle, and what in it a reader should not have to look for: deviations, changes after the unblinding."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q

from annotation_app.models import Batch, Membership, Study
from annotation_app.services.bundles.writer import as_line
from blinding.event_blocks import all_blocks, block_document, closed_events
from blinding.models import Event

# Looks and requests for them: events that change nothing.
LOOKS = frozenset(
    {
        "records_exported",
        "bundle_requested",
        "bundle_ready",
        "bundle_downloaded",
        "results_viewed",
        "task_results_viewed",
        "task_viewed",
        "tasks_viewed",
        "report_requested",
        "report_ready",
        "passphrase_refused",
        "passphrase_changed",
        "passphrase_recovered",
    }
)
DEVIATIONS = frozenset(
    {
        "output_frozen",
        "output_recalled",
        "output_recall_lifted",
        "output_excluded",
        "outputs_excluded",
        "task_voided",
        "reassigned",
        "member_left",
        "unblinding_failed",
    }
)


def event_lines(study: Study) -> Iterator[bytes]:
    """Yield `events.jsonl`: every event that a block has closed in."""
    for events in closed_events(study.pk):
        yield b"".join(as_line(event) for event in events)


def block_lines(study: Study) -> Iterator[bytes]:
    """Yield `event_blocks.jsonl`."""
    for block in all_blocks(study.pk):
        yield as_line(block_document(block))


def deviations_of(study: Study) -> list[dict[str, Any]]:
    """Return what went otherwise than planned, in time: from the log, with the reasons that people gave."""
    marked = Q(kind__in=DEVIATIONS)
    marked |= Q(kind="batch_released", facts__deviation=True)
    marked |= Q(kind="phase_review", facts__reopened=True)
    marked |= Q(kind="phase_locked") & ~Q(facts__leave_open="")
    if study.frozen_at is not None:
        marked |= Q(kind="codebook_added", facts__kind="rule_change", happened_at__gte=study.frozen_at)
    found = list(Event.objects.filter(marked, study=study.pk).order_by("happened_at", "pk"))
    names = _aliases(study.pk, found)
    reasons = dict(Batch.objects.filter(study=study).values_list("pk", "release_reason"))
    return [_told(event, names, reasons) for event in found]


def changes_after(study: Study) -> list[dict[str, Any]]:
    """Return what changed after the unblinding, in time; empty before it."""
    if study.unblinded_at is None:
        return []
    events = Event.objects.filter(study=study.pk, happened_at__gt=study.unblinded_at).exclude(kind__in=LOOKS)
    found = list(events.exclude(kind="phase_unblinded").order_by("happened_at", "pk"))
    names = _aliases(study.pk, found)
    return [_told(event, names, {}) | {"post_unblinding": True} for event in found]


def _told(event: Event, names: dict[UUID, str], reasons: dict[UUID, str]) -> dict[str, Any]:
    facts = dict(event.facts)
    if event.kind == "batch_released" and event.subject in reasons:
        facts["reason"] = reasons[event.subject]
    return {
        "event": event.pk,
        "kind": event.kind,
        "by": names.get(event.actor, "") if event.actor else "",
        "subject": event.subject,
        "happened_at": event.happened_at,
        "facts": facts,
    }


def _aliases(study: UUID, events: list[Event]) -> dict[UUID, str]:
    actors = {event.actor for event in events if event.actor}
    return dict(Membership.objects.filter(study=study, pk__in=actors).values_list("pk", "alias"))
