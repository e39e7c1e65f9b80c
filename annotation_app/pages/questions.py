"""Questions about a rule: coders ask, the project author answers to all."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.questions import (
    LONGEST,
    answer_question,
    ask_question,
    may_ask,
    questions_of,
)


class QuestionForm(forms.Form):
    text = forms.CharField(label=gettext_lazy("Your question"), max_length=LONGEST)


@require_http_methods(["GET", "POST"])
@member_page
def questions(request: HttpRequest, membership: Membership) -> HttpResponse:
    act = request.POST.get("do", "")
    if act == "answer":
        return _answer(request, membership)
    if act == "ask":
        return _ask(request, membership)
    return _page(request, membership, QuestionForm())


def _ask(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    try:
        ask_question(membership=membership, text=form.cleaned_data["text"])
    except Invalid as fault:
        return _page(request, membership, form, status=show_fault(form, fault))
    messages.success(
        request, _("Your question is on its way. The answer appears here, for everybody at once.")
    )
    return redirect("questions", membership.study.slug)


def _answer(request: HttpRequest, membership: Membership) -> HttpResponse:
    uid, text = _uid(request.POST.get("question", "")), text_in(request.POST, "answer", LONGEST)
    try:
        answer_question(membership=membership, uid=uid, answer=text)
    except Invalid as fault:
        refused = {"uid": uid, "typed": text, "error": str(fault)}
        return _page(request, membership, QuestionForm(), refused=refused, status=422)
    messages.success(request, _("Answered to all coders."))
    return redirect("questions", membership.study.slug)


def _uid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as fault:
        raise Absent from fault


def _page(
    request: HttpRequest,
    membership: Membership,
    form: QuestionForm,
    *,
    refused: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    shown = [asdict(question) for question in questions_of(membership=membership)]
    for question in shown:
        if refused and question["uid"] == refused["uid"]:
            question |= refused
    context = {"form": form, "questions": shown, "may_ask": may_ask(membership)}
    return render_page(
        request,
        "annotation_app/questions.html",
        context,
        membership=membership,
        here="questions",
        status=status,
    )
