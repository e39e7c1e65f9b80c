"""Opening the seals of a study inside the unblinding's transaction: every box is held against what was committed."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from annotation_app.models import Batch, Output, Study
from annotation_app.services.amendments import OpenedAmendment, opened_amendments
from annotation_app.services.batches.allocation import committed_allocation
from blinding import commitment, sealing
from blinding.jobs import JobFailed, Progress
from blinding.models import (
    Commitment,
    OpenDigests,
    RevealedFigures,
    RevealedLabel,
    RevealedSeed,
    RevealedTask,
    SealedFigures,
    SealedOutput,
    SealedTask,
)
from blinding.task_metadata import parse_canonical

PAGE = 1000
_UNTOUCHED = "Nothing was opened."


def reveal_labels(study: Study, private: bytes, progress: Progress) -> dict[str, Any]:
    """Open, verify and store the labels of all released batches; return what was verified, free of labels.

    Raises JobFailed naming the first altered item: then nothing is stored.
    """
    opener = sealing.Opener(private)
    batches = list(Batch.objects.filter(study=study, status=Batch.Status.RELEASED).order_by("number"))
    total, done = Output.objects.filter(study=study).count(), 0
    roots = {}
    try:
        for batch in batches:
            opening = _Opening(study, batch, opener)
            for page in _pages(batch):
                RevealedLabel.objects.bulk_create(opening.reveal(page))
                done += len(page)
                progress(done, total)
            roots[str(batch.number)] = opening.verify()
        tasks, figures = _reveal_tasks(study, opener, batches), _reveal_figures(study, opener)
    except sealing.Damaged as fault:
        raise JobFailed(f"A seal is damaged: {fault}. {_UNTOUCHED}") from fault
    return {
        "batches": len(batches),
        "outputs": done,
        "tasks": tasks,
        "figures": figures,
        "roots": roots,
        "verified": True,
    }


class _Opening:
    """One batch being opened: its seed first, then its outputs page by page, then the root and the orders."""

    def __init__(self, study: Study, batch: Batch, opener: sealing.Opener) -> None:
        self._study, self._batch, self._opener = study, batch, opener
        self._promised = Commitment.objects.get(batch=batch.pk)
        content = opener.open(bytes(self._promised.sealed_seed))
        self._seed, self._nonce = content[:32], content[32:]
        self._amendments = opened_amendments(opener, batch=batch.pk)
        self._leaves: dict[str, bytes] = {}

    def reveal(self, page: list[Output]) -> list[RevealedLabel]:
        """Return the rows of a page's outputs. Raises JobFailed naming the first that is not what was committed."""
        keys = [output.pk for output in page]
        boxes = {row.output: row for row in SealedOutput.objects.filter(output__in=keys)}
        digests = dict(OpenDigests.objects.filter(output__in=keys).values_list("output", "digests"))
        if missing := [o.blinded_output_id for o in page if o.pk not in boxes or o.pk not in digests]:
            raise JobFailed(f"The seal of {missing[0]} is not there any more. {_UNTOUCHED}")
        labels = self._opened(page, [bytes(boxes[key].labels) for key in keys])
        texts = self._opened(page, [bytes(boxes[key].raw_text) for key in keys])
        return [
            self._reveal(output, bytes(boxes[output.pk].digests), bytes(digests[output.pk]), label, text)
            for output, label, text in zip(page, labels, texts, strict=True)
        ]

    def verify(self) -> str:
        """Store the seed and return the root, once labels, texts, seed and orders are what was committed."""
        number, promised = self._batch.number, self._promised
        leaves = [self._leaves[i] for i in sorted(self._leaves)]
        if commitment.root(leaves).hex() != promised.merkle_root:
            raise JobFailed(f"Batch {number}: its records are not those that were committed. {_UNTOUCHED}")
        if commitment.seed_commitment(self._seed, self._nonce).hex() != promised.seed_commitment:
            raise JobFailed(f"Batch {number}: the seed is not the one that was committed. {_UNTOUCHED}")
        allocation = committed_allocation(self._batch, promised.allocation)
        order = commitment.order_commitment(allocation, self._nonce).hex()
        if order != promised.manifest["order_commitment"]:
            raise JobFailed(f"Batch {number}: the orders are not those that were committed. {_UNTOUCHED}")
        RevealedSeed.objects.create(
            batch=self._batch.pk, study=self._study.pk, seed=self._seed.hex(), nonce=self._nonce.hex()
        )
        return promised.merkle_root

    def _opened(self, page: list[Output], boxes: list[bytes]) -> list[bytes]:
        try:
            return self._opener.open_many(boxes)
        except sealing.Damaged:
            for output, box in zip(page, boxes, strict=True):
                _named(output, self._opener, box)
            raise

    def _reveal(
        self, output: Output, sealed: bytes, opened: bytes, label_box: bytes, text_box: bytes
    ) -> RevealedLabel:
        name = output.blinded_output_id
        try:
            labels, raw = sealing.open_label_box(label_box), sealing.open_text_box(text_box)
        except sealing.Damaged as fault:
            raise JobFailed(f"The seal of {name} is damaged. {_UNTOUCHED}") from fault
        expected = labels.fields["gold_expected"]
        if commitment.sealed_digests(labels.labels, raw, expected, labels.nonce) != sealed:
            raise JobFailed(f"The seal of {name} is not the one that was made at import. {_UNTOUCHED}")
        amended = self._amendments.get(output.pk, [])
        shown = amended[0].before if amended else output.text
        code = output.cluster.code if output.cluster else None
        if commitment.open_digests(shown, code, commitment.open_nonce(self._seed, name)) != opened:
            raise JobFailed(f"The text or cluster of {name} is not what was committed. {_UNTOUCHED}")
        _verify_amendments(output, amended, sealed, opened)
        self._leaves[name] = commitment.leaf_hash(name, sealed, opened)
        return _label(self._study, output, labels, raw, amended)


