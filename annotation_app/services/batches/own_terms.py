"""Terms that the admin adds at review: looked for in the whole batch, counted before anything is stored, taken out again."""

from uuid import UUID

from django.db import connection, transaction

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Batch, Finding, Membership, StagedOutput
from annotation_app.services.batches.findings import FindingTable
from annotation_app.services.batches.upload import batch_of
from blinding import clock
from blinding.events import record_event
from blinding.redaction.finder import TERM_LENGTH
from blinding.redaction.own_term import OwnTerm
from blinding.redaction.unicode import clean

PAGE = 500
_WITHOUT = """
UPDATE annotation_app_stagedoutput SET spans = (
    SELECT coalesce(jsonb_agg(span ORDER BY place), '[]'::jsonb)
      FROM jsonb_array_elements(spans) WITH ORDINALITY AS each (span, place) WHERE (span ->> 2)::bigint <> %(number)s)
 WHERE batch_id = %(batch)s AND EXISTS (
    SELECT 1 FROM jsonb_array_elements(spans) AS span WHERE (span ->> 2)::bigint = %(number)s)
"""


def preview_term(*, membership: Membership, uid: UUID, term: str) -> Finding:
    """Return what adding a term would find, with examples in context; nothing is stored.

    Raises Absent, Refused outside review, Invalid for a term that is too short, in the list already, or found nowhere.
    """
    batch = _in_review(batch_of(membership=membership, uid=uid))
    return _searched(batch, _read(batch, term))


def add_term(*, membership: Membership, uid: UUID, term: str, reason: str) -> Finding:
    """Put a term into the list of a batch in review, to be masked. Raises as `preview_term`, and Invalid without a reason."""
    if not reason.strip():
        raise Invalid.at("reason", "required", "Say why this term is masked.")
    with transaction.atomic():
        batch = _locked(membership, uid)
        finding = _searched(batch, _read(batch, term), store=True)
        finding.reason, finding.decided_at = reason.strip(), clock.now()
        finding.save(force_insert=True)
        _record("term_added", membership, finding)
    return finding


def remove_term(*, membership: Membership, uid: UUID, term: str) -> None:
    """Take a term of the admin's own out of the list again. Raises Absent for any other, Refused outside review."""
    with transaction.atomic():
        batch = _locked(membership, uid)
        finding = batch.findings.filter(kind=Finding.Kind.OWN, term=term).first()
        if finding is None:
            raise Absent
        with connection.cursor() as cursor:
            cursor.execute(_WITHOUT, {"batch": batch.pk, "number": finding.number})
        _record("term_removed", membership, finding)
        finding.delete()


def _locked(membership: Membership, uid: UUID) -> Batch:
    return _in_review(Batch.objects.select_for_update().get(pk=batch_of(membership=membership, uid=uid).pk))


def _in_review(batch: Batch) -> Batch:
    if batch.status != Batch.Status.IN_REVIEW:
        raise Refused(f"Terms are decided while a batch is in review; this one is {batch.status}.")
    return batch


def _read(batch: Batch, term: str) -> OwnTerm:
    """Return what looks for a term, cleaned as the texts are."""
    plain = clean(term).text.strip()
    if len(plain) > TERM_LENGTH:
        raise Invalid.at("term", "too_long", f"A term has at most {TERM_LENGTH} characters.")
    if batch.findings.filter(kind=Finding.Kind.OWN, term=plain).exists():
        raise Invalid.at("term", "known", "This term is in the list already.")
    try:
        return OwnTerm(plain)
    except ValueError as fault:
        raise Invalid.at(
            "term",
            "too_short",
            "Write a word, a name or a number of four digits: less would stand everywhere.",
        ) from fault


def _searched(batch: Batch, term: OwnTerm, *, store: bool = False) -> Finding:
    """Return a finding that is not stored; `store` adds its spans to the outputs that have the term, page by page."""
    table = FindingTable(batch, batch.findings.values_list("number", flat=True))
    changed: list[StagedOutput] = []
    for staged in StagedOutput.objects.filter(batch=batch).order_by("pk").iterator(PAGE):
        if spans := term.find(staged.text):
            staged.spans = sorted([*staged.spans, *table.take(staged.text, spans)])
            changed.append(staged)
        if len(changed) >= PAGE:
            changed = _flushed(changed, store)
    _flushed(changed, store)
    if not (found := table.findings()):
        raise Invalid.at("term", "found_nowhere", "No text of this batch has this term.")
    return found[0]


def _flushed(changed: list[StagedOutput], store: bool) -> list[StagedOutput]:
    if store:
        StagedOutput.objects.bulk_update(changed, ["spans"])
    return []


def _record(kind: str, membership: Membership, finding: Finding) -> None:
    """Note the act without the term, which may be a label: the log is read by the blind."""
    record_event(kind, study=membership.study_id, actor=membership.pk, subject=finding.pk)
