"""Training texts must not come back in the main sample: coders have talked about them.

Texts are compared as cleaned, with every name of the lexicon masked whatever the admin decided on it, so that a digest
tells nothing that the shown text does not.
"""

import hashlib
from collections.abc import Iterator

from annotation_app.models import Batch, Finding, StagedOutput, TrainingText
from blinding.redaction.spans import Span, mask

PAGE = 1000


def note_training_texts(batch: Batch) -> None:
    """Keep the digests of a training batch's texts, in an order that says nothing."""
    rows = [TrainingText(study_id=batch.study_id, digest=digest) for digest in sorted(set(_digests(batch)))]
    TrainingText.objects.bulk_create(rows, ignore_conflicts=True, batch_size=PAGE)


def count_repeats(batch: Batch) -> int:
    """Return how many staged texts of a batch were used in training; no look at them where there was none."""
    known = {
        bytes(d) for d in TrainingText.objects.filter(study=batch.study_id).values_list("digest", flat=True)
    }
    return sum(digest in known for digest in _digests(batch)) if known else 0


def _digests(batch: Batch) -> Iterator[bytes]:
    names = set(batch.findings.filter(kind=Finding.Kind.LEXICON).values_list("number", flat=True))
    staged = StagedOutput.objects.filter(batch=batch).values_list("text", "spans")
    for text, spans in staged.iterator(chunk_size=PAGE):
        yield _digest(text, [span for span in spans if span[2] in names])


def _digest(text: str, spans: list[list[int]]) -> bytes:
    shown = mask(text, [Span(start, end, "lexicon", "") for start, end, _ in spans])
    return hashlib.sha256(shown.encode()).digest()
