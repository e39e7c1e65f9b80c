"""Training, for each role: rounds, standings and the gate; reference codes; a coder's own practice beside the other's."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid
from annotation_app.models import Membership
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.pages.training_shown import coder_rows, own_items, round_rows, text_rows
from annotation_app.services.gates import mark_of
from annotation_app.services.references import take_agreed_codes, training_texts
from annotation_app.services.standings import open_gate, rounds_of, standings_of
from blinding.policy import KEY_HOLDERS, PRIMARIES, Phase, Role


@require_http_methods(["GET", "POST"])
@member_page
def training(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Where training stands, as the member's role may see it."""
    if request.method == "POST":
        act = _ACTS.get(request.POST.get("do", ""))
        if act is None:
            raise Absent
        return act(request, membership)
    if membership.role in KEY_HOLDERS:
        return _runners_page(request, membership)
    if membership.role == Role.ADJUDICATOR:
        return _texts_page(request, membership)
    if membership.role in PRIMARIES:
        return _coders_page(request, membership)
    raise Absent


@require_http_methods(["GET"])
@member_page
def texts(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The training texts, each with its reference or the way to write it."""
    return _texts_page(request, membership)


def _gate(request: HttpRequest, membership: Membership) -> HttpResponse:
    alias = text_in(request.POST, "alias")
    try:
        open_gate(membership=membership, alias=alias, reason=text_in(request.POST, "reason"))
    except Invalid as fault:
        return _runners_page(request, membership, refused={"alias": alias, "error": str(fault)})
    messages.success(request, _("%(alias)s is passed on to the main items.") % {"alias": alias})
    return redirect("training", membership.study.slug)


def _agreed(request: HttpRequest, membership: Membership) -> HttpResponse:
    try:
        batch = UUID(request.POST.get("round", ""))
    except ValueError as fault:
        raise Absent from fault
    taken = take_agreed_codes(membership=membership, batch=batch)
    told = ngettext("%(n)d text has a reference now.", "%(n)d texts have a reference now.", taken)
    messages.success(request, told % {"n": taken})
    return redirect("training", membership.study.slug)


_ACTS: dict[str, Callable[[HttpRequest, Membership], HttpResponse]] = {"gate": _gate, "agreed": _agreed}


def _runners_page(
    request: HttpRequest, membership: Membership, *, refused: dict[str, str] | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "rounds": round_rows(rounds_of(membership=membership)),
        "coders": coder_rows(standings_of(membership=membership), refused or {}),
        "mark": mark_of(membership.study),
        "is_open": membership.study.phase == Phase.TRAINING,
        "refused": refused,
    }
    return _render(request, membership, "annotation_app/training.html", context, 422 if refused else 200)


def _texts_page(request: HttpRequest, membership: Membership) -> HttpResponse:
    context = {"texts": text_rows(training_texts(membership=membership))}
    return _render(request, membership, "annotation_app/training_texts.html", context)


def _coders_page(request: HttpRequest, membership: Membership) -> HttpResponse:
    return _render(request, membership, "annotation_app/training_own.html", {"items": own_items(membership)})


def _render(
    request: HttpRequest, membership: Membership, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    return render_page(request, template, context, membership=membership, here="training", status=status)
