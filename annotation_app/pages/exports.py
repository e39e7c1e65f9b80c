"""What leaves the study: records as they stand."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation_app.api.exports import records_response
from annotation_app.errors import Refused
from annotation_app.models import Membership
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.exports import export_records, may_export


@require_GET
@member_page
def exports(request: HttpRequest, membership: Membership) -> HttpResponse:
    blocked = ""
    try:
        may_export(membership)
    except Refused as fault:
        blocked = fault.reason
    study = membership.study
    context: dict[str, Any] = {
        "blocked": blocked,
        "dataset_hash": study.dataset_hash,
        "records_url": reverse("export-records", args=[study.slug]),
        "records_count": None,
        "may_bundle": True,
        "bundles": [],
        "bundles_live": False,
    }
    status = 409 if blocked else 200
    return render_page(
        request, "annotation_app/exports.html", context, membership=membership, here="exports", status=status
    )


@require_GET
@member_page
def records(request: HttpRequest, membership: Membership) -> HttpResponse:
    """`records.jsonl`, sent as it is read."""
    return cast(
        HttpResponse, records_response(export_records(membership=membership))
    )  # streams, as any other answer
