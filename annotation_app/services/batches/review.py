"""Reviewing what the redaction found, term by term, with no label beside it."""

from uuid import UUID

from django.db import transaction

from annotation_app.errors import Absent, Refused
from annotation_app.models import Batch, Finding, Membership
from annotation_app.services.batches.upload import batch_of
from blinding import clock
from blinding.events import record_event


def findings_of(*, membership: Membership, uid: UUID) -> list[Finding]:
    """Return the terms found in a batch, most frequent first. Raises Absent."""
    batch = batch_of(membership=membership, uid=uid)
    return list(batch.findings.order_by("kind", "-count", "term"))


def decide_finding(
    *, membership: Membership, uid: UUID, term: str, accepted: bool, kind: str | None = None
) -> Finding:
    """Accept a term (it will be masked) or ignore it.

    Raises Absent for an unknown term, Refused outside review, or where the term was found in two kinds and none is named.
    """
    with transaction.atomic():
        batch = Batch.objects.select_for_update().get(pk=batch_of(membership=membership, uid=uid).pk)
        if batch.status != Batch.Status.IN_REVIEW:
            raise Refused(f"Terms are decided while a batch is in review; this one is {batch.status}.")
        found = list(batch.findings.filter(term=term, **({"kind": kind} if kind else {})))
        if not found:
            raise Absent
        if len(found) > 1:
            raise Refused("This term was found in several kinds; name the kind too.", code="ambiguous_term")
        finding = found[0]
        finding.accepted, finding.decided_at = accepted, clock.now()
        finding.save(update_fields=["accepted", "decided_at"])
        record_event(
            "finding_decided",
            study=batch.study_id,
            actor=membership.pk,
            subject=finding.pk,
            facts={"accepted": accepted},
        )
    return finding
