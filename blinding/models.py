"""What is sealed, and what is written down about it. Names studies, batches, outputs and members by UUID only,
so that no join leads from what is served to what is sealed."""

from functools import partial
from typing import Any

from django.db import models

from blinding import clock, entropy


def key(name: str) -> "models.UUIDField[Any, Any]":
    """Return a primary key of random UUIDs, drawn from the stream named after the table."""
    return models.UUIDField(primary_key=True, editable=False, default=partial(entropy.uuid, "id", name))


class StudyKey(models.Model):
    """The study's key pair: the public half seals, the private half lies encrypted under one or two passphrases."""

    study = models.UUIDField(primary_key=True)
    public_key = models.BinaryField()
    wrapped = models.BinaryField()
    layers = models.PositiveSmallIntegerField(
        default=1
    )  # 1: the admin's passphrase, 2: the project author's around it
    id_secret = models.BinaryField()  # keys the digests of used output ids; opens nothing

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_key_has_one_or_two_layers", condition=models.Q(layers__in=[1, 2]))
        ]


class SealedOutput(models.Model):
    """Two boxes per output, for the study's public key: labels (padded to one size per batch) and raw text."""

    id = key("sealed_output")
    study = models.UUIDField()
    batch = models.UUIDField(db_index=True)
    output = models.UUIDField(unique=True)
    labels = models.BinaryField()
    raw_text = models.BinaryField()
    digests = models.BinaryField()  # 96 bytes: salted digests of the sealed parts, made when these were plain


class SealedTask(models.Model):
    """Metadata of one task version as one batch brought them, sealed; immutable. `task` is the task's UUID.

    Batches that bring the same again each have a box of their own, so that discarding one takes nothing from another.
    """

    id = key("sealed_task")
    study = models.UUIDField(db_index=True)
    batch = models.UUIDField(db_index=True)
    task = models.UUIDField(db_index=True)
    version = models.CharField(max_length=500)  # metadata.task_version, which outputs need not name
    digest = models.BinaryField()  # keyed by the study and the server: are two metadata the same?
    box = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "task"], name="a_batch_seals_a_task_once")]


class DeclaredLabels(models.Model):
    """What the protocol declares open of a task's labels: strata before the unblinding."""

    task = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    labels = models.JSONField()


class TaskTally(models.Model):
    """Labels T1-T10 of a batch's tasks, in a box that only this server opens: task by task until the release, which
    leaves nothing but their sums, to be published."""

    batch = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    box = models.BinaryField()
    added_up = models.BooleanField(default=False)


class PublishedDistributions(models.Model):
    """Distributions of T1-T10 per family as the project author published them, once. Append-only."""

    study = models.UUIDField(primary_key=True)
    document = models.JSONField()
    published_by = models.UUIDField()
    published_at = models.DateTimeField()


class SealedFigures(models.Model):
    """Figures about arms (confounding, mask rates) that nobody may read before unblinding."""

    id = key("sealed_figures")
    study = models.UUIDField(db_index=True)
    batch = models.UUIDField(null=True)
    kind = models.CharField(max_length=40)
    box = models.BinaryField()


class UsedOutputId(models.Model):
    """A keyed digest of an output id with the batch that used it, never the output; stored in sorted order."""

    id = key("used_output_id")
    study = models.UUIDField()
    batch = models.UUIDField(db_index=True)
    digest = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "digest"], name="an_output_id_is_used_once_in_a_study")
        ]


class Commitment(models.Model):
    """What was promised before the first item was opened: the Merkle root and a commitment to the seed.

    `sealed_seed` opens with the study's key; `receipt` is an outside timestamp that somebody attached.
    """

    batch = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    merkle_root = models.CharField(max_length=64)
    seed_commitment = models.CharField(max_length=64)
    leaves = models.PositiveIntegerField()
    manifest = models.JSONField()
    allocation = (
        models.JSONField()
    )  # members, spacing, shares and first places: with the seed, all an order is made of
    sealed_seed = models.BinaryField()
    committed_at = models.DateTimeField()
    receipt = models.BinaryField(null=True)
    receipt_at = models.DateTimeField(null=True)


class OpenDigests(models.Model):
    """Digests of an output's open parts at its release: with those of the sealed parts they give its leaf again."""

    output = models.UUIDField(primary_key=True)
    study = models.UUIDField()
    batch = models.UUIDField(db_index=True)
    digests = models.BinaryField()  # 64 bytes


class Amendment(models.Model):
    """A recall put another text in front of coders: the leaf that this gives. Append-only.

    `sealed` holds the text shown before and the new digest's nonce, for the study's public key.
    """

    id = key("amendment")
    study = models.UUIDField(db_index=True)
    batch = models.UUIDField(db_index=True)
    output = models.UUIDField()
    number = models.PositiveSmallIntegerField()
    leaf = models.CharField(max_length=64)
    version_before = models.CharField(max_length=80)  # the blind version that ended here
    sealed = models.BinaryField()
    amended_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["output", "number"], name="amendments_of_an_output_are_numbered")
        ]


