"""The codebook: every member reads it, the project author publishes new versions."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Codebook, Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.forms_shown import guide
from annotation_app.pages.json_field import JsonObjectField, as_text
from annotation_app.pages.labels import CODEBOOK_KINDS
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.codebooks import add_codebook, current_codebook
from annotation_app.services.forms import form_of
from blinding.policy import Phase, Role

APPLIES = {
    Codebook.Kind.CLARIFICATION: gettext_lazy("It applies at once."),
    Codebook.Kind.RULE_CHANGE: gettext_lazy("It applies to batches released after it."),
}


class CodebookForm(forms.Form):
    version = forms.CharField(label=gettext_lazy("Version"), max_length=40)
    kind = forms.ChoiceField(
        label=gettext_lazy("What kind of change"),
        choices=[
            (Codebook.Kind.CLARIFICATION.value, gettext_lazy("Clarification")),
            (Codebook.Kind.RULE_CHANGE.value, gettext_lazy("Change of a rule")),
        ],
        initial=Codebook.Kind.CLARIFICATION.value,
    )
    text = forms.CharField(label=gettext_lazy("General rules (Markdown)"), required=False, strip=False)
    fields_ = JsonObjectField(label=gettext_lazy("Words of the fields (JSON)"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["fields"] = self.fields.pop("fields_")


@require_http_methods(["GET", "POST"])
@member_page
def codebook(request: HttpRequest, membership: Membership) -> HttpResponse:
    newest = current_codebook(membership.study)
    if request.method == "POST":
        return _publish(request, membership, newest)
    named = text_in(request.GET, "version")
    shown = _version(membership, named) if named else newest
    document = newest.document
    initial = {"text": document.get("text", ""), "fields": as_text(document.get("fields", {}))}
    return _page(request, membership, shown, CodebookForm(initial=initial))


def merged(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the words of all fields with `changes` laid over them, option by option."""
    fields: dict[str, Any] = {path: dict(entry) for path, entry in document.get("fields", {}).items()}
    for path, entry in changes.items():
        before = fields.get(path, {})
        if not isinstance(entry, dict):
            fields[path] = entry  # the check of the codebook says what is wrong with it
            continue
        fields[path] = before | entry
        if isinstance(entry.get("options"), dict):
            old = before.get("options", {})
            fields[path]["options"] = old | {
                value: old.get(value, {}) | words if isinstance(words, dict) else words
                for value, words in entry["options"].items()
            }
    return fields


def _publish(request: HttpRequest, membership: Membership, newest: Codebook) -> HttpResponse:
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    form = CodebookForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, newest, form, status=422)
    given = form.cleaned_data
    document = {
        "version": given["version"],
        "kind": given["kind"],
        "text": given["text"].replace("\r\n", "\n"),
        "fields": merged(newest.document, given["fields"] or {}),
    }
    try:
        add_codebook(membership=membership, document=document)
    except Invalid as fault:
        return _page(request, membership, newest, form, status=show_fault(form, fault))
    messages.success(
        request, _("Codebook %(version)s is published. Coders see it.") % {"version": given["version"]}
    )
    return redirect("codebook", membership.study.slug)


def _version(membership: Membership, version: str) -> Codebook:
    found = membership.study.codebooks.filter(version=version).first()
    if found is None:
        raise Absent
    return found


def _page(
    request: HttpRequest, membership: Membership, book: Codebook, form: CodebookForm, *, status: int = 200
) -> HttpResponse:
    versions = membership.study.codebooks.order_by("-number").values("version", "kind", "created_at")
    context = {
        "codebook": _shown(membership, book),
        "versions": [row | {"kind_label": str(CODEBOOK_KINDS[row["kind"]])} for row in versions],
        "may_publish": _may_publish(membership),
        "form": form,
    }
    return render_page(
        request,
        "annotation_app/codebook.html",
        context,
        membership=membership,
        here="codebook",
        status=status,
    )


def _may_publish(membership: Membership) -> bool:
    open_in = (Phase.SETUP, Phase.TRAINING, Phase.CODING)
    return membership.role == Role.PROJECT_AUTHOR and membership.study.phase in open_in


def _shown(membership: Membership, book: Codebook) -> dict[str, Any]:
    return {
        "version": book.version,
        "kind_label": str(CODEBOOK_KINDS[book.kind]),
        "created_at": book.created_at,
        "hash": book.hash,
        "applies": str(APPLIES.get(Codebook.Kind(book.kind), "")),
        "html": guide(book.document),
        "fields": _fields(membership, book),
    }


def _fields(membership: Membership, book: Codebook) -> list[dict[str, Any]]:
    """Return every field in the codebook's words; the choices of classes are each task's own."""
    fields = form_of(membership.study, book.pk).for_coder(classes=("–",))["fields"]
    return [field | {"options": []} if field["kind"] == "checks" else field for field in fields]
