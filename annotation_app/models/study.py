"""A study and the people in it."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models

from blinding import clock
from blinding.models import key
from blinding.policy import Disclosure, Phase, Role, disclosures, may_learn


class StudyQuerySet(models.QuerySet["Study"]):
    def visible_to(self, user: Any) -> StudyQuerySet:
        """Return the studies of which `user` is a member; a site administrator has no bypass."""
        return self.filter(memberships__user=user, memberships__ended_at=None)


class Study(models.Model):
    id = key("study")
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    phase = models.CharField(max_length=10, choices=[(p.value, p.value) for p in Phase], default=Phase.SETUP)
    record_schema_text = models.TextField(
        db_column="record_schema"
    )  # JSONB would lose the order of its properties
    schema_hash = models.CharField(max_length=64)
    protocol = models.JSONField()
    protocol_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=clock.now)
    frozen_at = models.DateTimeField(null=True)  # protocol and codebook became the preregistration
    preregistration_hash = models.CharField(max_length=64, blank=True)
    coding_closed_at = models.DateTimeField(null=True)
    locked_at = models.DateTimeField(null=True)
    dataset_hash = models.CharField(max_length=64, blank=True)
    left_open = models.JSONField(default=dict)  # why cases were left open at the lock
    unblinded_at = models.DateTimeField(null=True)
    reopening = models.JSONField(
        null=True
    )  # {"member": uuid, "reason": str, "at": iso}: half of locked → review
    demonstration = models.BooleanField(default=False)

    objects = StudyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_study_is_in_a_known_phase", condition=models.Q(phase__in=[p.value for p in Phase])
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def record_schema(self) -> dict[str, Any]:
        """The record schema's document, its properties in the order written."""
        document: dict[str, Any] = json.loads(self.record_schema_text)
        return document

    @property
    def is_writable(self) -> bool:
        return self.phase in (Phase.SETUP, Phase.TRAINING, Phase.CODING, Phase.REVIEW)


class MembershipQuerySet(models.QuerySet["Membership"]):
    def current(self) -> MembershipQuerySet:
        return self.filter(ended_at=None)

    def in_slot(self, slot: str) -> MembershipQuerySet:
        return self.filter(role={"A": Role.PRIMARY_A, "B": Role.PRIMARY_B}.get(slot, slot))


class Membership(models.Model):
    """One person's one role in a study, under a random pseudonym; the link to the person may be cut."""

    id = key("membership")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    alias = models.CharField(max_length=20)
    joined_at = models.DateTimeField(default=clock.now)
    declared_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # A coder's own progress, kept here so that serving an item counts nothing.
    main_total = models.PositiveIntegerField(default=0)
    main_submitted = models.PositiveIntegerField(default=0)
    calibration_total = models.PositiveIntegerField(default=0)
    calibration_submitted = models.PositiveIntegerField(default=0)
    awaits_practice = models.BooleanField(default=False)  # main items come from another set of references
    awaits_gate = models.BooleanField(default=False)  # trained, and not passed on to the main items yet

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="one_role_per_person_and_study"),
            models.UniqueConstraint(fields=["study", "alias"], name="a_pseudonym_is_used_once_in_a_study"),
            models.CheckConstraint(
                name="a_member_has_a_known_role", condition=models.Q(role__in=[r.value for r in Role])
            ),
        ]

    def __str__(self) -> str:
        return self.alias

    @property
    def slot(self) -> str:
        """The slot in which this member codes: A, B, audit, adjudicator; empty for who never codes."""
        slots = {
            Role.PRIMARY_A: "A",
            Role.PRIMARY_B: "B",
            Role.AUDIT: "audit",
            Role.ADJUDICATOR: "adjudicator",
        }
        return slots.get(Role(self.role), "")

    @property
    def learns(self) -> frozenset[Disclosure]:
        return disclosures(self.role, self.study.phase)

    def may_learn(self, what: Disclosure) -> bool:
        interim = self.study.protocol.get("interim_agreement") == "full"
        return may_learn(self.role, self.study.phase, what, interim_agreement=interim)


class Invitation(models.Model):
    """A link with which a new person chooses a password; only its digest is kept."""

    id = key("invitation")
    membership = models.OneToOneField(Membership, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=clock.now)
    used_at = models.DateTimeField(null=True)
