"""What members may see of sealed matters: frozen shapes of requests and bundles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation_app.models import ExportFile, Membership
from annotation_app.services import unblinding
from annotation_app.services.bundles import build
from blinding.jobs import latest
from blinding.models import Job, UnblindingRequest


@dataclass(frozen=True)
class JobView:
    """A job as its owner follows it; `state` is queued, running, done or failed."""

    state: str
    done: int
    total: int
    percent: int
    error: str

    @classmethod
    def of(cls, job: Job) -> JobView:
        return cls(
            job.state, job.done, job.total, 100 if job.state == Job.State.DONE else job.percent, job.error
        )


@dataclass(frozen=True)
class UnblindingView:
    """A request to unblind: who asked, who approved (pseudonyms), and what the opening verified."""

    uid: UUID
    state: str
    reason: str
    requested_by: str
    requested_at: datetime
    lapses_at: datetime | None
    approved_by: str
    approved_at: datetime | None
    dataset_hash: str
    verification: dict[str, Any]
    ended_at: datetime | None
    job: JobView | None

    @classmethod
    def of(cls, request: UnblindingRequest) -> UnblindingView:
        people = [p for p in (request.requested_by, request.approved_by) if p]
        names = dict(Membership.objects.filter(pk__in=people).values_list("pk", "alias"))
        waiting = request.state == UnblindingRequest.State.REQUESTED
        job = latest(unblinding.KIND, request.pk)
        return cls(
            uid=request.pk,
            state=request.state,
            reason=request.reason,
            requested_by=names.get(request.requested_by, ""),
            requested_at=request.requested_at,
            lapses_at=request.requested_at + unblinding.LAPSES_AFTER if waiting else None,
            approved_by=names.get(request.approved_by, "") if request.approved_by else "",
            approved_at=request.approved_at,
            dataset_hash=request.dataset_hash,
            verification=dict(request.verification),
            ended_at=request.ended_at,
            job=JobView.of(job) if job else None,
        )


@dataclass(frozen=True)
class BundleView:
    """A bundle: being built, failed with an error, or whole, with size and SHA-256."""

    uid: UUID
    status: str
    progress: dict[str, int]
    error: str
    size: int
    sha256: str
    asked_at: datetime
    ready_at: datetime | None

    @classmethod
    def of(cls, file: ExportFile) -> BundleView:
        job = latest(build.KIND, file.pk)
        shown = JobView.of(job) if job else JobView("queued", 0, 0, 0, "")
        return cls(
            uid=file.pk,
            status=shown.state,
            progress={"done": shown.done, "total": shown.total, "percent": shown.percent},
            error=shown.error,
            size=file.size,
            sha256=file.sha256,
            asked_at=file.asked_at,
            ready_at=file.ready_at,
        )
