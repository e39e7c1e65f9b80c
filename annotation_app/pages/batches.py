"""The admin's list of batches, and uploading one."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Batch, Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.labels import BATCH_STATES, PURPOSES
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.batches.upload import batches_of, upload_batch
from blinding.policy import Phase, Role


class UploadForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120, required=False)
    purpose = forms.ChoiceField(
        label=gettext_lazy("Purpose"), choices=list(PURPOSES.items()), initial=Batch.Purpose.MAIN.value
    )
    file = forms.FileField(label=gettext_lazy("File"), allow_empty_file=True)
    mapping = forms.CharField(label=gettext_lazy("Rename columns"), required=False)

    def clean_mapping(self) -> dict[str, str]:
        return read_renames(self.cleaned_data["mapping"])


def read_renames(text: str) -> dict[str, str]:
    """Return {column of the file: column of the product} from `generator = model, arm = condition`."""
    renames: dict[str, str] = {}
    for part in filter(str.strip, text.replace("→", "=").split(",")):
        old, sign, new = (piece.strip() for piece in part.partition("="))
        if not (old and sign and new):
            raise ValidationError(_("Write pairs such as: generator = model, arm = condition."))
        if old in renames:
            raise ValidationError(_("The column “%(name)s” is renamed twice.") % {"name": old})
        renames[old] = new
    return renames


@require_http_methods(["GET", "POST"])
@member_page
def batches(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role != Role.ADMIN:
        raise Absent
    if request.method == "POST":
        return _upload(request, membership)
    return _page(request, membership, UploadForm())


def batch_rows(membership: Membership) -> list[dict[str, Any]]:
    """Return the study's batches as rows, newest first. Raises Absent for who is not the admin."""
    return [
        {
            "uid": batch.pk,
            "name": batch.name,
            "purpose_label": str(PURPOSES[batch.purpose]),
            "rows": batch.rows,
            "uploaded_at": batch.uploaded_at,
            "status": batch.status,
            "status_label": str(BATCH_STATES[batch.status]),
        }
        for batch in batches_of(membership=membership)
    ]


def _upload(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refused(request, membership, form, 422)
    given = form.cleaned_data
    try:
        batch = upload_batch(
            membership=membership,
            upload=given["file"],
            name=given["name"],
            purpose=given["purpose"],
            mapping=given["mapping"],
        )
    except Invalid as fault:
        return _refused(request, membership, form, show_fault(form, fault))
    address = reverse("batch", args=[membership.study.slug, batch.pk])
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


def _refused(request: HttpRequest, membership: Membership, form: UploadForm, status: int) -> HttpResponse:
    """Answer a script with what is wrong, a browser with the page that says it."""
    if request.headers.get("HX-Request"):
        context = {"form": form, "in_full": True}
        return render_page(
            request, "annotation_app/batches.html#errors", context, membership=membership, status=status
        )
    return _page(request, membership, form, status=status)


def _page(
    request: HttpRequest, membership: Membership, form: UploadForm, *, status: int = 200
) -> HttpResponse:
    rows = batch_rows(membership)
    context = {
        "form": form,
        "batches": rows,
        "summary": _summary(rows),
        "may_upload": membership.study.phase in (Phase.SETUP, Phase.TRAINING, Phase.CODING),
        "zip_offered": True,
    }
    return render_page(
        request, "annotation_app/batches.html", context, membership=membership, here="batches", status=status
    )


def _summary(rows: list[dict[str, Any]]) -> str:
    waiting = sum(row["status"] == Batch.Status.IN_REVIEW for row in rows)
    if not waiting:
        return ""
    told = ngettext("%(n)d batch waits for your review.", "%(n)d batches wait for your review.", waiting)
    return told % {"n": waiting}
