"""What leaves the domain: frozen shapes, one for each thing a page or program may see. Built by `of`, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation_app import registries
from annotation_app.models import Assignment, Batch, Cluster, Finding, Membership, Output
from annotation_app.record_schema import Form, Payload, RecordContext, to_draft, to_neutral
from annotation_app.services.contexts import clusters_of, context_of, empty_places_beside, own_clusters_of
from annotation_app.services.forms import form_of
from annotation_app.services.reassignment import stranded_items
from blinding import clock
from blinding.jobs import latest
from blinding.models import Commitment
from blinding.policy import Disclosure


@dataclass(frozen=True)
class ClusterView:
    code: str
    label: str
    exemplars: list[str]

    @classmethod
    def of(cls, cluster: Cluster, *, on_screen: UUID, protocol: Mapping[str, Any]) -> ClusterView:
        """Show a cluster beside an output, without an excerpt of that very output.

        One more than is shown was drawn, so that its absence is not seen: it would name the proposed cluster.
        """
        known = [e for e in cluster.exemplars if e["excerpt"]]
        wanted = int(protocol["exemplars"])
        if protocol["show_proposed_cluster"] != "from_start":
            wanted = min(wanted, len(known) - 1)
        excerpts = [e["excerpt"] for e in known if e["output"] != str(on_screen)]
        return cls(cluster.code, cluster.label, excerpts[: max(wanted, 0)])


@dataclass(frozen=True)
class AssignmentView:
    """An item as its coder gets it, and nothing more."""

    assignment_uid: UUID
    position: int
    total: int
    task_code: str
    task_statement: str
    reference_material: str
    text: str
    classes: list[str]
    clusters: list[ClusterView]
    proposed_cluster: str | None
    form: dict[str, Any]
    codebook_version: str
    draft: dict[str, Any]

    @classmethod
    def of(cls, item: Assignment, membership: Membership) -> AssignmentView:
        """Show a served item to its own coder: two queries for clusters."""
        clusters, own = clusters_of(item), own_clusters_of(item)
        shown = [
            ClusterView.of(c, on_screen=item.output_id, protocol=membership.study.protocol) for c in clusters
        ]
        form = form_of(membership.study, item.codebook_id)  # type: ignore[arg-type]
        context = context_of(item, clusters, own)
        total = membership.calibration_total if item.calibration else membership.main_total
        task = item.output.task
        return cls(
            assignment_uid=item.pk,
            position=item.position or 0,
            total=total + empty_places_beside(item),
            task_code=task.code,
            task_statement=task.statement,
            reference_material=task.reference_material,
            text=item.output.text,
            classes=list(task.classes),
            clusters=shown,
            proposed_cluster=form.preset(context.proposed_cluster),
            form=form.for_coder(context.classes, context.clusters, context.proposed_cluster, own),
            codebook_version=item.codebook.version if item.codebook else "",
            draft=draft_of(item, form, context),
        )


def draft_of(item: Assignment, form: Form, context: RecordContext) -> dict[str, Any]:
    """Return the item's draft as {fields, version}, under neutral keys; empty with version 0 where there is none."""
    draft = getattr(item, "draft", None)
    if draft is None:
        return {"fields": {}, "version": 0}
    return {"fields": to_draft(form, draft.fields, context), "version": draft.version}


def submitted_fields(item: Assignment, membership: Membership) -> dict[str, Any]:
    """Return what the coder submitted last, under neutral keys, to be read or revised."""
    record = item.records.order_by("-version")[0]
    form = form_of(membership.study, item.codebook_id)  # type: ignore[arg-type]
    return to_neutral(form, Payload(record.payload, record.flag_reason), context_of(item))


def _may_count_cases(membership: Membership) -> bool:
    """Who reads the times of records would learn from a count of cases which of them are disputed."""
    return not membership.may_learn(Disclosure.EVENTS) or membership.may_learn(Disclosure.CASE_EVENTS)


def _without_cases(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if not name.endswith("_cases")}


@dataclass(frozen=True)
class StudyView:
    """A study's state and what its member may count."""

    slug: str
    title: str
    phase: str
    role: str
    alias: str
    declared: bool
    counts: dict[str, int]

    @classmethod
    def of(cls, membership: Membership) -> StudyView:
        study = membership.study
        return cls(
            slug=study.slug,
            title=study.title,
            phase=study.phase,
            role=membership.role,
            alias=membership.alias,
            declared=membership.declared_at is not None,
            counts=counts_for(membership),
        )


