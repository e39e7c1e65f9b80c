"""The link with which a new person chooses a password: opened, used once, made anew when lost, withdrawn after a slip."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Refused
from annotation_app.models import Invitation, Membership
from annotation_app.services.members import (
    Added,
    check_password,
    digest_of,
    end_membership,
    new_secret,
    set_password,
)
from blinding import clock
from blinding.events import record_event
from blinding.policy import Role

VALID = timedelta(days=30)


@dataclass(frozen=True)
class Opened:
    """What somebody who holds a link is told: for whom it is, and until when it can be used."""

    username: str
    valid_until: datetime


def open_invitation(*, secret: str) -> Opened:
    """Return for whom a link is. Raises Absent for one that nobody has now, Refused where it was used or is too old."""
    invitation = _usable(
        Invitation.objects.select_related("membership__user").filter(digest=digest_of(secret)).first()
    )
    return Opened(_account_of(invitation).get_username(), invitation.created_at + VALID)


def accept_invitation(*, secret: str, password: str) -> User:
    """Set the password of an invited person. Raises as `open_invitation`, and Invalid for a weak password."""
    with transaction.atomic():
        held = Invitation.objects.select_for_update(of=["self"]).select_related("membership__user")
        invitation = _usable(held.filter(digest=digest_of(secret)).first())
        user = _account_of(invitation)
        check_password(password, user)
        set_password(user, password)
        invitation.used_at = clock.now()
        invitation.save(update_fields=["used_at"])
    return user


def renew_invitation(*, membership: Membership, alias: str) -> Added:
    """Make a new link for a member who has not used theirs; the old one is dead at once.

    Raises Absent for who is not the admin or an unknown alias, Refused where there is no unused invitation.
    """
    with transaction.atomic():
        invitation = _waiting(membership, alias)
        secret = new_secret(invitation.membership)
        invitation.digest, invitation.created_at = digest_of(secret), clock.now()
        invitation.save(update_fields=["digest", "created_at"])
        _record("invitation_renewed", membership, invitation)
    return Added(alias, secret)


def withdraw_invitation(*, membership: Membership, alias: str) -> None:
    """Take back an invitation that nobody has used: the link is dead, the member has left, the user name is free again.

    Raises as `renew_invitation`, and Refused where the account has a role in another study by now.
    """
    with transaction.atomic():
        invitation = _waiting(membership, alias)
        user = _account_of(invitation)
        if user.memberships.exclude(pk=invitation.membership_id).exists():
            raise Refused(_("This account is in use elsewhere by now. Let the member go instead."))
        _record("invitation_withdrawn", membership, invitation)
        end_membership(membership=membership, alias=alias, reason=_("The invitation was withdrawn."))
        invitation.delete()
        user.delete()


def _waiting(membership: Membership, alias: str) -> Invitation:
    """Return an invitation that was not used, locked; its account has never had a password."""
    if membership.role != Role.ADMIN:
        raise Absent
    member = Membership.objects.current().filter(study_id=membership.study_id, alias=alias).first()
    if member is None:
        raise Absent
    held = Invitation.objects.select_for_update(of=["self"]).select_related("membership__user")
    invitation = held.filter(membership=member, used_at=None).first()
    if invitation is None or _account_of(invitation).has_usable_password():
        raise Refused(
            _("This person has a password already; there is no invitation to make anew or to withdraw.")
        )
    return invitation


def _usable(invitation: Invitation | None) -> Invitation:
    if invitation is None or invitation.membership.user is None or invitation.membership.ended_at is not None:
        raise Absent
    if invitation.used_at is not None or _account_of(invitation).has_usable_password():
        raise Refused(_("This invitation was used: a password was chosen with it."), code="invitation_used")
    if clock.now() >= invitation.created_at + VALID:
        raise Refused(_("This invitation is more than 30 days old."), code="invitation_expired")
    return invitation


def _account_of(invitation: Invitation) -> User:
    user = invitation.membership.user
    if user is None:
        raise Absent
    return user


def _record(kind: str, membership: Membership, invitation: Invitation) -> None:
    record_event(kind, study=membership.study_id, actor=membership.pk, subject=invitation.membership_id)
