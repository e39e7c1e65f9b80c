"""What the people who run a study should do next: one step, with what it needs."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation_app.models import Batch, Membership
from annotation_app.pages.progress import Check, blocked_by, checks_before, role_checks
from annotation_app.services.distributions import has_metadata
from annotation_app.services.keys import key_is_complete
from annotation_app.services.unblinding import open_request
from blinding.models import UnblindingRequest
from blinding.policy import Phase

Step = dict[str, Any]


def next_step_of_author(membership: Membership, counts: dict[str, int]) -> Step:
    """Return the project author's next step in the present phase."""
    phase = membership.study.phase
    if phase in (Phase.SETUP, Phase.TRAINING):
        return _prepare(membership)
    if phase == Phase.CODING:
        return _close_coding(membership, counts)
    if phase == Phase.REVIEW:
        return _lock(membership)
    if phase == Phase.LOCKED:
        return _step(
            membership,
            _("Next: unblinding, when the analysis is ready for it"),
            _("The data are locked and can be exported. Unblinding takes you and the admin."),
            ("unblinding", _("Unblinding")),
            [
                ("exports", _("Exports")),
                ("reports", _("Agreement")),
                *_labels(membership),
                ("phase", _("Undo the lock")),
            ],
        )
    return _step(
        membership,
        _("The study is unblinded"),
        _("Labels are joined to the records; every change from now on is marked as made after it."),
        ("results", _("Results")),
        [
            ("exports", _("Exports")),
            ("reports", _("Agreement")),
            ("tasks", _("Tasks")),
            *_labels(membership),
        ],
    )


def next_step_of_admin(membership: Membership, batches: list[dict[str, Any]]) -> Step:
    """Return the admin's next step: what waits for them, first things first."""
    study = membership.study
    waiting = next((b for b in batches if b["status"] == Batch.Status.IN_REVIEW), None)
    if study.phase in (Phase.LOCKED, Phase.UNBLINDED):
        return _after_lock(membership)
    if study.phase == Phase.REVIEW:
        return _nothing(membership)
    if missing := [c for c in role_checks(study) if not c.done]:
        return _step(
            membership,
            _("Next: find the people"),
            _("Still without a member: %(roles)s.") % {"roles": ", ".join(c.text for c in missing)},
            ("members", _("Members")),
            [("batches", _("Batches")), *_own_links(study.phase)],
        )
    if waiting is not None:
        return _step(
            membership,
            _("Next: review the redactions of %(name)s") % {"name": waiting["name"]},
            _("The batch was checked and waits for you. Main batches are released once coding is open."),
            ("batch", _("Review %(name)s") % {"name": waiting["name"]}),
            _own_links(study.phase),
            argument=waiting["uid"],
        )
    return _step(
        membership,
        _("Nothing waits for you") if batches else _("Next: upload a batch"),
        _("You are told here when something does.")
        if batches
        else _("The file is checked as a whole; labels are sealed before anything else happens."),
        ("batches", _("Batches")),
        _own_links(study.phase),
    )


def _prepare(membership: Membership) -> Step:
    checks = checks_before(membership, Phase.CODING)
    links = [("protocol", _("Protocol")), ("codebook", _("Codebook"))]
    if not key_is_complete(membership):
        return _step(
            membership,
            _("Next: add your half of the key"),
            _("Labels are sealed already. Your passphrase is what makes that nobody can open them alone."),
            ("key", _("Add your half")),
            links,
            checks=checks,
        )
    blocked = blocked_by(checks)
    return _step(
        membership,
        _("Next: open coding") if not blocked else _("Next: open coding, once everybody is there"),
        _("Read protocol and codebook once more: opening coding freezes and hashes both."),
        ("phase", _("Open coding")),
        [*links, ("key", _("Key"))],
        checks=checks,
    )


def _close_coding(membership: Membership, counts: dict[str, int]) -> Step:
    left = counts.get("outputs", 0) - counts.get("final_pairs", 0)
    cases = counts.get("open_cases", 0)
    rest = [
        *([ngettext("%(n)d output", "%(n)d outputs", left) % {"n": left}] if left else []),
        *([ngettext("%(n)d case", "%(n)d cases", cases) % {"n": cases}] if cases else []),
    ]
    return _step(
        membership,
        _("Next: close coding. Still open: %(rest)s") % {"rest": ", ".join(rest)}
        if rest
        else _("Next: close coding"),
        _("Closing moves the study to review. Drafts that are not submitted by then count as missing."),
        ("phase", _("Close coding")),
        [("protocol", _("Protocol"))],
        checks=checks_before(membership, Phase.REVIEW),
    )


def _lock(membership: Membership) -> Step:
    return _step(
        membership,
        _("Next: lock the data"),
        _("Look at the agreement, still blind. Locking publishes the hash of the records."),
        ("phase", _("Lock the data")),
        [("reports", _("Agreement")), *_labels(membership)],
        checks=checks_before(membership, Phase.LOCKED),
    )


def _labels(membership: Membership) -> list[tuple[str, str]]:
    """Return the way to the distributions of task labels, where released batches brought some."""
    return [("distributions", _("Distributions of task labels"))] if has_metadata(membership.study) else []


def _after_lock(membership: Membership) -> Step:
    asked = open_request(membership.study_id)
    if asked is not None and asked.state == UnblindingRequest.State.REQUESTED:
        return _step(
            membership,
            _("Next: answer the request to unblind"),
            _("The project author asks for it. Your passphrase opens the seals."),
            ("unblinding", _("Read the request")),
            [],
        )
    if membership.study.reopening:
        return _step(
            membership,
            _("Next: answer the request to undo the lock"),
            _("The project author asks for it, with a reason."),
            ("phase", _("Read the request")),
            [],
        )
    return _nothing(membership)


def _nothing(membership: Membership) -> Step:
    text = _("You are told here when something does.")
    return _step(
        membership, _("Nothing waits for you"), text, None, [("phase", _("Phase")), ("key", _("Key"))]
    )


def _own_links(phase: str) -> list[tuple[str, str]]:
    early = [("phase", _("Open training")), ("key", _("Key")), ("protocol", _("Protocol"))]
    return early if phase == Phase.SETUP else early[1:]


def _step(
    membership: Membership,
    title: str,
    text: str,
    action: tuple[str, str] | None,
    links: list[tuple[str, str]],
    *,
    checks: list[Check] | None = None,
    argument: Any = None,
) -> Step:
    slug = membership.study.slug
    arguments = [slug] if argument is None else [slug, argument]
    return {
        "title": title,
        "text": text,
        "url": reverse(action[0], args=arguments) if action else "",
        "action": action[1] if action else "",
        "links": [{"url": reverse(name, args=[slug]), "label": label} for name, label in links],
        "checks": checks or [],
    }
