"""A batch as its page shows it: steps, job, warnings, terms, and what a release would do."""

from typing import Any

from django.urls import reverse
from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation_app.health import worker_is_alive
from annotation_app.models import Batch, Finding, Study
from annotation_app.pages.labels import BATCH_STATES, PURPOSES, ROLES_IN_FULL
from annotation_app.projections import BatchView
from annotation_app.services.batches.release import obstacles
from blinding.policy import Role

State = Batch.Status
ROWS_LISTED = 20
RUNNING = (State.QUEUED, State.CHECKING, State.RELEASING)
ENDED = (State.REJECTED, State.FAILED, State.DISCARDED)
KINDS = {
    Finding.Kind.LEXICON: gettext_lazy("lexicon"),
    Finding.Kind.LABEL: gettext_lazy("value of the file"),
    Finding.Kind.VOCABULARY: gettext_lazy("vocabulary of the study"),
    Finding.Kind.OWN: gettext_lazy("added at review"),
}
THINGS = {
    "cluster": gettext_lazy("the proposed cluster"),
    "masks": gettext_lazy("the number of masks"),
    "identical_text": gettext_lazy("identical texts"),
}
WARNINGS = {
    "nul_replaced": gettext_lazy("Characters that cannot be stored were replaced"),
    "surrogate_replaced": gettext_lazy("Characters that cannot be stored were replaced"),
    "invisible_removed": gettext_lazy("Invisible characters were removed"),
    "control_token_removed": gettext_lazy("Control tokens of a model were removed"),
    "blank_line": gettext_lazy("Blank lines were passed over"),
}


def batch_shown(batch: BatchView, slug: str, terms: int) -> dict[str, Any]:
    released = batch.merkle_root is not None
    return {
        "uid": batch.uid,
        "name": batch.name,
        "purpose_label": str(PURPOSES[batch.purpose]),
        "rows": batch.counts["rows"],
        "uploaded_at": batch.uploaded_at,
        "status": batch.status,
        "status_label": str(BATCH_STATES[batch.status]),
        "steps": _steps(batch, terms),
        "job": job_shown(batch),
        "errors": batch.errors,
        "errors_total": batch.errors_total,
        "warnings": [_warning(warning) for warning in batch.warnings],
        "cautions": cautions(batch.counts),
        "wording": batch.counts.get("wording", []),
        "figures": _figures(batch.counts),
        "columns": _columns(batch.columns),
        "lint": _lint(batch),
        "merkle_root": batch.merkle_root,
        "seed_commitment": batch.seed_commitment,
        "released_at": batch.released_at,
        "commitment_url": reverse("batch-commitment", args=[slug, batch.uid]) if released else "",
        "may_discard": batch.status in (State.IN_REVIEW, State.REJECTED, State.FAILED),
    }


def cautions(counts: dict[str, Any]) -> list[str]:
    """Return what shown things might tell of a source, without a figure and without saying which source."""
    said = []
    if telling := counts.get("telling"):
        things = ", ".join(str(THINGS.get(thing, thing)) for thing in telling)
        said.append(
            _("These go together with the source more than chance would have it: %(things)s.")
            % {"things": things}
        )
    if counts.get("identical_texts"):
        said.append(_("Some texts are identical although they come from different sources."))
    return said


def job_shown(batch: BatchView) -> dict[str, Any]:
    """Return the state of a batch's job; a job that nobody works on is named as such."""
    live = batch.status in RUNNING
    releasing = batch.status == State.RELEASING
    percent = batch.progress.get("percent", 0)
    return {
        "live": live,
        "done": percent,
        "total": 100 if batch.progress.get("total") else 0,
        "label": _("Released") if releasing else _("Checked"),
        "text": _("%(percent)s %% done.") % {"percent": percent},
        "heading": str(BATCH_STATES[batch.status]) if live else _("The last attempt"),
        "no_worker": live and not worker_is_alive(),
        "error": batch.error,
    }


