"""One training text: writing its reference, or comparing one's own final code with the other coder's and the reference."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Invalid
from annotation_app.models import Codebook, Membership
from annotation_app.pages.coding import typed_in
from annotation_app.pages.forms_shown import book_shown, codebook_shown, form_shown
from annotation_app.pages.reading import output_shown, reading
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.training_shown import SOURCES, compared_rows
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import own_assignment
from annotation_app.services.references import comparison_of, hold_right, training_item, write_reference


@require_http_methods(["GET", "POST"])
@member_page
def text(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """A training text with the form, for who writes its reference code."""
    if request.method == "GET":
        return _text_page(request, membership, uid)
    try:
        write_reference(membership=membership, uid=uid, fields=typed_in(request))
    except Invalid as fault:
        return _text_page(request, membership, uid, fault=fault)
    messages.success(request, _("The reference is kept."))
    return redirect("training-texts", membership.study.slug)


@require_http_methods(["GET", "POST"])
@member_page
def compare(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """A coder's own practice item once its record is final: all codes of it side by side."""
    if request.method == "POST":
        agreed = hold_right(membership=membership, uid=uid, which=request.POST.get("which", ""))
        words = _("You both hold this code to be right.") if agreed else _("Noted.")
        messages.success(request, words)
        return redirect("training-item", membership.study.slug, uid)
    found = own_assignment(membership=membership, uid=uid)
    shown = comparison_of(membership=membership, item=found)
    view = AssignmentView.of(found, membership)
    context = {
        "item": reading(view, found.output.html),
        "codebook": codebook_shown(membership, found, view.form),
        "comparison": {
            "rows": compared_rows(membership.study, found, view.form, shown),
            "has_other": shown.other is not None,
            "source": str(SOURCES[shown.source]),
            "different": len(shown.different),
            "held_right": shown.held_right,
            "other_holds": shown.other_holds,
        },
    }
    return render_page(
        request, "annotation_app/training_item.html", context, membership=membership, here="training"
    )


def _text_page(
    request: HttpRequest, membership: Membership, uid: UUID, *, fault: Invalid | None = None
) -> HttpResponse:
    item = training_item(membership=membership, uid=uid)
    values: dict[str, Any] = typed_in(request) if fault else item.values
    book = Codebook.objects.get(pk=item.codebook)
    context = {
        "item": {
            "uid": item.uid,
            "round": item.round,
            "task_code": item.task_code,
            "task_statement": item.task_statement,
            "reference_material": item.reference_material,
            "proposed_cluster": item.proposed_cluster,
            "source": str(SOURCES[item.source]),
            **output_shown(item.text, item.html),
        },
        "form": form_shown(item.form, values, fault.errors if fault else []),
        "codebook": book_shown(book.version, book.document, item.form),
    }
    status = 422 if fault else 200
    return render_page(
        request,
        "annotation_app/training_text.html",
        context,
        membership=membership,
        here="training",
        status=status,
    )
