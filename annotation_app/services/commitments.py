"""What was promised at each release, to be time-stamped outside, and the receipts of that."""

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Batch, Membership, Output
from blinding import clock
from blinding.commitment import canonical_json, manifest_digest
from blinding.events import record_event
from blinding.models import Amendment, Commitment
from blinding.policy import KEY_HOLDERS, Role

RECEIPT_MAX = 1_000_000
READERS = (*KEY_HOLDERS, Role.MONITOR)


@dataclass(frozen=True)
class CommitmentRow:
    """One batch's commitment; `digest` is the SHA-256 to have time-stamped."""

    batch: UUID
    number: int
    name: str
    digest: str
    merkle_root: str
    seed_commitment: str
    leaves: int
    committed_at: datetime
    receipt_at: datetime | None


def commitments_of(*, membership: Membership) -> list[CommitmentRow]:
    """Return the commitments of released batches in their order. Raises Absent for who may not read them."""
    _require_reader(membership)
    batches = {b.pk: b for b in Batch.objects.filter(study=membership.study_id)}
    rows = [
        CommitmentRow(
            batch=row.batch,
            number=batches[row.batch].number or 0,
            name=batches[row.batch].name,
            digest=manifest_digest(row.manifest),
            merkle_root=row.merkle_root,
            seed_commitment=row.seed_commitment,
            leaves=row.leaves,
            committed_at=row.committed_at,
            receipt_at=row.receipt_at,
        )
        for row in Commitment.objects.filter(study=membership.study_id).defer(
            "receipt", "sealed_seed", "allocation"
        )
    ]
    return sorted(rows, key=lambda row: row.number)


def published_commitments(*, membership: Membership) -> dict[str, Any]:
    """Return `commitments.json` as the verifier reads it: manifests without their leaves, receipts, amendments."""
    _require_reader(membership)
    return commitments_document(membership.study_id)


def manifest_bytes(*, membership: Membership, batch: UUID) -> bytes:
    """Return the bytes of one batch's manifest whose SHA-256 is its digest: what to hand to a time-stamping service."""
    _require_reader(membership)
    found = Commitment.objects.filter(study=membership.study_id, batch=batch).first()
    if found is None:
        raise Absent
    return canonical_json({k: v for k, v in found.manifest.items() if k not in ("receipts", "leaves")})


def attach_receipt(*, membership: Membership, batch: UUID, receipt: bytes, digest: str = "") -> None:
    """Keep an outside timestamp of a batch's commitment, once. `digest`, where given, is what was stamped.

    Raises Absent, Invalid for an empty or long receipt or for another digest, Refused where one is attached.
    """
    if membership.role not in KEY_HOLDERS:
        raise Absent
    if not receipt or len(receipt) > RECEIPT_MAX:
        raise Invalid.at("file", "size", f"A receipt has 1 to {RECEIPT_MAX:,} bytes.")
    with transaction.atomic():
        found = Commitment.objects.select_for_update().filter(study=membership.study_id, batch=batch).first()
        if found is None:
            raise Absent
        expected = manifest_digest(found.manifest)
        if digest and digest.strip().lower() != expected:
            raise Invalid.at(
                "digest", "another_digest", f"This receipt is for another file: the commitment is {expected}."
            )
        if found.receipt is not None:
            raise Refused("A receipt is attached to this commitment already.", code="already_attached")
        found.receipt, found.receipt_at = receipt, clock.now()
        found.save(update_fields=["receipt", "receipt_at"])
        record_event(
            "receipt_attached",
            study=membership.study_id,
            actor=membership.pk,
            subject=batch,
            facts={"digest": expected},
        )


def commitments_document(study: UUID, leaves: dict[UUID, list[str]] | None = None) -> dict[str, Any]:
    """Return the document for a study, each manifest with its leaves where `leaves` has them. Asks nobody's leave."""
    batches = []
    for row in Commitment.objects.filter(study=study).order_by("committed_at", "batch"):
        manifest = {**row.manifest, "receipts": _receipts(row)}
        if leaves is not None:
            manifest["leaves"] = leaves[row.batch]
        batches.append(manifest)
    return {"batches": batches, "amendments": _amendments(study)}


def _receipts(row: Commitment) -> list[dict[str, Any]]:
    if row.receipt is None or row.receipt_at is None:
        return []
    return [
        {
            "digest": manifest_digest(row.manifest),
            "attached_at": row.receipt_at.isoformat().replace("+00:00", "Z"),
            "content": base64.b64encode(bytes(row.receipt)).decode(),
        }
    ]


def _amendments(study: UUID) -> list[dict[str, Any]]:
    rows = list(Amendment.objects.filter(study=study).order_by("amended_at", "output", "number"))
    names = dict(
        Output.objects.filter(pk__in=[r.output for r in rows]).values_list("pk", "blinded_output_id")
    )
    return [
        {
            "batch": str(row.batch),
            "blinded_output_id": names[row.output],
            "leaf": row.leaf,
            "amended_at": row.amended_at.isoformat().replace("+00:00", "Z"),
        }
        for row in rows
    ]


def _require_reader(membership: Membership) -> None:
    if membership.role not in READERS:
        raise Absent