def finding_shown(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.pk,
        "term": finding.term,
        "kind": finding.kind,
        "kind_label": str(KINDS[Finding.Kind(finding.kind)]),
        "count": finding.count,
        "outputs": finding.outputs,
        "accepted": finding.accepted,
        "decided": finding.decided_at is not None,
        "is_own": finding.kind == Finding.Kind.OWN,
        "reason": finding.reason,
        "examples": list(finding.examples),
    }


def release_shown(batch: Batch, study: Study) -> dict[str, Any]:
    """Return what a release would allocate, and what stands against it now."""
    roles = list(study.memberships.current().values_list("role", flat=True))
    audited = round(batch.rows * float(study.protocol["audit_share"])) if batch.is_main else 0
    shares = ((Role.PRIMARY_A, batch.rows), (Role.PRIMARY_B, batch.rows), (Role.AUDIT, audited))
    return {
        "blocked": " ".join(obstacles(batch)) if batch.status == State.IN_REVIEW else "",
        "needs_reason": batch.arms_warning,
        "spacing": study.protocol["spacing"],
        "slots": [_slot(role, roles.count(role), outputs) for role, outputs in shares if outputs],
    }


def _slot(role: Role, members: int, outputs: int) -> dict[str, Any]:
    each = -(-outputs // members) if members else 0
    told = formats.number_format(each, force_grouping=True) if members else "–"
    return {
        "label": str(ROLES_IN_FULL[role]),
        "members": members,
        "outputs_each": _("up to %(n)s") % {"n": told} if members > 1 else told,
    }


def _steps(batch: BatchView, terms: int) -> list[dict[str, str]]:
    rows = batch.counts["rows"]
    names = [_("Upload"), _("Check"), _("Review redactions"), _("Release")]
    told = ngettext("%(n)d row", "%(n)d rows", rows) % {"n": rows} if rows else ""
    found = ngettext("%(n)d term", "%(n)d terms", terms) % {"n": terms} if terms else ""
    notes = ["", _check_note(batch) or told, found, _("mask, allocate, commit")]
    current = {State.IN_REVIEW: 2, State.RELEASING: 3, State.RELEASED: 4}.get(State(batch.status), 1)
    return [
        {"label": name, "note": note, "state": "done" if n < current else "current" if n == current else ""}
        for n, (name, note) in enumerate(zip(names, notes, strict=True))
    ]


def _check_note(batch: BatchView) -> str:
    if batch.status in ENDED or batch.status in (State.QUEUED, State.CHECKING):
        return str(BATCH_STATES[batch.status])
    return ""


def _warning(warning: dict[str, Any]) -> dict[str, Any]:
    text = str(WARNINGS.get(warning["code"], warning["code"].replace("_", " ")))
    return warning | {"text": text, "rows": warning["rows"][:ROWS_LISTED]}


def _lint(batch: BatchView) -> dict[str, Any] | None:
    """Return what the check of task packages found, until the release."""
    if batch.lint is None or not batch.counts.get("packages"):
        return None
    return {
        "packages": batch.counts["packages"],
        "stand_in_used": batch.counts.get("stand_in_used", False),
        "warnings": batch.lint["warnings"],
        "total": batch.lint["total"],
    }


def _columns(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the groups of a file's columns that have any, in words."""
    groups = {
        "shown": _("Shown to coders"),
        "coded": _("Shown as a random code"),
        "kept": _("Kept with the task, not shown"),
        "sealed": _("Sealed"),
    }
    return [
        {"label": label, "names": found[group], "more": group == "sealed" and found["more"]}
        for group, label in groups.items()
        if found and found[group]
    ]


def _figures(counts: dict[str, Any]) -> list[dict[str, Any]]:
    labels = {
        "rows": _("Rows"),
        "tasks": _("Tasks"),
        "clusters": _("Proposed clusters"),
        "controls": _("Tasks with classes to check"),
        "packages": _("Task packages"),
    }
    return [{"label": label, "value": counts[name]} for name, label in labels.items() if counts.get(name)]
