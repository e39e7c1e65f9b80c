"""Making a study: its admin's passphrase, and the recovery sheet that is shown once."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation_app.api.authentication import find_membership
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.json_field import JsonObjectField
from annotation_app.pages.keys import PassphraseForm, recovery_sheet_page
from annotation_app.pages.shell import render_page, signed_in
from annotation_app.services.studies import NewStudy, create_study, may_create_studies


class StudyForm(PassphraseForm):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    slug = forms.SlugField(
        label=gettext_lazy("Short name"),
        max_length=60,
        error_messages={
            "invalid": gettext_lazy(
                "Write it with the letters a to z, digits, hyphens and underscores only, without blanks: "
                "for example street-2026."
            )
        },
    )
    protocol = JsonObjectField(label=gettext_lazy("Protocol (JSON)"))
    record_schema = JsonObjectField(label=gettext_lazy("Record schema (JSON)"))

    field_order = ("title", "slug")


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@signed_in
def new_study(request: HttpRequest) -> HttpResponse:
    user = request.user
    if not isinstance(user, User) or not may_create_studies(user):
        raise Absent
    form = StudyForm(request.POST or None)
    status = 422 if form.is_bound else 200
    if form.is_valid():
        try:
            made = _make(user, form)
        except (Invalid, Refused) as fault:
            status = show_fault(form, fault)
        else:
            return _made(request, user, made)
    return render_page(request, "annotation_app/new_study.html", {"form": form}, here="home", status=status)


def _make(user: User, form: StudyForm) -> NewStudy:
    given = form.cleaned_data
    return create_study(
        user=user,
        slug=given["slug"],
        title=given["title"],
        passphrase=given["passphrase"],
        protocol=given["protocol"],
        record_schema=given["record_schema"],
    )


def _made(request: HttpRequest, user: User, made: NewStudy) -> HttpResponse:
    membership = find_membership(user, made.slug)
    if membership is None:
        raise Absent
    half = _("the admin’s, the inner one")
    return recovery_sheet_page(request, membership, sheet=made.recovery_sheet, half_label=half)
