"""Practice before main items under another set of references: texts, and what they should be coded as."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.models import Membership
from annotation_app.pages.forms_shown import form_shown
from annotation_app.pages.reading import output_shown
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.practice import PracticeText, finish_practice, practice_of


class PracticeForm(forms.Form):
    confirmed = forms.BooleanField(label=gettext_lazy("The texts"))


@require_http_methods(["GET", "POST"])
@member_page
def practice(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The texts; the main items come once the coder says that they are gone through."""
    texts = practice_of(membership=membership)
    form = PracticeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        finish_practice(membership=membership)
        return redirect("annotate", membership.study.slug)
    context = {"texts": [_shown(number, text) for number, text in enumerate(texts, start=1)], "form": form}
    status = 422 if request.method == "POST" else 200
    template = "annotation_app/practice.html"
    return render_page(request, template, context, membership=membership, here="annotate", status=status)


def _shown(number: int, text: PracticeText) -> dict[str, Any]:
    return {
        "number": number,
        "task_code": text.task_code,
        "task_statement": text.task_statement,
        "reference_material": text.reference_material,
        **output_shown(text.text, text.html),
        "answers": form_shown(text.form, text.values, [])["answers"],
    }
