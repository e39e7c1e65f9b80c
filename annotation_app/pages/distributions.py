"""Distributions of task labels: the project author publishes them once; then members, and anybody, read them."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.tasks_shown import distribution_shown
from annotation_app.services.distributions import PHASES as PUBLISHING
from annotation_app.services.distributions import (
    Distributions,
    distributions_of,
    has_metadata,
    public_distributions,
    publish_distributions,
)
from blinding.policy import Role


@require_http_methods(["GET", "POST"])
@member_page
def distributions(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method == "POST":
        if request.POST.get("do") != "publish":
            raise Absent
        publish_distributions(membership=membership)
        return redirect("distributions", membership.study.slug)
    try:
        context = _shown(distributions_of(membership=membership))
    except Refused:
        if membership.role != Role.PROJECT_AUTHOR:
            raise
        context = _to_publish(membership)
    return render_page(
        request, "annotation_app/distributions.html", context, membership=membership, here="distributions"
    )


@require_GET
def public(request: HttpRequest, slug: str) -> HttpResponse:
    """The page that needs no account."""
    return render_page(request, "annotation_app/distributions.html", _shown(public_distributions(slug=slug)))


def _shown(found: Distributions) -> dict[str, Any]:
    return {
        "title": found.title,
        "published_at": found.published_at,
        "public_url": reverse("public-distributions", args=[found.study]),
        "json_url": reverse("public-distributions-json", args=[found.study]),
        "threshold": found.document["threshold"],
        "families_suppressed": found.document["families_suppressed"],
        "families": [distribution_shown(family) for family in found.document["families"]],
    }


def _to_publish(membership: Membership) -> dict[str, Any]:
    study = membership.study
    return {
        "title": study.title,
        "to_publish": True,
        "may_publish": study.phase in PUBLISHING and has_metadata(study),
    }
