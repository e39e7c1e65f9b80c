"""The protocol: what is set, and changing it before coding."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.downloads import as_attachment
from annotation_app.errors import Absent, Invalid
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.json_field import JsonObjectField, as_text
from annotation_app.pages.shell import member_page, render_page
from annotation_app.record_schema import complete_protocol, shape
from annotation_app.services.forms import schema_of
from annotation_app.services.studies import change_protocol
from blinding import clock
from blinding.policy import KEY_HOLDERS, Phase, Role


class ProtocolForm(forms.Form):
    protocol = JsonObjectField(label=gettext_lazy("Protocol (JSON)"))


@require_http_methods(["GET", "POST"])
@member_page
def protocol(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role not in KEY_HOLDERS:
        raise Absent
    if request.method == "POST":
        return _change(request, membership)
    if request.GET.get("as") == "json":
        return _download(membership)
    form = ProtocolForm(initial={"protocol": as_text(membership.study.protocol)})
    return _page(request, membership, form)


def _change(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = ProtocolForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            change_protocol(membership=membership, protocol=form.cleaned_data["protocol"] or {})
        except Invalid as fault:
            status = show_fault(form, fault)
        else:
            messages.success(request, _("The protocol is saved."))
            return redirect("protocol", membership.study.slug)
    return _page(request, membership, form, status=status)


def _download(membership: Membership) -> HttpResponse:
    headers = as_attachment(membership.study, "protocol.json", clock.now())
    return JsonResponse(membership.study.protocol, json_dumps_params={"indent": 2}, headers=headers)


def _page(
    request: HttpRequest, membership: Membership, form: ProtocolForm, *, status: int = 200
) -> HttpResponse:
    study = membership.study
    early = study.phase in (Phase.SETUP, Phase.TRAINING)
    context = {
        "protocol": {
            "hash": study.protocol_hash,
            "frozen_at": study.frozen_at,
            "download_url": reverse("protocol", args=[study.slug]) + "?as=json",
            "rows": _rows(membership),
        },
        "form": form,
        "may_change": early and membership.role == Role.PROJECT_AUTHOR,
    }
    return render_page(
        request,
        "annotation_app/protocol.html",
        context,
        membership=membership,
        here="protocol",
        status=status,
    )


def _rows(membership: Membership) -> list[dict[str, Any]]:
    study = membership.study
    default = complete_protocol({}, schema_of(study))
    return [
        {
            "key": key,
            "value": json.dumps(study.protocol[key], ensure_ascii=False),
            "is_default": study.protocol[key] == default[key],
            "description": node.get("description", ""),
        }
        for key, node in shape("protocol")["properties"].items()
        if key in study.protocol
    ]
