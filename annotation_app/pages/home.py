"""Where people arrive: their studies, and in a study what is there for their role."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from annotation_app import registries
from annotation_app.models import Batch, Membership
from annotation_app.pages.batches import batch_rows
from annotation_app.pages.coder_home import coder_context
from annotation_app.pages.labels import PHASES, ROLES, ROLES_IN_FULL
from annotation_app.pages.next_steps import next_step_of_admin, next_step_of_author
from annotation_app.pages.progress import count_rows, phase_steps, role_checks
from annotation_app.pages.shell import member_page, render_page, signed_in
from annotation_app.projections import counts_for
from annotation_app.services.events import log_state
from annotation_app.services.questions import count_open_questions
from annotation_app.services.studies import may_create_studies
from blinding.policy import CODERS, Phase, Role

SHOWN_BATCHES = 5
NOW = {
    Phase.SETUP: gettext_lazy("Being set up"),
    Phase.TRAINING: gettext_lazy("Training"),
    Phase.CODING: gettext_lazy("Being coded"),
    Phase.REVIEW: gettext_lazy("In review, still blind"),
    Phase.LOCKED: gettext_lazy("Locked"),
    Phase.UNBLINDED: gettext_lazy("Unblinded"),
}


@require_GET
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The studies in which the person has a role."""
    user = request.user
    assert isinstance(user, User)
    mine = (
        Membership.objects.current().filter(user=user).select_related("study").order_by("study__title", "pk")
    )
    context = {"studies": [_study_row(m) for m in mine], "may_create": may_create_studies(user)}
    return render_page(request, "annotation_app/home.html", context, here="home")


@require_GET
@member_page
def study(request: HttpRequest, membership: Membership) -> HttpResponse:
    """A study's home, by role."""
    template, context_of = _HOMES[Role(membership.role)]
    return render_page(request, template, context_of(membership), membership=membership, here="study")


def _study_row(membership: Membership) -> dict[str, str]:
    phase = Phase(membership.study.phase)
    is_runner = membership.role in (Role.ADMIN, Role.PROJECT_AUTHOR, Role.MONITOR)
    return {
        "slug": membership.study.slug,
        "title": membership.study.title,
        "role_label": str((ROLES_IN_FULL if is_runner else ROLES)[membership.role]),
        "alias": membership.alias,
        "phase_label": str(PHASES[phase]),
        "now": _now(membership, phase),
    }


def _now(membership: Membership, phase: Phase) -> str:
    if membership.declared_at is None:
        return _("Sign your declaration")
    if membership.role not in CODERS or phase not in (Phase.TRAINING, Phase.CODING):
        return str(NOW[phase])
    training = phase == Phase.TRAINING
    total = membership.calibration_total if training else membership.main_total
    left = total - (membership.calibration_submitted if training else membership.main_submitted)
    if not total:
        return _("No items yet")
    return ngettext("%(n)d item left", "%(n)d items left", left) % {"n": left} if left else _("All coded")


def _of_author(membership: Membership) -> dict[str, Any]:
    counts = counts_for(membership)
    return {
        "phases": phase_steps(membership.study),
        "next": next_step_of_author(membership, counts),
        "preregistration_hash": membership.study.preregistration_hash,
        "counts": {
            "outputs": counts.get("outputs", 0),
            "final_pairs": counts.get("final_pairs", 0),
            "outputs_rows": count_rows({k: counts.get(k, 0) for k in ("submitted", "without_coder")}),
            "open_cases": counts.get("open_cases", 0),
            "cases_rows": [{"label": _("Decided"), "value": counts.get("decided_cases", 0)}],
            "open_questions": count_open_questions(membership),
        },
    }


def _of_admin(membership: Membership) -> dict[str, Any]:
    batches = batch_rows(membership)
    alive = [b for b in batches if b["status"] != Batch.Status.DISCARDED]
    return {
        "phases": phase_steps(membership.study),
        "next": next_step_of_admin(membership, alive),
        "batches": alive[:SHOWN_BATCHES],
        "role_checks": role_checks(membership.study),
        "counts_rows": count_rows(counts_for(membership)),
    }


def _of_monitor(membership: Membership) -> dict[str, Any]:
    return {
        "phases": phase_steps(membership.study),
        "log": log_state(membership=membership),
        "counts_rows": count_rows(counts_for(membership)),
    }


def _of_adjudicator(membership: Membership) -> dict[str, Any]:
    """Cases are adjudication's: it says what there is of them."""
    return dict(registries.homes[Role.ADJUDICATOR](membership))


_HOMES: dict[Role, tuple[str, Callable[[Membership], dict[str, Any]]]] = {
    Role.ADMIN: ("annotation_app/home_admin.html", _of_admin),
    Role.PROJECT_AUTHOR: ("annotation_app/home_pi.html", _of_author),
    Role.PRIMARY_A: ("annotation_app/home_coder.html", coder_context),
    Role.PRIMARY_B: ("annotation_app/home_coder.html", coder_context),
    Role.AUDIT: ("annotation_app/home_coder.html", coder_context),
    Role.ADJUDICATOR: ("annotation_app/home_adjudicator.html", _of_adjudicator),
    Role.MONITOR: ("annotation_app/home_monitor.html", _of_monitor),
}
