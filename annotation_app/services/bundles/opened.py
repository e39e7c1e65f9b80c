"""What the unblinding added to a bundle: labels joined, and all that `python -m blinding.verify` needs to prove them.

Holdout tasks keep their texts: of their outputs only digests of what holds text are written. Calibration outputs are in no
export; their digests are there, so that roots and orders can be proven whole.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson

from annotation_app.models import Batch, Guess, Output, Study
from annotation_app.services.batches.allocation import committed_allocation
from annotation_app.services.bundles.writer import as_line, as_lines
from annotation_app.services.commitments import commitments_document
from blinding import commitment
from blinding.commitment import DIGEST_SIZE, OPEN_PARTS, SEALED_PARTS, Part
from blinding.models import (
    Commitment,
    OpenDigests,
    RevealedFigures,
    RevealedLabel,
    RevealedSeed,
    RevealedTask,
    SealedOutput,
)

PAGE = 1000
WITH_TEXT = frozenset({Part.LABELS, Part.RAW, Part.SHOWN})  # the raw line may hold a prompt


def commitments_with_leaves(study: Study) -> dict[str, Any]:
    """Return `commitments.json` with every leaf, so that one record can be proven alone."""
    leaves = {batch.pk: [leaf.hex() for leaf in _leaves(batch)] for batch in _batches(study)}
    return commitments_document(study.pk, leaves)


def leaf_lines(study: Study) -> Iterator[bytes]:
    """Yield `leaves.jsonl`: each output's parts, opened or withheld."""
    holdout = _holdout_tasks(study)
    for batch in _batches(study):
        seed = bytes.fromhex(RevealedSeed.objects.values_list("seed", flat=True).get(batch=batch.pk))
        for page in _pages(batch):
            yield b"".join(as_line(line) for line in _record_lines(batch, page, seed, holdout))


def allocation_chunks(study: Study) -> Iterator[bytes]:
    """Yield `allocation.json`, a batch at a time: the seed, and the orders that follow from it."""
    yield b'{"batches": ['
    for number, batch in enumerate(_batches(study)):
        promised = Commitment.objects.get(batch=batch.pk)
        revealed = RevealedSeed.objects.get(batch=batch.pk)
        entry = {
            "batch": str(batch.pk),
            "seed": revealed.seed,
            "nonce": revealed.nonce,
            "allocation": committed_allocation(batch, promised.allocation),
        }
        yield (b",\n" if number else b"\n") + orjson.dumps(entry)
    yield b"\n]}\n"


def label_lines(study: Study) -> Iterator[bytes]:
    """Yield `labels.jsonl`: where each main output came from."""
    after = ""
    while True:
        outputs = (
            Output.objects.filter(study=study, blinded_output_id__gt=after)
            .main()
            .select_related("task", "cluster")
        )
        page = list(outputs.defer("text", "html").order_by("blinded_output_id")[:PAGE])
        if not page:
            return
        labels = RevealedLabel.objects.defer("leaf", "raw_line").in_bulk([output.pk for output in page])
        yield b"".join(as_line(_label(output, labels[output.pk])) for output in page)
        after = page[-1].blinded_output_id


def guess_lines(study: Study) -> Iterator[bytes]:
    """Yield `guesses.jsonl`: what coders thought, beside what was so."""
    found = (
        Guess.objects.filter(assignment__study=study)
        .select_related("assignment__output", "assignment__member")
        .order_by("pk")
    )
    arms = {
        output: (condition, model)
        for output, condition, model in RevealedLabel.objects.filter(
            study=study.pk, output__in=found.values("assignment__output")
        ).values_list("output", "condition", "model")
    }
    return as_lines(
        _guess(guess, *arms[guess.assignment.output_id]) for guess in found.iterator(chunk_size=PAGE)
    )


def figures_of(study: Study) -> list[dict[str, Any]]:
    """Return the figures about arms that were sealed at import."""
    numbers = dict(Batch.objects.filter(study=study).values_list("pk", "number"))
    rows = RevealedFigures.objects.filter(study=study.pk).order_by("kind", "pk")
    return [
        {"batch": numbers.get(row.batch) if row.batch else None, "kind": row.kind, "figures": row.figures}
        for row in rows
    ]


def _batches(study: Study) -> list[Batch]:
    return list(Batch.objects.filter(study=study, status=Batch.Status.RELEASED).order_by("number"))


def _pages(batch: Batch) -> Iterator[list[Output]]:
    after = ""
    while True:
        outputs = Output.objects.filter(batch=batch, blinded_output_id__gt=after).select_related("cluster")
        page = list(outputs.defer("html").order_by("blinded_output_id")[:PAGE])
        if not page:
            return
        yield page
        after = page[-1].blinded_output_id


