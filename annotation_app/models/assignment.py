"""Who codes what, in which place of their own order."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation_app.models.codebook import Codebook
from annotation_app.models.output import Output
from annotation_app.models.study import Membership, Study
from annotation_app.models.task import Task
from blinding.models import key


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def visible_to(self, membership: Membership) -> AssignmentQuerySet:
        """Return the member's own assignments; nobody is ever given another's."""
        return self.filter(member=membership)

    def live(self) -> AssignmentQuerySet:
        return self.filter(voided_at=None)

    def open(self) -> AssignmentQuerySet:
        """Return what is still to be coded: not submitted, not voided, not held."""
        return self.filter(submitted_at=None, voided_at=None, held_at=None)

    def final(self) -> AssignmentQuerySet:
        """Return what has a final record that stays in; the item of a decided case is final without one."""
        return self.filter(final_at__isnull=False, voided_at=None, version__gt=0)

    def in_own_order(self) -> AssignmentQuerySet:
        """Order as the coder meets them: skipped ones come back at the end."""
        return self.order_by("skips", "position")


class Assignment(models.Model):
    class Slot(models.TextChoices):
        A = "A"
        B = "B"
        AUDIT = "audit"
        ADJUDICATOR = "adjudicator"

    id = key("assignment")
    record_id = models.UUIDField(unique=True)
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="assignments")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="assignments")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="assignments")
    slot = models.CharField(max_length=12, choices=Slot.choices)
    calibration = models.BooleanField(default=False)
    position = models.PositiveIntegerField(null=True)  # in the member's own order; none for a claimed case
    given_later = models.BooleanField(
        default=False
    )  # changed hands after the allocation that was committed to
    guess_drawn = models.BooleanField(default=False)  # shown again for a closing guess
    skips = models.PositiveSmallIntegerField(default=0)
    held_at = models.DateTimeField(null=True)
    served_at = models.DateTimeField(null=True)
    codebook = models.ForeignKey(Codebook, null=True, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(default=0)  # of the record; 0: nothing submitted
    submitted_at = models.DateTimeField(null=True)
    revisable_until = models.DateTimeField(null=True)
    final_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)
    void_reason = models.CharField(
        max_length=40, blank=True
    )  # exposed, reassigned, recalled, task_voided, opted_out

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["output", "slot"],
                condition=Q(voided_at=None, slot__in=["A", "B"]),
                name="one_live_coder_per_output_and_primary_slot",
            ),
            models.UniqueConstraint(fields=["output", "member"], name="nobody_meets_an_output_twice"),
            models.CheckConstraint(
                name="an_assignment_is_in_a_known_slot",
                condition=Q(slot__in=["A", "B", "audit", "adjudicator"]),
            ),
            models.CheckConstraint(
                name="only_what_was_submitted_is_final",
                condition=Q(final_at=None) | Q(submitted_at__isnull=False),
            ),
            models.CheckConstraint(
                name="what_was_submitted_was_served",
                condition=Q(submitted_at=None) | Q(served_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                F("member"),
                F("calibration"),
                F("skips"),
                F("position"),
                condition=Q(submitted_at=None, voided_at=None, held_at=None),
                name="open_in_own_order",
            ),
            models.Index(
                F("member"),
                F("calibration"),
                condition=Q(voided_at__isnull=False, position__isnull=False),
                name="taken_out_of_a_list",
            ),
            models.Index(
                F("revisable_until"),
                condition=Q(submitted_at__isnull=False, final_at=None, voided_at=None),
                name="submitted_but_not_final",
            ),
            models.Index(fields=["study", "slot", "final_at"], name="assignment_by_finality"),
            models.Index(fields=["study", "record_id"], name="record_export_order"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Draft(models.Model):
    """What a coder has entered and not submitted; every write names the version it builds on."""

    assignment = models.OneToOneField(
        Assignment, primary_key=True, on_delete=models.CASCADE, related_name="draft"
    )
    fields = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField()
    active_seconds = models.PositiveIntegerField(default=0)  # spent on the item so far, over all sittings
    idle_seconds = models.PositiveIntegerField(default=0)


class OwnCluster(models.Model):
    """A new cluster (N1, N2 …) that one coder made in one task."""

    id = key("own_cluster")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=10)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["member", "task", "code"], name="a_coder_names_a_new_cluster_once"
            )
        ]
