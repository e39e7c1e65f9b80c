"""Closing questions: items shown again, read-only, and where the coder thinks each comes from."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation_app.errors import Invalid
from annotation_app.models import Membership
from annotation_app.pages.forms_shown import codebook_shown
from annotation_app.pages.posted import text_in
from annotation_app.pages.reading import reading
from annotation_app.pages.shell import member_page, render_page
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import own_assignment
from annotation_app.services.guesses import GuessItem, guess, next_guess, questions_of

TITLES = {
    "g1": gettext_lazy("Where do you think it comes from?"),
    "g2": gettext_lazy("What do you think wrote it?"),
}

HOTKEYS = {"g1": "123456789", "g2": "qwertyuiop"}


@require_GET
@member_page
def closing(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The next item to guess at; back home once there is none."""
    return _next(request, membership)


@require_POST
@member_page
def answer(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Keep a guess, once, and go on."""
    given = {q.key: request.POST[q.key] for q in questions_of(membership.study) if q.key in request.POST}
    try:
        guess(membership=membership, uid=uid, answers=given, reason=text_in(request.POST, "reason"))
    except Invalid as fault:
        return _next(request, membership, given=given, fault=fault)
    return redirect("closing", membership.study.slug)


def _next(
    request: HttpRequest,
    membership: Membership,
    *,
    given: dict[str, str] | None = None,
    fault: Invalid | None = None,
) -> HttpResponse:
    item = next_guess(membership=membership)
    if item is None:
        messages.success(request, _("Nothing more is asked. Thank you."))
        return redirect("study", membership.study.slug)
    found = own_assignment(membership=membership, uid=item.assignment_uid)
    view = AssignmentView.of(found, membership)
    context = {
        "item": reading(view, found.output.html),
        "codebook": codebook_shown(membership, found, view.form),
        "closing": {
            "number": item.number,
            "total": item.total,
            "questions": _questions(item, given or {}, fault),
            "reason": text_in(request.POST, "reason"),
        },
    }
    return render_page(
        request, "annotation_app/closing.html", context, membership=membership, status=422 if fault else 200
    )


def _questions(item: GuessItem, given: dict[str, str], fault: Invalid | None) -> list[dict[str, Any]]:
    wrong = {str(e["field"]): str(e["message"]) for e in fault.errors} if fault else {}
    return [
        {
            "key": question.key,
            "title": str(TITLES[question.key]),
            "options": [
                option | {"hotkey": HOTKEYS[question.key][place : place + 1]}
                for place, option in enumerate(question.options)
            ],
            "value": given.get(question.key),
            "error": wrong.get(question.key, ""),
        }
        for question in item.questions
    ]
