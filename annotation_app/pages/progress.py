"""Where a study stands, and what is needed before its next step: shown at home and on the phase page.

Nothing here permits or refuses; the services do, and say the same.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation_app.models import Batch, Membership, Study
from annotation_app.pages.labels import PHASES, ROLES_IN_FULL
from annotation_app.projections import counts_for
from annotation_app.services.gates import count_passed, has_gate
from annotation_app.services.guesses import guesses_open
from annotation_app.services.keys import key_is_complete
from blinding.models import Event
from blinding.policy import Phase, Role

NEEDED_ROLES = (Role.PROJECT_AUTHOR, Role.PRIMARY_A, Role.PRIMARY_B, Role.ADJUDICATOR)


@dataclass(frozen=True)
class Check:
    """One thing that is done or open; `binding` where the step is impossible without it."""

    text: str
    done: bool
    note: str = ""
    binding: bool = True


def phase_steps(study: Study) -> list[dict[str, Any]]:
    """Return the phases in order, each with its state and when it was opened."""
    opened = _openings(study)
    order = list(Phase)
    current = order.index(Phase(study.phase))
    steps = []
    for place, phase in enumerate(order):
        state = "done" if place < current else "current" if place == current else ""
        at = opened.get(phase) if state else None
        steps.append(
            {"label": str(PHASES[phase]), "note": _note(phase, state, opened), "at": at, "state": state}
        )
    return steps


def role_checks(study: Study) -> list[Check]:
    """Return for each role that a complete study needs whether somebody has it."""
    members = list(study.memberships.current().values_list("role", "declared_at"))
    roles = [role for role, _declared in members]
    waiting = [role for role, declared in members if declared is None]
    return [
        Check(str(ROLES_IN_FULL[role]), role in roles, _people(roles.count(role), waiting.count(role)))
        for role in (*NEEDED_ROLES, Role.AUDIT, Role.MONITOR)
        if role in NEEDED_ROLES or role in roles
    ]


def _people(there: int, waiting: int) -> str:
    """Return how many have a role, and how many of them have not signed its declaration: they get items all the same."""
    if not waiting:
        return str(there)
    return _("%(n)s, %(waiting)s not signed in yet") % {"n": there, "waiting": waiting}


def checks_before(membership: Membership, to: str) -> list[Check]:
    """Return what is needed, or good to know, before the member's study moves to phase `to`."""
    if to == Phase.CODING:
        return _before_coding(membership)
    if to == Phase.REVIEW and membership.study.phase == Phase.CODING:
        return _before_review(membership)
    if to == Phase.LOCKED:
        return _before_lock(membership.study, counts_for(membership))
    return []


def blocked_by(checks: list[Check]) -> str:
    """Return the first open check that a step cannot do without, as a sentence; empty if there is none."""
    return next(
        (_("Still open: %(what)s.") % {"what": c.text} for c in checks if c.binding and not c.done), ""
    )


def of_total(done: int, total: int) -> str:
    return _("%(done)s of %(total)s") % {"done": done, "total": total}


def _openings(study: Study) -> dict[str, datetime]:
    found: dict[str, datetime] = {Phase.SETUP: study.created_at}
    moves = Event.objects.filter(study=study.pk, kind__startswith="phase_").order_by("happened_at")
    for kind, happened_at in moves.values_list("kind", "happened_at"):
        found[kind.removeprefix("phase_")] = happened_at
    return found


def _note(phase: Phase, state: str, opened: dict[str, datetime]) -> str:
    if not state:
        return ""
    if phase not in opened:
        return _("skipped") if phase == Phase.TRAINING else ""
    return _("opened")


def _before_coding(membership: Membership) -> list[Check]:
    rest = role_checks(membership.study)[1:]
    people = [Check(_("A member as %(role)s") % {"role": c.text}, c.done, c.note) for c in rest]
    return [
        Check(_("Both halves of the key"), key_is_complete(membership)),
        *people[: len(NEEDED_ROLES) - 1],
        *_gate_checks(membership.study),
        Check(_("Protocol and codebook as they should be"), True, _("frozen by this step")),
    ]


def _gate_checks(study: Study) -> list[Check]:
    """Coders may be passed on later, too; until then their main items wait."""
    if not has_gate(study):
        return []
    passed, coders = count_passed(study)
    return [
        Check(_("Coders passed on from training"), passed == coders, of_total(passed, coders), binding=False)
    ]


def _before_review(membership: Membership) -> list[Check]:
    counts = counts_for(membership)
    states = list(
        membership.study.batches.filter(purpose=Batch.Purpose.MAIN).values_list("status", flat=True)
    )
    released, alive = states.count(Batch.Status.RELEASED), [s for s in states if s not in _ENDED]
    outputs, pairs = counts.get("outputs", 0), counts.get("final_pairs", 0)
    decided, cases = counts.get("decided_cases", 0), counts.get("open_cases", 0)
    return [
        Check(_("No batch is being released"), Batch.Status.RELEASING not in states),
        Check(
            _("All batches released"),
            bool(alive) and released == len(alive),
            of_total(released, len(alive)),
            binding=False,
        ),
        Check(
            _("Two final codes for each output"),
            outputs > 0 and pairs == outputs,
            of_total(pairs, outputs),
            binding=False,
        ),
        Check(_("Cases decided"), cases == 0, of_total(decided, decided + cases), binding=False),
        *_guess_checks(membership.study),
    ]


def _guess_checks(study: Study) -> list[Check]:
    """Closing questions are asked until the lock, and are gone with it."""
    given, drawn = guesses_open(study)
    if not drawn:
        return []
    text = _("Closing questions answered; what is open at the lock is lost")
    return [Check(text, given == drawn, of_total(given, drawn), binding=False)]


def _before_lock(study: Study, counts: dict[str, int]) -> list[Check]:
    waiting, cases = counts.get("uncompared", 0), counts.get("open_cases", 0)
    decided = counts.get("decided_cases", 0)
    return [
        Check(
            _("Every pair of records is compared"),
            waiting == 0,
            _("%(n)s left") % {"n": waiting} if waiting else "",
        ),
        Check(_("Cases decided"), cases == 0, of_total(decided, decided + cases), binding=False),
        *_guess_checks(study),
    ]


_ENDED = (Batch.Status.DISCARDED, Batch.Status.REJECTED, Batch.Status.FAILED)


def count_rows(counts: dict[str, int]) -> list[dict[str, Any]]:
    """Return totals that name no output, as rows of a page."""
    labels = {
        "outputs": _("Outputs in main batches"),
        "submitted": _("Codes submitted"),
        "without_coder": _("Codes nobody is left for"),
        "final_pairs": _("Outputs with two final codes"),
        "open_cases": _("Cases open"),
        "decided_cases": _("Cases decided"),
    }
    known = {name: label for name, label in labels.items() if name in counts}
    if not counts.get("without_coder"):
        known.pop("without_coder", None)
    return [{"label": label, "value": counts[name]} for name, label in known.items()]
