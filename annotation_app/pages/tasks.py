"""Task versions: the admin's list and voiding; after the unblinding their labels and results by label."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Membership
from annotation_app.pages.posted import text_in, uuid_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.tasks_shown import label_shown, labelled_row, row_shown, task_shown, variant_shown
from annotation_app.services.task_metadata import (
    labelled_task_of,
    labelled_tasks_of,
    tasks_of,
    void_task_version,
)
from annotation_app.services.task_results import task_results_of
from blinding.policy import Phase, Role


@require_http_methods(["GET", "POST"])
@member_page
def tasks(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role != Role.ADMIN:
        if request.method == "POST":
            raise Absent
        return _labelled(request, membership)
    if request.method == "POST":
        return _void(request, membership)
    context = {
        "tasks": [row_shown(row) for row in tasks_of(membership=membership)],
        "may_void": membership.study.phase != Phase.LOCKED,
    }
    return render_page(request, "annotation_app/tasks.html", context, membership=membership, here="tasks")


@require_GET
@member_page
def task(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """One task with its labels, its graph and its variants."""
    found = labelled_task_of(membership=membership, uid=uid)
    context = {"task": task_shown(found, membership.study.slug)}
    return render_page(request, "annotation_app/task.html", context, membership=membership, here="tasks")


@require_GET
@member_page
def results(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Consensus codes by labels of the tasks, and variants beside their originals."""
    found = task_results_of(membership=membership)
    context = {
        "labels": [label_shown(label) for label in found["labels"]],
        "pairs": found["variants"]["pairs"],
        "variants": [variant_shown(field) for field in found["variants"]["fields"]],
    }
    template = "annotation_app/task_results.html"
    return render_page(request, template, context, membership=membership, here="tasks")


def _labelled(request: HttpRequest, membership: Membership) -> HttpResponse:
    found = labelled_tasks_of(membership=membership)
    context = {"tasks": [labelled_row(one, membership.study.slug) for one in found]}
    template = "annotation_app/tasks_labelled.html"
    return render_page(request, template, context, membership=membership, here="tasks")


def _void(request: HttpRequest, membership: Membership) -> HttpResponse:
    try:
        done = void_task_version(
            membership=membership, uid=uuid_in(request.POST, "task"), reason=text_in(request.POST, "reason")
        )
    except Invalid as fault:
        messages.error(request, str(fault))
    else:
        told = _("Voided. %(outputs)s outputs leave the figures, %(items)s items the lists of coders.")
        messages.success(request, told % {"outputs": done.outputs, "items": done.items})
    return redirect("tasks", membership.study.slug)
