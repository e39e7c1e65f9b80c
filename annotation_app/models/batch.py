"""An upload on its way to release: the batch, what the redaction found, and the staged outputs."""

from __future__ import annotations

from django.db import models

from annotation_app.models.codebook import Codebook
from annotation_app.models.study import Study
from annotation_app.models.task import Cluster, Task
from blinding import clock
from blinding.models import key


class Batch(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"
        CHECKING = "checking"
        IN_REVIEW = "in_review"
        REJECTED = "rejected"
        FAILED = "failed"
        RELEASING = "releasing"
        RELEASED = "released"
        DISCARDED = "discarded"

    class Purpose(models.TextChoices):
        MAIN = "main"
        CALIBRATION = "calibration"

    id = key("batch")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="batches")
    name = models.CharField(max_length=120)
    purpose = models.CharField(max_length=12, choices=Purpose.choices, default=Purpose.MAIN)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    mapping = models.JSONField(default=dict)
    extension = models.CharField(
        max_length=10, blank=True
    )  # of the upload; its name may tell an arm and is not kept
    sha256 = models.CharField(max_length=64)
    rows = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list)
    errors_total = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list)
    summary = models.JSONField(default=dict)  # label-free counts
    reference_sets = models.JSONField(default=list)  # keyed digests: which batches share one, not which it is
    arms_warning = models.BooleanField(default=False)  # release needs a reason; which arm stays sealed
    release_reason = models.TextField(blank=True)
    number = models.PositiveIntegerField(null=True)  # of its release, within the study
    blind_version = models.CharField(max_length=80, blank=True)
    codebook = models.ForeignKey(Codebook, null=True, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(default=clock.now)
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "sha256"],
                condition=models.Q(status__in=["in_review", "releasing", "released"]),
                name="the_same_bytes_are_accepted_once",
            ),
            models.UniqueConstraint(fields=["study", "number"], name="released_batches_are_numbered"),
            models.CheckConstraint(
                name="a_released_batch_has_a_number_and_a_time",
                condition=~models.Q(status="released")
                | models.Q(number__isnull=False, released_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_main(self) -> bool:
        return self.purpose == self.Purpose.MAIN


class Finding(models.Model):
    """A term the redaction found in a batch, with the admin's decision on it."""

    class Kind(models.TextChoices):
        LEXICON = "lexicon"  # accepted by default
        LABEL = "label"  # the batch's own label values: ignored by default
        VOCABULARY = "vocabulary"  # the study's theory words: ignored by default
        OWN = "own"  # added by the admin at review: accepted

    id = key("finding")
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="findings")
    number = models.PositiveIntegerField()  # what the spans of staged outputs point to
    term = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    lexicon_id = models.CharField(max_length=60, blank=True)
    count = models.PositiveIntegerField()
    outputs = models.PositiveIntegerField()
    accepted = models.BooleanField()
    reason = models.TextField(blank=True)  # of a term of the admin's own
    examples = models.JSONField(default=list)  # [{"before": str, "match": str, "after": str}]
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "kind", "term"], name="a_term_is_reviewed_once_per_batch_and_kind"
            ),
            models.UniqueConstraint(fields=["batch", "number"], name="findings_of_a_batch_are_numbered"),
        ]


class StagedOutput(models.Model):
    """An output between import and release: cleaned text and where terms stand in it. Its key becomes the output's."""

    id = key("staged_output")
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="staged")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    spans = models.JSONField(default=list)  # [[start, end, finding number], …] in code points
