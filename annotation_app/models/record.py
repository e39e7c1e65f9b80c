"""What coders submitted: append-only versions, and the layer that adjudication lays over them."""

from __future__ import annotations

from django.db import models

from annotation_app.models.assignment import Assignment
from annotation_app.models.codebook import Codebook
from annotation_app.models.study import Study
from blinding.models import key


class RecordQuerySet(models.QuerySet["Record"]):
    def newest(self) -> RecordQuerySet:
        """Return of each assignment the version that stands."""
        return self.filter(version=models.F("assignment__version"))

    def final(self) -> RecordQuerySet:
        return self.newest().filter(assignment__final_at__isnull=False, assignment__voided_at=None)


class Record(models.Model):
    """One version of one assignment's record. Rows are never changed or removed; a trigger sees to it."""

    id = key("record")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="records")
    version = models.PositiveIntegerField()
    submission_id = models.CharField(max_length=64)
    payload = models.JSONField()  # coded fields, by schema property
    flagged = models.BooleanField(default=False)
    flag_reason = models.TextField(blank=True)
    codebook = models.ForeignKey(Codebook, on_delete=models.PROTECT, related_name="+")
    submitted_at = models.DateTimeField()
    active_seconds = models.PositiveIntegerField(default=0)
    idle_seconds = models.PositiveIntegerField(default=0)

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "version"], name="versions_of_a_record_are_numbered"
            ),
            models.UniqueConstraint(fields=["assignment", "submission_id"], name="a_submission_counts_once"),
        ]


class RecordOverlay(models.Model):
    """What adjudication adds to an exported record. The record itself stays as submitted."""

    assignment = models.OneToOneField(
        Assignment, primary_key=True, on_delete=models.PROTECT, related_name="overlay"
    )
    adjudication_required = models.BooleanField(default=False)
    adjudicator_id = models.CharField(max_length=20, blank=True)
    adjudicated_value = models.TextField(null=True)  # noqa: DJ001  null: nothing was decided
    changed_at = models.DateTimeField()


class Erratum(models.Model):
    """A coder reports a mistake after the record became final; append-only."""

    id = key("erratum")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="errata")
    text = models.TextField()
    reported_at = models.DateTimeField()


class Guess(models.Model):
    """A closing guess at where an output came from; append-only."""

    id = key("guess")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="guess")
    condition = models.CharField(max_length=500, blank=True)  # empty: don't know
    model = models.CharField(max_length=500, blank=True)
    reason = models.TextField(blank=True)
    guessed_at = models.DateTimeField()


class ExportFile(models.Model):
    """A bundle that a job built; offered only once it is whole."""

    id = key("export_file")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="export_files")
    path = models.CharField(max_length=500, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    asked_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True)
