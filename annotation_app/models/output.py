"""An output as coders may see it: masked text under a blinded id. Nothing here says where it came from."""

from __future__ import annotations

from django.db import models

from annotation_app.models.batch import Batch
from annotation_app.models.study import Study
from annotation_app.models.task import Cluster, Task
from blinding.models import key


class OutputQuerySet(models.QuerySet["Output"]):
    def main(self) -> OutputQuerySet:
        return self.filter(batch__purpose=Batch.Purpose.MAIN)

    def in_force(self) -> OutputQuerySet:
        """Return outputs that count: task version not voided, not excluded."""
        return self.filter(task__voided_at=None, excluded_at=None)


class Output(models.Model):
    id = key("output")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="outputs")
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="outputs")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="outputs")
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.PROTECT, related_name="+")
    blinded_output_id = models.CharField(max_length=40)
    text = models.TextField()
    html = models.TextField(blank=True)  # rendered once at release; empty: plain text
    masks = models.PositiveIntegerField(default=0)
    blind_version = models.CharField(max_length=80)
    frozen_at = models.DateTimeField(null=True)  # recall under way: nobody is served this
    recalled = models.PositiveSmallIntegerField(default=0)
    excluded_at = models.DateTimeField(null=True)
    exclusion_reason = models.CharField(max_length=200, blank=True)

    objects = OutputQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "blinded_output_id"], name="a_blinded_output_id_is_used_once_in_a_study"
            ),
            models.CheckConstraint(
                name="an_excluded_output_has_a_reason",
                condition=models.Q(excluded_at=None) | ~models.Q(exclusion_reason=""),
            ),
        ]

    def __str__(self) -> str:
        return self.blinded_output_id
