"""Training: what practice texts should be coded as, which texts they were, and who was passed on to the main items."""

from __future__ import annotations

from django.db import models

from annotation_app.models.batch import Batch
from annotation_app.models.output import Output
from annotation_app.models.study import Membership, Study
from blinding.models import key


class ReferenceCodeQuerySet(models.QuerySet["ReferenceCode"]):
    def views(self) -> ReferenceCodeQuerySet:
        """Return what single coders hold to be right after comparing; no reference by itself."""
        return self.filter(source=ReferenceCode.Source.CODER)

    def in_force(self) -> ReferenceCodeQuerySet:
        """Return the newest reference of each output."""
        settled = self.exclude(source=ReferenceCode.Source.CODER)
        return settled.order_by("output", "-written_at", "pk").distinct("output")


class ReferenceCode(models.Model):
    """A code of a practice text by which codes are measured, with where it comes from; append-only, the newest counts."""

    class Source(models.TextChoices):
        CODER = "coder"  # one coder's view after comparing: a reference once all coders of the text share it
        CONSENSUS = "consensus"
        ADJUDICATOR = "adjudicator"
        PROJECT_AUTHOR = "project_author"

    id = key("reference_code")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="references")
    source = models.CharField(max_length=15, choices=Source.choices)
    by = models.ForeignKey(
        Membership, null=True, on_delete=models.PROTECT, related_name="+"
    )  # none: consensus
    values = models.JSONField()  # coded fields, by schema property
    written_at = models.DateTimeField()

    objects = ReferenceCodeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_reference_has_an_author_or_is_a_consensus",
                condition=models.Q(by=None, source="consensus")
                | models.Q(by__isnull=False) & ~models.Q(source="consensus"),
            ),
        ]


class TrainingGate(models.Model):
    """A person passed a coder on to the main items, knowing the coder's agreement with the reference; append-only."""

    member = models.OneToOneField(Membership, primary_key=True, on_delete=models.PROTECT, related_name="gate")
    passed_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    round = models.ForeignKey(
        Batch, null=True, on_delete=models.PROTECT, related_name="+"
    )  # the last one coded
    share = models.FloatField(null=True)  # agreement with the reference in that round
    reason = models.TextField(blank=True)
    passed_at = models.DateTimeField()


class TrainingText(models.Model):
    """The digest of a text used in training, by which the main sample is searched for repeats; no link to an output."""

    id = key("training_text")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    digest = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "digest"], name="a_training_text_is_noted_once")
        ]


class Practice(models.Model):
    """A coder goes through training texts with their reference before main items under another set of references."""

    id = key("practice")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="practices")
    references = models.JSONField()  # keyed digests of the sets of references that the coder had not met
    texts = models.JSONField()  # outputs of training batches, by UUID
    asked_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["member"], condition=models.Q(done_at=None), name="a_coder_has_one_practice_to_do"
            )
        ]
