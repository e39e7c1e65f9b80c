"""How a study moves from phase to phase: who may, what must be true before, and what is true after."""

from collections.abc import Callable

from django.db import transaction
from django.utils.translation import gettext as _

from annotation_app import registries, signals
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Batch, Membership, Study
from annotation_app.record_schema.canonical import digest
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.datasets import dataset_hash
from annotation_app.services.gates import close_gates
from annotation_app.services.unblinding import open_request
from blinding import clock
from blinding.events import record_event
from blinding.models import StudyKey
from blinding.policy import FORWARD, Phase, Role

WHO: dict[tuple[str, str], Role] = {
    (Phase.SETUP, Phase.TRAINING): Role.ADMIN,
    (Phase.SETUP, Phase.CODING): Role.PROJECT_AUTHOR,
    (Phase.TRAINING, Phase.CODING): Role.PROJECT_AUTHOR,
    (Phase.CODING, Phase.REVIEW): Role.PROJECT_AUTHOR,
    (Phase.REVIEW, Phase.LOCKED): Role.PROJECT_AUTHOR,
}


def change_phase(*, membership: Membership, to: str, reason: str = "", leave_open: str = "") -> str:
    """Move the study to phase `to` and return the phase it is in then (undoing a lock takes two people).

    Raises Absent for a role that may not, Invalid for an unknown phase, Refused with what is missing.
    """
    if to not in list(Phase):
        raise Invalid.at("to", "unknown", f"The phase must be one of: {', '.join(Phase)}.")
    if membership.role not in (Role.ADMIN, Role.PROJECT_AUTHOR):
        raise Absent
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if (study.phase, to) == (Phase.LOCKED, Phase.REVIEW):
            return _undo_lock(study, membership, reason)
        _require_step(study, membership, to)
        _STEPS[Phase(to)](study, membership, reason, leave_open)
        record_event(
            f"phase_{to}",
            study=study.pk,
            actor=membership.pk,
            facts={"reason": reason, "leave_open": leave_open},
        )
    return study.phase


def _require_step(study: Study, membership: Membership, to: str) -> None:
    if to == Phase.UNBLINDED:
        raise Refused(
            "Unblinding is asked for by the project author and approved by the admin, each with their passphrase."
        )
    if Phase(to) not in FORWARD[Phase(study.phase)]:
        raise Refused(f"The study is in phase {study.phase}; it cannot move to {to} from there.")
    if membership.role != WHO[(study.phase, to)]:
        raise Absent


def _to_training(study: Study, membership: Membership, reason: str, leave_open: str) -> None:
    study.phase = Phase.TRAINING
    study.save(update_fields=["phase"])


def _to_coding(study: Study, membership: Membership, reason: str, leave_open: str) -> None:
    """Freeze and hash protocol and codebook: from here on they are the preregistration."""
    if not StudyKey.objects.filter(study=study.pk, layers=2).exists():
        raise Refused(
            _(
                "Only half of the key is in place. Add your passphrase under “Key” first: "
                "without it the data could never be unblinded by two people."
            ),
            code="half_a_key",
        )
    roles = set(study.memberships.current().values_list("role", flat=True))
    if missing := [r for r in (Role.PRIMARY_A, Role.PRIMARY_B, Role.ADJUDICATOR) if r not in roles]:
        raise Refused(
            _("Nobody has the role %(roles)s yet. The admin adds members.") % {"roles": ", ".join(missing)}
        )
    book = current_codebook(study)
    study.phase, study.frozen_at = Phase.CODING, clock.now()
    study.preregistration_hash = digest(
        {
            "protocol": study.protocol_hash,
            "codebook": book.hash,
            "mapping": book.mapping_hash,
            "schema": study.schema_hash,
        }
    )
    study.save(update_fields=["phase", "frozen_at", "preregistration_hash"])
    close_gates(study)
    record_event(
        "preregistered", study=study.pk, actor=membership.pk, facts={"hash": study.preregistration_hash}
    )


def _to_review(study: Study, membership: Membership, reason: str, leave_open: str) -> None:
    """Close coding: what was submitted is final, drafts count as missing."""
    if study.batches.filter(status=Batch.Status.RELEASING).exists():
        raise Refused(_("A batch is being released. Wait until it is, then close coding."))
    now = clock.now()
    study.phase, study.coding_closed_at = Phase.REVIEW, now
    study.save(update_fields=["phase", "coding_closed_at"])
    submitted = Assignment.objects.filter(
        study=study, submitted_at__isnull=False, final_at=None, voided_at=None
    )
    submitted.filter(slot__in=["A", "B", "audit"]).update(final_at=now)
    signals.coding_closed.send(sender=Study, study=study)


def _to_locked(study: Study, membership: Membership, reason: str, leave_open: str) -> None:
    """Freeze the data and publish their hash, once every pair is compared and no case is open."""
    obstacles = registries.obstacles_to_lock(study)
    if hard := [o.message for o in obstacles if not o.waivable]:
        raise Refused(" ".join(hard), code="not_ready")
    if obstacles and not leave_open.strip():
        raise Refused(" ".join(o.message for o in obstacles), code="open_cases")
    for act in registries.at_lock:
        act(study, leave_open)
    if leave_open.strip():
        study.left_open = {"reason": leave_open, "obstacles": [o.message for o in obstacles]}
    study.dataset_hash = dataset_hash(study)
    study.phase, study.locked_at, study.reopening = Phase.LOCKED, clock.now(), None
    study.save(update_fields=["phase", "locked_at", "left_open", "dataset_hash", "reopening"])
    record_event("dataset_hashed", study=study.pk, actor=membership.pk, facts={"sha256": study.dataset_hash})


def _undo_lock(study: Study, membership: Membership, reason: str) -> str:
    """The project author asks with a reason, the admin posts the same to confirm."""
    if not reason.strip():
        raise Invalid.at("reason", "required", _("Say why the lock must be undone; the log keeps it."))
    if open_request(study.pk):
        raise Refused(_("An unblinding is asked for. It has to be taken back before the lock is undone."))
    if membership.role == Role.PROJECT_AUTHOR:
        study.reopening = {"member": str(membership.pk), "reason": reason, "at": clock.now().isoformat()}
        study.save(update_fields=["reopening"])
        record_event("reopening_requested", study=study.pk, actor=membership.pk, facts={"reason": reason})
        return study.phase
    if study.reopening is None:
        raise Refused(_("The project author has to ask for this first; then you confirm it."))
    study.phase = Phase.REVIEW
    study.save(update_fields=["phase"])
    study.reopening = None
    study.save(update_fields=["reopening"])
    record_event(
        "phase_review", study=study.pk, actor=membership.pk, facts={"reason": reason, "reopened": True}
    )
    return study.phase


_STEPS: dict[Phase, Callable[[Study, Membership, str, str], None]] = {
    Phase.TRAINING: _to_training,
    Phase.CODING: _to_coding,
    Phase.REVIEW: _to_review,
    Phase.LOCKED: _to_locked,
}