def counts_for(membership: Membership) -> dict[str, int]:
    """Return whole-study counts for who may learn them, the member's own progress for a coder, nothing otherwise."""
    study = membership.study
    if membership.may_learn(Disclosure.COUNTS):
        counts = {
            "outputs": Output.objects.filter(study=study).main().count(),
            "batches": study.batches.filter(status=Batch.Status.RELEASED).count(),
            "submitted": Assignment.objects.filter(
                study=study, version__gt=0, calibration=False, slot__in=["A", "B"]
            )
            .live()
            .count(),
            "without_coder": stranded_items(study).count(),
        }
        for counter in registries.counters:
            counts.update(counter(study))
        return counts if _may_count_cases(membership) else _without_cases(counts)
    if membership.slot in ("A", "B", "audit"):
        return {
            "own_total": membership.main_total,
            "own_submitted": membership.main_submitted,
            "own_calibration_total": membership.calibration_total,
            "own_calibration_submitted": membership.calibration_submitted,
        }
    return {}


@dataclass(frozen=True)
class MemberView:
    """A member in the admin's list: the person's name is there for who manages accounts, the codes are not."""

    alias: str
    role: str
    username: str
    joined_at: datetime
    declared_at: datetime | None
    ended_at: datetime | None
    invited: bool  # and no password chosen yet

    @classmethod
    def of(cls, member: Membership) -> MemberView:
        invitation = getattr(member, "invitation", None)
        return cls(
            alias=member.alias,
            role=member.role,
            username=member.user.get_username() if member.user else "",
            joined_at=member.joined_at,
            declared_at=member.declared_at,
            ended_at=member.ended_at,
            invited=member.ended_at is None and invitation is not None and invitation.used_at is None,
        )


@dataclass(frozen=True)
class BatchView:
    """A batch as the admin follows it; no figure in it depends on an arm."""

    uid: UUID
    name: str
    purpose: str
    status: str
    progress: dict[str, int]
    counts: dict[str, Any]
    columns: dict[str, Any] | None  # names of the file's columns by what becomes of them
    errors: list[dict[str, Any]]
    errors_total: int
    warnings: list[dict[str, Any]]
    lint: dict[str, Any] | None  # of task packages, until the release
    error: str
    needs_reason: bool
    uploaded_at: datetime
    released_at: datetime | None
    merkle_root: str | None
    seed_commitment: str | None

    @classmethod
    def of(cls, batch: Batch) -> BatchView:
        job = latest("release_batch", batch.pk) or latest("import_batch", batch.pk)
        commitment = Commitment.objects.filter(batch=batch.pk).first()
        running = job is not None and job.state in ("queued", "running")
        return cls(
            uid=batch.pk,
            name=batch.name,
            purpose=batch.purpose,
            status=batch.status,
            progress={"done": job.done, "total": job.total, "percent": job.percent if running else 100}
            if job
            else {},
            counts={
                "rows": batch.rows,
                **{k: v for k, v in batch.summary.items() if k not in ("lint", "columns")},
            },
            columns=batch.summary.get("columns"),
            errors=list(batch.errors),
            errors_total=batch.errors_total,
            warnings=list(batch.warnings),
            lint=batch.summary.get("lint"),
            error=job.error if job is not None and job.state == "failed" else "",
            needs_reason=batch.arms_warning,
            uploaded_at=batch.uploaded_at,
            released_at=batch.released_at,
            merkle_root=commitment.merkle_root if commitment else None,
            seed_commitment=commitment.seed_commitment if commitment else None,
        )


@dataclass(frozen=True)
class FindingView:
    term: str
    kind: str
    count: int
    outputs: int
    accepted: bool
    examples: list[dict[str, str]]

    @classmethod
    def of(cls, finding: Finding) -> FindingView:
        return cls(
            finding.term,
            finding.kind,
            finding.count,
            finding.outputs,
            finding.accepted,
            list(finding.examples),
        )


@dataclass(frozen=True)
class RecordRow:
    """One of the coder's own records in "My records"."""

    uid: UUID
    position: int
    task_code: str
    version: int
    submitted_at: datetime
    revisable_until: datetime | None
    revisable: bool
    voided: bool
    errata: int

    @classmethod
    def of(cls, item: Assignment) -> RecordRow:
        """Show an item of the coder's own; `corrections` is counted beside it."""
        assert item.submitted_at is not None
        until = item.revisable_until
        return cls(
            uid=item.pk,
            position=item.position or 0,
            task_code=item.output.task.code,
            version=item.version,
            submitted_at=item.submitted_at,
            revisable_until=until,
            revisable=item.final_at is None
            and item.voided_at is None
            and until is not None
            and until > clock.now(),
            voided=item.voided_at is not None,
            errata=getattr(item, "corrections", 0),
        )
