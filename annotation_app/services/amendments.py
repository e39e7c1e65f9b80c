"""What a recall changes in a commitment: a further leaf for the output, and, sealed, what only the unblinding opens."""

from dataclasses import dataclass
from uuid import UUID

from annotation_app.models import Output
from blinding import clock, commitment, entropy, sealing
from blinding.models import Amendment, OpenDigests, SealedOutput, StudyKey

_NONCE = 32


@dataclass(frozen=True)
class OpenedAmendment:
    """One change of a text: what was shown before, the new digest's nonce, the leaf that was noted."""

    before: str
    nonce: bytes
    leaf: str


def amend(output: Output, text: str, number: int) -> Amendment:
    """Note the leaf that `text` gives in place of the output's present text, with that text sealed."""
    nonce = entropy.draw("amendment nonce", f"{output.pk} {number}", _NONCE)
    opened = bytes(OpenDigests.objects.values_list("digests", flat=True).get(output=output.pk))
    sealed = bytes(SealedOutput.objects.values_list("digests", flat=True).get(output=output.pk))
    parts = commitment.with_shown(opened, text, nonce)
    key = bytes(StudyKey.objects.values_list("public_key", flat=True).get(study=output.study_id))
    content = nonce + output.text.encode("utf-8", "surrogatepass")
    return Amendment.objects.create(
        study=output.study_id,
        batch=output.batch_id,
        output=output.pk,
        number=number,
        leaf=commitment.leaf_hash(output.blinded_output_id, sealed, parts).hex(),
        version_before=output.blind_version,
        sealed=sealing.Sealer(key).seal(sealing.pad_to_multiple(content)),
        amended_at=clock.now(),
    )


def opened_amendments(opener: sealing.Opener, *, batch: UUID) -> dict[UUID, list[OpenedAmendment]]:
    """Return a batch's amendments by output, in their order. Raises sealing.Damaged."""
    found: dict[UUID, list[OpenedAmendment]] = {}
    for row in Amendment.objects.filter(batch=batch).order_by("output", "number"):
        content = sealing.unpad(opener.open(bytes(row.sealed)))
        before = content[_NONCE:].decode("utf-8", "surrogatepass")
        found.setdefault(row.output, []).append(OpenedAmendment(before, content[:_NONCE], row.leaf))
    return found
