"""The two halves of the study's key: the admin's passphrase inside, the project author's around it."""

from django.db import transaction

from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership
from annotation_app.services.passphrases import checked_passphrase, one_derivation_at_a_time, wrong_passphrase
from blinding import sealing
from blinding.events import record_event
from blinding.models import StudyKey
from blinding.policy import Phase, Role


def add_second_half(*, membership: Membership, passphrase: str) -> str:
    """Wrap the key in the project author's passphrase too; return the recovery sheet of that half, shown this once.

    Raises Refused if that was done, or coding began.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    checked_passphrase(passphrase)
    if membership.study.phase not in (Phase.SETUP, Phase.TRAINING):
        raise Refused("The key was closed before coding began.")
    with one_derivation_at_a_time():
        key = StudyKey.objects.select_for_update().get(study=membership.study_id)
        if key.layers == 2:
            raise Refused("The second half of the key is in place already.", code="key_complete")
        layer = sealing.add_outer(bytes(key.wrapped), passphrase)
        key.wrapped, key.layers = layer.outer, 2
        key.save(update_fields=["wrapped", "layers"])
        record_event("key_completed", study=membership.study_id, actor=membership.pk)
    return layer.recovery_sheet


def change_passphrase(*, membership: Membership, old: str, new: str) -> None:
    """Replace the member's own passphrase. Raises Refused for a wrong one.

    The admin's layer lies inside the project author's: once both are there, the admin cannot reach it alone.
    """
    checked_passphrase(new)
    with one_derivation_at_a_time():
        key = StudyKey.objects.select_for_update().get(study=membership.study_id)
        wrapped = bytes(key.wrapped)
        try:
            if membership.role == Role.PROJECT_AUTHOR and key.layers == 2:
                key.wrapped = sealing.change_passphrase(wrapped, old, new)
            elif membership.role == Role.ADMIN and key.layers == 1:
                key.wrapped = sealing.change_passphrase(wrapped, old, new)
            else:
                raise Refused("Your half lies inside the other one now and cannot be changed until the unblinding.")
        except sealing.WrongPassphrase as fault:
            raise wrong_passphrase() from fault
        key.save(update_fields=["wrapped"])
        record_event("passphrase_changed", study=membership.study_id, actor=membership.pk)


def key_is_complete(membership: Membership) -> bool:
    with transaction.atomic():
        return StudyKey.objects.filter(study=membership.study_id, layers=2).exists()
