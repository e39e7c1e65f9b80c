"""The phase page: the steps a member may take from here, what each needs, and what stands against it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation_app import registries
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.labels import PHASES
from annotation_app.pages.posted import text_in
from annotation_app.pages.progress import blocked_by, checks_before, phase_steps
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.phases import WHO, change_phase
from blinding.policy import FORWARD, KEY_HOLDERS, Phase, Role


@require_http_methods(["GET", "POST"])
@member_page
def phase(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role not in KEY_HOLDERS:
        raise Absent
    if request.method == "POST":
        return _move(request, membership)
    return _page(request, membership)


def _move(request: HttpRequest, membership: Membership) -> HttpResponse:
    asked = {name: text_in(request.POST, name) for name in ("to", "reason", "leave_open")}
    try:
        reached = change_phase(membership=membership, **asked)
    except Refused as fault:
        return _page(request, membership, asked | {"error": fault.reason}, status=409)
    except Invalid as fault:
        return _page(request, membership, asked | {"error": str(fault)}, status=422)
    if reached == asked["to"]:
        messages.success(request, _("The study is now in phase “%(phase)s”.") % {"phase": PHASES[reached]})
    else:
        messages.info(request, _("Asked for. The admin has to confirm it."))
    return redirect("phase", membership.study.slug)


def _page(
    request: HttpRequest, membership: Membership, asked: dict[str, str] | None = None, *, status: int = 200
) -> HttpResponse:
    context = {"phases": phase_steps(membership.study), "moves": _moves(membership, asked or {})}
    return render_page(
        request, "annotation_app/phase.html", context, membership=membership, here="phase", status=status
    )


def _moves(membership: Membership, asked: dict[str, str]) -> list[dict[str, Any]]:
    study = membership.study
    steps = [to for to in FORWARD[Phase(study.phase)] if WHO.get((study.phase, to)) == membership.role]
    moves = [_forward(membership, to) for to in steps]
    if study.phase == Phase.LOCKED:
        moves.append(_back_to_review(membership))
    for move in moves:
        if move["to"] == asked.get("to"):
            move |= {"error": asked["error"], "reason": asked["reason"]}
            move["leave_open_reason"] = asked["leave_open"]
    return moves


def _forward(membership: Membership, to: Phase) -> dict[str, Any]:
    checks = checks_before(membership, to)
    title, text, action = _words(to)
    return {
        "to": str(to),
        "title": title,
        "text": text,
        "action": action,
        "checks": checks,
        "blocked": blocked_by(checks),
        "leave_open": _left_open(membership) if to == Phase.LOCKED else "",
    }


def _left_open(membership: Membership) -> str:
    """Return what a lock would leave open, in sentences, where a reason may do so."""
    found = registries.obstacles_to_lock(membership.study)
    return " ".join(o.message for o in found if o.waivable)


def _back_to_review(membership: Membership) -> dict[str, Any]:
    asked = membership.study.reopening
    is_admin = membership.role == Role.ADMIN
    return {
        "to": str(Phase.REVIEW),
        "title": _("Undo the lock"),
        "text": _(
            "Back to review, before anything is unblinded. It takes two people, and the log keeps the reason."
        ),
        "asked": _("The project author asks: %(reason)s") % {"reason": asked["reason"]} if asked else "",
        "reason_required": True,
        "checks": [],
        "action": _("Confirm") if is_admin else _("Ask for it"),
        "blocked": _("The project author has to ask first.") if is_admin and not asked else "",
    }


def _words(to: Phase) -> tuple[str, str, str]:
    """Return title, explanation and button of a step forward."""
    return {
        Phase.TRAINING: (
            _("Open training"),
            _(
                "Calibration batches only: coders practise, compare and discuss; the codebook may still change."
            ),
            _("Open training"),
        ),
        Phase.CODING: (
            _("Open coding"),
            _(
                "Protocol and codebook are frozen and hashed: they are the preregistration. Main batches can be"
                " released from then on."
            ),
            _("Sign the preregistration and open coding"),
        ),
        Phase.REVIEW: (
            _("Close coding"),
            _("What was submitted becomes final; drafts count as missing. Cases can still be decided."),
            _("Close coding"),
        ),
        Phase.LOCKED: (
            _("Lock the data"),
            _("Nothing can be changed any more, and the hash of the records is published."),
            _("Lock the data"),
        ),
    }[to]