def _pages(batch: Batch) -> Iterator[list[Output]]:
    last: UUID | None = None
    while True:
        outputs = Output.objects.filter(batch=batch).select_related("cluster").order_by("pk")
        page = list(outputs.filter(pk__gt=last)[:PAGE] if last else outputs[:PAGE])
        if not page:
            return
        yield page
        last = page[-1].pk


def _named(output: Output, opener: sealing.Opener, box: bytes) -> None:
    try:
        opener.open(box)
    except sealing.Damaged as fault:
        raise JobFailed(f"The seal of {output.blinded_output_id} is damaged. {_UNTOUCHED}") from fault


def _verify_amendments(output: Output, amended: list[OpenedAmendment], sealed: bytes, opened: bytes) -> None:
    """Hold each text that a recall brought against the leaf that was noted then."""
    for place, amendment in enumerate(amended):
        shown = amended[place + 1].before if place + 1 < len(amended) else output.text
        parts = commitment.with_shown(opened, shown, amendment.nonce)
        if commitment.leaf_hash(output.blinded_output_id, sealed, parts).hex() != amendment.leaf:
            name = output.blinded_output_id
            raise JobFailed(f"The text of {name} after a recall is not what was noted then. {_UNTOUCHED}")


def _label(
    study: Study, output: Output, labels: sealing.Labels, raw: str, amended: list[OpenedAmendment]
) -> RevealedLabel:
    fields = labels.fields
    leaf: dict[str, Any] = {"nonce": labels.nonce.hex(), "raw_text": raw, "fields": fields}
    if amended:
        leaf["shown"] = [amendment.before for amendment in amended]
        leaf["nonces"] = [amendment.nonce.hex() for amendment in amended]
    return RevealedLabel(
        output=output.pk,
        study=study.pk,
        output_id=fields["output_id"],
        condition=fields["condition"],
        model=fields["model"],
        theory=fields["theory"],
        auto_cluster_id=fields["auto_cluster_id"],
        gold_expected=fields["gold_expected"],
        raw_line=labels.raw_line.decode("utf-8", "surrogatepass"),
        leaf=leaf,
    )


def _reveal_tasks(study: Study, opener: sealing.Opener, batches: list[Batch]) -> int:
    """Store the metadata that released batches brought; what two of them brought for one task is the same."""
    opened: dict[UUID, dict[str, Any]] = {}
    for box in SealedTask.objects.filter(batch__in=[batch.pk for batch in batches]).order_by("pk"):
        metadata = parse_canonical(sealing.unpad(opener.open(bytes(box.box))))
        if opened.setdefault(box.task, metadata) != metadata:
            raise JobFailed(f"Two seals of one task differ. {_UNTOUCHED}")
    rows = [RevealedTask(task=task, study=study.pk, metadata=metadata) for task, metadata in opened.items()]
    return len(RevealedTask.objects.bulk_create(sorted(rows, key=lambda row: row.task), batch_size=500))


def _reveal_figures(study: Study, opener: sealing.Opener) -> int:
    rows = [
        RevealedFigures(
            id=row.pk,
            study=study.pk,
            batch=row.batch,
            kind=row.kind,
            figures=json.loads(sealing.unpad(opener.open(bytes(row.box)))),
        )
        for row in SealedFigures.objects.filter(study=study.pk)
    ]
    return len(RevealedFigures.objects.bulk_create(rows))
