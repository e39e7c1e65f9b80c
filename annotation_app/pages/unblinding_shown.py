"""The ceremony as its page shows it: what must be true, who did what, how far the job is."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation_app.health import worker_is_alive
from annotation_app.models import Batch, Membership, Output, Study
from annotation_app.pages.labels import ROLES_IN_FULL
from annotation_app.services.unblinding import KIND, LAPSES_AFTER, OPEN
from blinding.jobs import latest
from blinding.models import Job, UnblindingRequest
from blinding.policy import Phase, Role

State = UnblindingRequest.State
STATES = {
    State.REQUESTED: gettext_lazy("waiting for the admin"),
    State.APPROVED: gettext_lazy("being opened"),
    State.DONE: gettext_lazy("unblinded"),
    State.LAPSED: gettext_lazy("lapsed"),
    State.WITHDRAWN: gettext_lazy("taken back"),
    State.FAILED: gettext_lazy("stopped"),
}


def unblinding_shown(membership: Membership, requests: list[UnblindingRequest]) -> dict[str, Any]:
    """Return the state of the ceremony; `requests` are the study's, newest first."""
    study = membership.study
    last = requests[0] if requests else None
    standing = last if last and (last.state in OPEN or last.state == State.DONE) else None
    asked = standing is not None and standing.state == State.REQUESTED
    job = latest(KIND, last.pk) if last and last.state in (State.APPROVED, State.DONE, State.FAILED) else None
    is_author, is_admin = membership.role == Role.PROJECT_AUTHOR, membership.role == Role.ADMIN
    return {
        "state": last.state if last else "",
        "state_label": _state_label(last),
        "checks": _checks(study),
        "request": _request(study, standing) if standing else None,
        "approval": _approval(standing) if standing and standing.approved_at else None,
        "may_request": is_author and study.phase == Phase.LOCKED and standing is None,
        "may_approve": is_admin and asked,
        "may_withdraw": is_author and asked,
        "blocked": ""
        if study.phase in (Phase.LOCKED, Phase.UNBLINDED)
        else _("The data are not locked yet."),
        "steps": _steps(study, standing, job),
        "job": _job(last, job),
    }


def _state_label(last: UnblindingRequest | None) -> str:
    if last is None:
        return _("not asked for")
    if refused := last.verification.get("refused"):
        return _("refused: %(reason)s") % {"reason": refused}
    return str(STATES[State(last.state)])


def _checks(study: Study) -> list[dict[str, Any]]:
    locked = study.phase in (Phase.LOCKED, Phase.UNBLINDED)
    return [
        {
            "text": _("The study is locked. Nobody can write a code any more."),
            "done": locked,
            "when": study.locked_at if locked else None,
            "note": "" if locked else _("not yet"),
        },
        {
            "text": _("The hash of the records is published"),
            "done": bool(study.dataset_hash) and locked,
            "note": study.dataset_hash[:16] if locked else "",
        },
    ]


def _request(study: Study, request: UnblindingRequest) -> dict[str, Any]:
    waiting = request.state == State.REQUESTED
    return {
        "by": _person(request.requested_by),
        "at": request.requested_at,
        "scope": _scope(study),
        "reason": request.reason,
        "lapses_at": request.requested_at + LAPSES_AFTER if waiting else None,
    }


def _approval(request: UnblindingRequest) -> dict[str, Any]:
    return {"by": _person(request.approved_by), "at": request.approved_at}


def _person(member: UUID | None) -> str:
    found = Membership.objects.filter(pk=member).first() if member else None
    return f"{found.alias}, {ROLES_IN_FULL[found.role]}" if found else "–"


def _scope(study: Study) -> str:
    batches = study.batches.filter(status=Batch.Status.RELEASED).count()
    outputs = Output.objects.filter(study=study).count()
    told = ngettext("%(n)d batch", "%(n)d batches", batches) % {"n": batches}
    all_outputs = ngettext("%(n)d output", "%(n)d outputs", outputs) % {"n": outputs}
    return _("The whole study: %(batches)s, %(outputs)s") % {"batches": told, "outputs": all_outputs}


def _steps(study: Study, request: UnblindingRequest | None, job: Job | None) -> list[dict[str, Any]]:
    done = request is not None and request.state == State.DONE
    opened = _("%(percent)s %%") % {"percent": job.percent} if job and not done else ""
    waiting = "" if done else _("not started")
    return [
        {"text": _("Records against the published hash"), "done": done, "note": waiting},
        {
            "text": _("Every seal opened and held against what was committed"),
            "done": done,
            "note": opened or waiting,
        },
        {"text": _("Seeds and orders against their commitments"), "done": done, "note": waiting},
        {
            "text": _("Labels joined, and the study unblinded"),
            "done": done,
            "note": waiting,
            "when": study.unblinded_at if done else None,
        },
    ]


def _job(last: UnblindingRequest | None, job: Job | None) -> dict[str, Any]:
    live = last is not None and last.state == State.APPROVED
    failed = last is not None and last.state == State.FAILED
    return {
        "live": live,
        "no_worker": live and not worker_is_alive(),
        "error": job.error if failed and job else "",
    }
