"""The two halves of the study's key: the admin's passphrase inside, the project author's around it.

Who lost a passphrase sets a new one with the recovery sheet. The admin's layer lies inside the other one: to change it for
good the project author's passphrase has to be entered too, at the same moment; while an unblinding is asked for the outer
layer is off and the admin's sheet is enough, for that request.
"""

from collections.abc import Callable

from django.db import transaction

from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership, Study
from annotation_app.services.attempts import passphrase_attempt
from annotation_app.services.passphrases import checked_passphrase, one_derivation_at_a_time, strength
from annotation_app.services.unblinding import open_request
from blinding import sealing
from blinding.events import record_event
from blinding.models import StudyKey
from blinding.policy import KEY_HOLDERS, Phase, Role


def add_second_half(*, membership: Membership, passphrase: str) -> str:
    """Wrap the key in the project author's passphrase too; return the recovery sheet of that half, shown this once.

    Raises Refused if that was done, or coding began.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    checked_passphrase(passphrase)
    with one_derivation_at_a_time():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if study.phase not in (Phase.SETUP, Phase.TRAINING):
            raise Refused("The key was closed before coding began.")
        key = StudyKey.objects.select_for_update().get(study=study.pk)
        if key.layers == 2:
            raise Refused("The second half of the key is in place already.", code="key_complete")
        layer = sealing.add_outer(bytes(key.wrapped), passphrase, strength())
        key.wrapped, key.layers = layer.outer, 2
        key.save(update_fields=["wrapped", "layers"])
        record_event("key_completed", study=study.pk, actor=membership.pk)
    return layer.recovery_sheet


def change_passphrase(*, membership: Membership, old: str, new: str, partner: str | None = None) -> None:
    """Replace the member's own passphrase. `partner` is the other half's passphrase, which an admin needs once both are there.

    Raises Absent for who holds no half, Invalid for a new one that is too short, Refused for a wrong one; TooOften.
    """
    checked_passphrase(new)
    _renew(
        membership,
        partner,
        "passphrase_changed",
        lambda layer: sealing.change_passphrase(layer, old, new, strength()),
    )


def recover_passphrase(*, membership: Membership, code: str, new: str, partner: str | None = None) -> None:
    """Set a new passphrase with the recovery sheet of the member's half, which stays valid; `partner` and faults as above."""
    checked_passphrase(new)
    _renew(
        membership,
        partner,
        "passphrase_recovered",
        lambda layer: sealing.rewrap_from_recovery(layer, code, new, strength()),
    )


def key_is_complete(membership: Membership) -> bool:
    with transaction.atomic():
        return StudyKey.objects.filter(study=membership.study_id, layers=2).exists()


def _renew(membership: Membership, partner: str | None, event: str, renew: Callable[[bytes], bytes]) -> None:
    if membership.role not in KEY_HOLDERS:
        raise Absent
    with passphrase_attempt(membership):
        key = StudyKey.objects.select_for_update().get(study=membership.study_id)
        if membership.role == Role.PROJECT_AUTHOR:
            _renew_outer(key, renew)
        elif key.layers == 1:
            _renew_bare_inner(key, partner, renew)
        else:
            key.wrapped = _with_inner(bytes(key.wrapped), partner, renew)
        key.save(update_fields=["wrapped"])
        record_event(event, study=membership.study_id, actor=membership.pk)


def _renew_outer(key: StudyKey, renew: Callable[[bytes], bytes]) -> None:
    if key.layers != 2:
        asked = open_request(key.study)
        raise Refused(
            "Your layer is off the key while an unblinding is asked for. Take the request back first."
            if asked
            else "Your half of the key is not in place yet; add it first."
        )
    key.wrapped = renew(bytes(key.wrapped))


def _renew_bare_inner(key: StudyKey, partner: str | None, renew: Callable[[bytes], bytes]) -> None:
    """Renew the admin's layer where nothing is around it; what is put back after a request holds the old one, unless
    the partner's passphrase opens that too."""
    request = open_request(key.study)
    if request is not None and partner:
        request.outer = _with_inner(bytes(request.outer or b""), partner, renew)
        request.save(update_fields=["outer"])
        key.wrapped = sealing.open_outer(request.outer, partner)
    else:
        key.wrapped = renew(bytes(key.wrapped))


def _with_inner(outer: bytes, partner: str | None, renew: Callable[[bytes], bytes]) -> bytes:
    if not partner:
        raise Refused(
            "Your half lies inside the project author's. Change it together: their passphrase is needed as well.",
            code="other_half_needed",
        )
    return sealing.replace_inner(outer, partner, renew(sealing.open_outer(outer, partner)))
