"""Comparisons of final pairs, cases, decisions and agreement reports."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation_app.models import Assignment, Membership, Output, Record, Study
from blinding import clock
from blinding.models import key
from blinding.policy import Disclosure


class Comparison(models.Model):
    """What a comparison of two final record versions found; append-only."""

    id = key("comparison")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="comparisons")
    record_a = models.ForeignKey(Record, on_delete=models.PROTECT, related_name="+")
    record_b = models.ForeignKey(Record, on_delete=models.PROTECT, related_name="+")
    disputed = models.JSONField()  # [field path, …]
    flagged = models.BooleanField()
    compared_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["record_a", "record_b"], name="a_pair_is_compared_once")
        ]


class CaseQuerySet(models.QuerySet["Case"]):
    def visible_to(self, membership: Membership) -> CaseQuerySet:
        """Return the cases this member claimed; before claiming one nobody sees it."""
        if not membership.may_learn(Disclosure.CASES):
            return self.none()
        return self.filter(study_id=membership.study_id, claimed_by=membership)

    def open(self) -> CaseQuerySet:
        return self.filter(state=Case.State.OPEN)


class Case(models.Model):
    """A disagreement, a flag or a sham, on its way to a third party's decision."""

    class State(models.TextChoices):
        OPEN = "open"
        DECIDED = "decided"
        WITHDRAWN = "withdrawn"
        LEFT_OPEN = "left_open"

    class Origin(models.TextChoices):
        DISPUTE = "dispute"
        FLAG = "flag"
        SHAM = "sham"

    id = key("case")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="cases")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="cases")
    comparison = models.ForeignKey(Comparison, on_delete=models.PROTECT, related_name="cases")
    origin = models.CharField(max_length=10, choices=Origin.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    a_is_left = models.BooleanField()
    place = models.BigIntegerField()  # random: the queue's order says nothing
    claimed_by = models.ForeignKey(Membership, null=True, on_delete=models.PROTECT, related_name="+")
    claim_no = models.PositiveIntegerField(default=0)  # fencing: a write with an older number is refused
    lease_until = models.DateTimeField(null=True)
    step = models.PositiveSmallIntegerField(default=1)
    assignment = models.OneToOneField(Assignment, null=True, on_delete=models.PROTECT, related_name="case")
    opened_at = models.DateTimeField(default=clock.now)
    closed_at = models.DateTimeField(null=True)
    closed_because = models.CharField(max_length=200, blank=True)

    objects = CaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["output"], condition=Q(state="open"), name="one_open_case_per_output"
            ),
        ]
        indexes = [models.Index(fields=["study", "state", "place"], name="case_queue")]


class Decision(models.Model):
    """A third party's decision on a case; append-only."""

    id = key("decision")
    case = models.OneToOneField(Case, on_delete=models.PROTECT, related_name="decision")
    decided_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    values = models.JSONField()  # {field path: {"from": left|right|own|other|undecided, "value": …}}
    adjudicated_value = models.TextField()
    rationale = models.TextField()
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_decision_has_a_rationale", condition=~Q(rationale="")),
        ]


class CaseDraft(models.Model):
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="drafts")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    fields = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "member"], name="a_case_draft_belongs_to_its_author")
        ]


class ReportQuerySet(models.QuerySet["AgreementReport"]):
    def visible_to(self, membership: Membership) -> ReportQuerySet:
        if not membership.may_learn(Disclosure.AGREEMENT):
            return self.none()
        return self.filter(study_id=membership.study_id)


class AgreementReport(models.Model):
    """A stored report: figures with the hash of the data they were computed on."""

    id = key("agreement_report")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="agreement_reports")
    asked_by = models.UUIDField()
    settings = models.JSONField(default=dict)
    data_hash = models.CharField(max_length=64, blank=True)
    result = models.JSONField(null=True)
    asked_at = models.DateTimeField(default=clock.now)
    ready_at = models.DateTimeField(null=True)

    objects = ReportQuerySet.as_manager()
