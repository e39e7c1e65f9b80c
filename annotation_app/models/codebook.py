"""The instructions that coders follow, in numbered versions; append-only."""

from django.db import models

from annotation_app.models.study import Membership, Study
from blinding import clock
from blinding.models import key


class Codebook(models.Model):
    class Kind(models.TextChoices):
        FIRST = "first"
        CLARIFICATION = "clarification"  # applies at once
        RULE_CHANGE = "rule_change"  # applies to the next batch released

    id = key("codebook")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="codebooks")
    version = models.CharField(max_length=40)
    number = models.PositiveIntegerField()
    rule_version = (
        models.PositiveIntegerField()
    )  # counts rule changes: pairs of one rule version are comparable
    kind = models.CharField(max_length=15, choices=Kind.choices)
    document = models.JSONField()
    hash = models.CharField(max_length=64)
    mapping_hash = models.CharField(max_length=64)  # label ↔ value
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "version"], name="a_codebook_version_is_used_once_in_a_study"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="codebooks_of_a_study_are_numbered"),
        ]


class Question(models.Model):
    """A coder asks about a rule; the project author's answer goes to all coders at once, unattributed."""

    id = key("question")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="questions")
    asked_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    asked_at = models.DateTimeField(default=clock.now)
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True)
