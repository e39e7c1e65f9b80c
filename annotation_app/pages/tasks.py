"""Task versions: the admin's list and voiding; after the unblinding their labels and results by label."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from annotation_app.errors import Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.tasks_shown import label_shown, labelled_row, row_shown, task_shown, variant_shown
from annotation_app.services.task_metadata import (
    labelled_task_of,
    labelled_tasks_of,
    task_of,
    tasks_of,
    void_task_version,
)
from annotation_app.services.task_results import task_results_of
from blinding.policy import Phase, Role

ON_A_PAGE = 100


class VoidForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=2000, widget=forms.Textarea)


@require_GET
@member_page
def tasks(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role != Role.ADMIN:
        return _labelled(request, membership)
    found, pages = _page_of(request, tasks_of(membership=membership))
    context = {
        "tasks": [row_shown(row) for row in found],
        "pages": pages,
        "may_void": membership.study.phase != Phase.LOCKED,
    }
    return render_page(request, "annotation_app/tasks.html", context, membership=membership, here="tasks")


@require_http_methods(["GET", "POST"])
@member_page
def void(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Ask for the reason, and take a task version out of the figures."""
    row = task_of(membership=membership, uid=uid)
    form = VoidForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                done = void_task_version(membership=membership, uid=uid, reason=form.cleaned_data["reason"])
            except (Invalid, Refused) as fault:
                status = show_fault(form, fault)
            else:
                told = _(
                    "Voided. %(outputs)s outputs leave the figures, %(items)s items the lists of coders."
                )
                messages.success(request, told % {"outputs": done.outputs, "items": done.items})
                return redirect("tasks", membership.study.slug)
    context = {"task": row_shown(row), "form": form}
    template = "annotation_app/task_void.html"
    return render_page(request, template, context, membership=membership, here="tasks", status=status)


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
    found, pages = _page_of(request, labelled_tasks_of(membership=membership))
    context = {"tasks": [labelled_row(one, membership.study.slug) for one in found], "pages": pages}
    template = "annotation_app/tasks_labelled.html"
    return render_page(request, template, context, membership=membership, here="tasks")


def _page_of(request: HttpRequest, rows: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the rows of the page that was asked for, and what leads to others."""
    page = Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page"))
    pages = {
        "number": page.number,
        "of": page.paginator.num_pages,
        "before": page.number - 1 if page.has_previous() else 0,
        "after": page.number + 1 if page.has_next() else 0,
    }
    return list(page.object_list), pages