class Exposure(models.Model):
    """A person met information that the blind withholds, for one output. Append-only."""

    HOW = [
        ("says_so", "it says so"),
        ("knows", "known from elsewhere"),
        ("hunch", "it feels like"),
        ("recall", "a leak"),
    ]

    id = key("exposure")
    study = models.UUIDField(db_index=True)
    output = models.UUIDField(db_index=True)
    member = models.UUIDField(db_index=True)
    assignment = models.UUIDField(null=True)
    how = models.CharField(max_length=10, choices=HOW)
    what = models.TextField(blank=True)
    before_final = models.BooleanField()
    exposed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="an_exposure_says_how",
                condition=models.Q(how__in=["says_so", "knows", "hunch", "recall"]),
            )
        ]


class Event(models.Model):
    """Something that happened in a study, free of labels. Append-only; `facts` holds UUIDs, numbers and reasons."""

    id = key("event")
    study = models.UUIDField(db_index=True)
    kind = models.CharField(max_length=60)
    actor = models.UUIDField(null=True)  # a membership; null: the system
    subject = models.UUIDField(null=True)
    facts = models.JSONField(default=dict)
    happened_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["study", "happened_at"], name="event_by_study_and_time")]


class EventBlock(models.Model):
    """A link of the chain: hashes of the events it closes in, sorted, over the hash of the block before. Append-only."""

    id = key("event_block")
    study = models.UUIDField()
    number = models.PositiveIntegerField()
    previous = models.CharField(max_length=64)
    entries = models.JSONField()  # [[event id, hash], …]
    hash = models.CharField(max_length=64)
    closed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="a_block_number_is_used_once")
        ]


class Job(models.Model):
    """Long work: the row is the truth, the broker only wakes a worker."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    id = key("job")
    study = models.UUIDField(db_index=True)
    kind = models.CharField(max_length=40)
    subject = models.UUIDField(db_index=True)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    heartbeat = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=models.Q(state__in=["queued", "running"]),
                name="one_live_job_of_a_kind_per_subject",
            )
        ]

    @property
    def percent(self) -> int:
        return min(100, int(100 * self.done / self.total)) if self.total else 0


class UnblindingRequest(models.Model):
    """The project author asks, the admin approves, a job opens the seals; a request lapses after a day."""

    class State(models.TextChoices):
        REQUESTED = "requested"
        APPROVED = "approved"
        DONE = "done"
        LAPSED = "lapsed"
        WITHDRAWN = "withdrawn"
        FAILED = "failed"

    id = key("unblinding_request")
    study = models.UUIDField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.REQUESTED)
    reason = models.TextField()
    requested_by = models.UUIDField()
    requested_at = models.DateTimeField()
    approved_by = models.UUIDField(null=True)
    approved_at = models.DateTimeField(null=True)
    outer = models.BinaryField(null=True)  # the wrapped key as it was, put back when the request lapses
    dataset_hash = models.CharField(max_length=64, blank=True)
    verification = models.JSONField(default=dict)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study"],
                condition=models.Q(state__in=["requested", "approved"]),
                name="one_open_unblinding_request_per_study",
            ),
            models.CheckConstraint(
                name="who_requests_an_unblinding_does_not_approve_it",
                condition=models.Q(approved_by=None) | ~models.Q(approved_by=models.F("requested_by")),
            ),
            models.CheckConstraint(name="an_unblinding_has_a_reason", condition=~models.Q(reason="")),
        ]


class RevealedLabel(models.Model):
    """What a seal held, after the unblinding: one row per output."""

    output = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    output_id = models.TextField()
    condition = models.TextField()
    model = models.TextField()
    theory = models.TextField(null=True)  # noqa: DJ001  absent is not empty
    auto_cluster_id = models.TextField(null=True)  # noqa: DJ001
    gold_expected = models.JSONField(null=True)
    raw_line = models.TextField()
    leaf = models.JSONField(default=dict)


class RevealedTask(models.Model):
    """A task version's metadata after the unblinding."""

    task = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    metadata = models.JSONField()


class RevealedSeed(models.Model):
    """The seed of a batch's orders after the unblinding, with the nonce of its commitments; hex."""

    batch = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    seed = models.CharField(max_length=64)
    nonce = models.CharField(max_length=64)


class RevealedFigures(models.Model):
    """Figures about arms after the unblinding; the key is that of the sealed row."""

    id = models.UUIDField(primary_key=True)
    study = models.UUIDField(db_index=True)
    batch = models.UUIDField(null=True)
    kind = models.CharField(max_length=40)
    figures = models.JSONField()
