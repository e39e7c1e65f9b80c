"""What leaves the study: records as they stand, and bundles that a job builds."""

from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation_app.api.bundles import bundle_response
from annotation_app.api.exports import records_response
from annotation_app.errors import Absent, Refused
from annotation_app.health import worker_is_alive
from annotation_app.models import ExportFile, Membership
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.bundles.build import KIND, bundles_of, request_bundle
from annotation_app.services.exports import count_records
from blinding.models import Job

LIVE = (Job.State.QUEUED, Job.State.RUNNING)


@require_http_methods(["GET", "POST"])
@member_page
def exports(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method == "POST":
        if request.POST.get("do") != "bundle":
            raise Absent
        request_bundle(membership=membership)
        return redirect("exports", membership.study.slug)
    try:
        files = bundles_of(membership=membership)
    except Refused as fault:
        return _page(request, membership, {"blocked": fault.reason, "bundles": []}, status=409)
    context = _bundles(files, membership.study.slug)
    if request.headers.get("HX-Request"):
        template = "annotation_app/exports.html#bundles"
        return render_page(request, template, context, membership=membership)
    return _page(request, membership, context | {"records_count": count_records(membership.study)})


@require_GET
@member_page
def records(request: HttpRequest, membership: Membership) -> HttpResponse:
    """`records.jsonl`, sent as it is read."""
    streamed = records_response(membership)
    return cast(HttpResponse, streamed)  # a response like any other to all that stands around a page


@require_GET
@member_page
def bundle(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """A whole bundle, as a ZIP."""
    return cast(HttpResponse, bundle_response(membership, uid))


def _page(
    request: HttpRequest, membership: Membership, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    study = membership.study
    shown = {
        "dataset_hash": study.dataset_hash,
        "records_url": reverse("export-records", args=[study.slug]),
        "may_bundle": True,
        **context,
    }
    return render_page(
        request, "annotation_app/exports.html", shown, membership=membership, here="exports", status=status
    )


def _bundles(files: list[ExportFile], slug: str) -> dict[str, Any]:
    """Return the bundles with their jobs' states, in one query for all of them."""
    found = Job.objects.filter(kind=KIND, subject__in=[file.pk for file in files]).order_by("created_at")
    jobs = {job.subject: job for job in found}
    rows = [_bundle(file, jobs.get(file.pk), slug) for file in files]
    live = any(row["live"] for row in rows)
    idle = live and not worker_is_alive()
    return {"bundles": [row | {"no_worker": row["live"] and idle} for row in rows], "bundles_live": live}


def _bundle(file: ExportFile, job: Job | None, slug: str) -> dict[str, Any]:
    return {
        "url": reverse("export-bundle", args=[slug, file.pk]),
        "ready_at": file.ready_at,
        "size": file.size,
        "sha256": file.sha256,
        "live": file.ready_at is None and job is not None and job.state in LIVE,
        "error": job.error if job and job.state == Job.State.FAILED else "",
        "done": job.done if job else 0,
        "total": job.total if job else 0,
    }