def _leaves(batch: Batch) -> Iterator[bytes]:
    """Yield the leaves as committed, in the order of the blinded ids by code points."""
    names = Output.objects.filter(batch=batch).values_list("pk", "blinded_output_id")
    sealed = dict(SealedOutput.objects.filter(batch=batch.pk).values_list("output", "digests"))
    opened = dict(OpenDigests.objects.filter(batch=batch.pk).values_list("output", "digests"))
    for key, name in sorted(names, key=lambda row: row[1]):
        yield commitment.leaf_hash(name, bytes(sealed[key]), bytes(opened[key]))


def _holdout_tasks(study: Study) -> set[UUID]:
    held = RevealedTask.objects.filter(study=study.pk, metadata__split="holdout")
    return set(held.values_list("task", flat=True))


def _record_lines(
    batch: Batch, page: list[Output], seed: bytes, holdout: set[UUID]
) -> Iterator[dict[str, Any]]:
    keys = [output.pk for output in page]
    labels = RevealedLabel.objects.in_bulk(keys)
    sealed = dict(SealedOutput.objects.filter(output__in=keys).values_list("output", "digests"))
    opened = dict(OpenDigests.objects.filter(output__in=keys).values_list("output", "digests"))
    for output in page:
        closed = (
            frozenset(Part) if not batch.is_main else WITH_TEXT if output.task_id in holdout else frozenset()
        )
        digests = _digests(bytes(sealed[output.pk]), bytes(opened[output.pk]))
        yield _record_line(output, labels[output.pk], digests, seed, closed)


def _record_line(
    output: Output, label: RevealedLabel, digests: dict[Part, bytes], seed: bytes, closed: frozenset[Part]
) -> dict[str, Any]:
    nonce = bytes.fromhex(label.leaf["nonce"])
    shown_nonce = commitment.open_nonce(seed, output.blinded_output_id)
    values, texts = _values(output, label), _texts(output, label)
    values[Part.SHOWN] = texts[0]
    parts = {}
    for part in Part:
        salt = commitment.salt_of(nonce if part in SEALED_PARTS else shown_nonce, part)
        opened = part not in closed
        parts[part] = (
            commitment.opened(part, values[part], salt) if opened else commitment.withheld(digests[part])
        )
    line = commitment.record_line(str(output.batch_id), output.blinded_output_id, parts)
    later = [
        commitment.opened(Part.SHOWN, text, commitment.salt_of(bytes.fromhex(one), Part.SHOWN))
        for text, one in zip(texts[1:], label.leaf.get("nonces", []), strict=True)
    ]
    if later:
        shown = Part.SHOWN not in closed
        line["amended"] = [entry if shown else {"digest": entry["digest"]} for entry in later]
    return line


def _digests(sealed: bytes, opened: bytes) -> dict[Part, bytes]:
    pieces = [
        joined[i : i + DIGEST_SIZE] for joined in (sealed, opened) for i in range(0, len(joined), DIGEST_SIZE)
    ]
    return dict(zip((*SEALED_PARTS, *OPEN_PARTS), pieces, strict=True))


def _values(output: Output, label: RevealedLabel) -> dict[Part, Any]:
    return {
        Part.LABELS: {"fields": label.leaf["fields"], "raw_line": label.raw_line},
        Part.RAW: label.leaf["raw_text"],
        Part.EXPECTED: label.gold_expected,
        Part.CLUSTER: output.cluster.code if output.cluster else None,
    }


def _texts(output: Output, label: RevealedLabel) -> list[str]:
    """Return the texts that were shown, in their order: the committed one first."""
    return [*label.leaf.get("shown", []), output.text]


def _label(output: Output, label: RevealedLabel) -> dict[str, Any]:
    return {
        "blinded_output_id": output.blinded_output_id,
        "output_id": label.output_id,
        "task_id": output.task.task_id,
        "task_version": output.task.task_version or None,
        "condition": label.condition,
        "model": label.model,
        "theory": label.theory,
        "gold_expected": label.gold_expected,
        "auto_cluster_id": label.auto_cluster_id,
        "cluster_code": output.cluster.code if output.cluster else None,
    }


def _guess(guess: Guess, condition: str, model: str) -> dict[str, Any]:
    item = guess.assignment
    return {
        "blinded_output_id": item.output.blinded_output_id,
        "annotator_id": item.member.alias,
        "guessed_condition": guess.condition or None,
        "guessed_model": guess.model or None,
        "condition": condition,
        "model": model,
        "reason": guess.reason,
        "guessed_at": guess.guessed_at,
    }
