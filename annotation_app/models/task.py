"""What outputs answer: a task version, and the proposed clusters of its outputs under random codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from annotation_app.models.study import Study
from blinding.models import key

if TYPE_CHECKING:
    from uuid import UUID


class Task(models.Model):
    id = key("task")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="tasks")
    task_id = models.CharField(max_length=500)
    task_version = models.CharField(max_length=500, blank=True)
    code = models.CharField(max_length=12)  # random; all that pages show
    statement = models.TextField(blank=True)
    reference_material = models.TextField(blank=True)
    positive_control = models.BooleanField(default=False)
    classes = models.JSONField(default=list)
    variant_group = models.CharField(max_length=40, blank=True)  # random code shared by variants of one task
    calibration_split = models.BooleanField(default=False)
    voided_at = models.DateTimeField(null=True)
    void_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "task_id", "task_version"], name="a_task_version_is_known_once_in_a_study"
            ),
            models.UniqueConstraint(fields=["study", "code"], name="a_task_code_is_used_once_in_a_study"),
            models.CheckConstraint(
                name="a_voided_task_has_a_reason",
                condition=models.Q(voided_at=None) | ~models.Q(void_reason=""),
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def spacing_key(self) -> UUID | str:
        return self.variant_group or self.id


class Cluster(models.Model):
    """A proposed cluster of one batch's outputs of a task. The uploader's id is sealed; the code is random."""

    id = key("cluster")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="clusters")
    batch = models.UUIDField(db_index=True)
    code = models.CharField(max_length=10)
    label = models.CharField(max_length=500, blank=True)
    exemplars = models.JSONField(default=list)  # [{"output": uuid, "excerpt": str}], drawn at release

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "code"], name="a_cluster_code_is_used_once_in_a_task")
        ]
