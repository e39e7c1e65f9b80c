"""Who takes part in a study: memberships, pseudonyms, invitations, declarations, leaving."""

import hashlib
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from knox.models import AuthToken

from annotation_app import guardian
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Invitation, Membership, Study
from annotation_app.services.gates import waits_on_joining
from annotation_app.services.reassignment import give_stranded_items, hand_back_cases
from annotation_app.services.sign_in import fits
from blinding import clock, entropy
from blinding.events import record_event
from blinding.policy import Phase, Role

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_DIGITS = "0123456789"


@dataclass(frozen=True)
class Added:
    alias: str
    invitation: str | None  # the secret of the invitation's link, shown this once


def add_member(*, membership: Membership, username: str, role: str, password: str | None = None) -> Added:
    """Give a person a role in the study; only the admin may. A new person gets an account: with the password given,
    or with an invitation to choose one.

    Raises Invalid for an unknown role, a weak password or a taken name, Refused for somebody who has a role here.
    """
    if membership.role != Role.ADMIN:
        raise Absent
    if role not in list(Role):
        raise Invalid.at("role", "unknown", f"The role must be one of: {', '.join(Role)}.")
    _require_own_password(username, password)
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if not study.is_writable:
            raise Refused(_("The data are locked; nobody joins this study any more."))
        user, is_new = _account(username, password)
        try:
            with transaction.atomic():
                member = add_membership(study=study, user=user, role=Role(role))
        except IntegrityError as fault:
            raise Refused(
                _("This person has a role in this study already; one person has exactly one."),
                code="one_role_per_person_and_study",
            ) from fault
        give_stranded_items(member)
        invitation = _invite(member) if is_new and not password else None
        record_event(
            "member_added", study=study.pk, actor=membership.pk, subject=member.pk, facts={"role": role}
        )
    return Added(member.alias, invitation)


def add_membership(*, study: Study, user: User, role: Role) -> Membership:
    """Store a membership under a fresh pseudonym. Raises IntegrityError where the person has a role in the study."""
    member = Membership.objects.create(
        study=study,
        user=user,
        role=role,
        alias=_fresh_alias(study),
        awaits_gate=waits_on_joining(study, role),
    )
    guardian.mirror_membership(member)
    return member


def list_members(*, membership: Membership) -> list[Membership]:
    """Return all members with their accounts, for the admin. Raises Absent for anybody else."""
    if membership.role != Role.ADMIN:
        raise Absent
    return list(
        Membership.objects.filter(study_id=membership.study_id)
        .select_related("user", "invitation")
        .order_by("role", "alias")
    )


def set_password(user: User, password: str) -> None:
    """Give an account another password: all of its sessions end (Django ties them to the password) and all its tokens."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        AuthToken.objects.filter(user=user).delete()


def sign_declaration(*, membership: Membership) -> None:
    """Record that the member signed the declaration of their role. Raises Refused the second time."""
    with transaction.atomic():
        now = clock.now()
        if not Membership.objects.filter(pk=membership.pk, declared_at=None).update(declared_at=now):
            raise Refused(_("You have signed this declaration already."), code="already_declared")
        record_event(
            "declaration_signed",
            study=membership.study_id,
            actor=membership.pk,
            facts={"role": membership.role},
        )
    membership.declared_at = now


def end_membership(*, membership: Membership, alias: str, reason: str) -> None:
    """Let a member leave; effective at once. Cases they had claimed go back into the queue.

    Raises Absent for an unknown alias, Invalid without a reason.
    """
    if membership.role != Role.ADMIN:
        raise Absent
    if not reason.strip():
        raise Invalid.at("reason", "required", _("Say why this member leaves; the log keeps it."))
    with transaction.atomic():
        leaver = (
            Membership.objects.select_for_update(no_key=True)
            .filter(study_id=membership.study_id, alias=alias)
            .first()
        )
        if leaver is None or leaver.ended_at is not None:
            raise Absent
        if leaver.pk == membership.pk:
            raise Refused(_("You hold half of the key and cannot remove yourself."))
        leaver.ended_at = clock.now()
        leaver.save(update_fields=["ended_at"])
        hand_back_cases(leaver)
        guardian.forget_membership(leaver)
        record_event(
            "member_left",
            study=membership.study_id,
            actor=membership.pk,
            subject=leaver.pk,
            facts={"reason": reason},
        )


def require_declaration(membership: Membership) -> None:
    """Raise Refused until the member has signed."""
    if membership.declared_at is None:
        raise Refused(_("Sign the declaration of your role first."), code="declaration_missing")


def is_coding_phase_of(membership: Membership) -> bool:
    phases = {Role.ADJUDICATOR: (Phase.CODING, Phase.REVIEW), Role.AUDIT: (Phase.CODING, Phase.REVIEW)}
    return membership.study.phase in phases.get(Role(membership.role), (Phase.TRAINING, Phase.CODING))


def _require_own_password(username: str, password: str | None) -> None:
    """Raise Invalid where the account exists and this is not its password, TooOften for who goes on guessing."""
    user = User.objects.filter(username=username).first() if password else None
    if user is not None and password and not fits(user, password):
        raise Invalid.at(
            "password",
            "account_exists",
            _("This account exists. Leave the password out to add it to the study."),
        )


def _account(username: str, password: str | None) -> tuple[User, bool]:
    if not username or len(username) > 150:
        raise Invalid.at("username", "required", _("A user name has 1 to 150 characters."))
    user = User.objects.filter(username=username).first()
    if user is not None:
        return user, False
    user = User(username=username, date_joined=clock.now())
    if password:
        check_password(password, user)
        user.set_password(password)
    else:
        user.set_unusable_password()
    user.save()
    return user, True


def check_password(password: str, user: User) -> None:
    """Raise Invalid where a password is too weak for an account."""
    try:
        validate_password(password, user)
    except ValidationError as fault:
        raise Invalid(
            [{"field": "password", "rule": "password", "message": m} for m in fault.messages]
        ) from fault


def _fresh_alias(study: Study) -> str:
    taken = set(Membership.objects.filter(study=study).values_list("alias", flat=True))
    while True:
        alias = "".join(_LETTERS[entropy.below(len(_LETTERS), "alias", study.pk)] for _ in range(2)) + "-"
        alias += "".join(_DIGITS[entropy.below(10, "alias", study.pk)] for _ in range(3))
        if alias not in taken:
            return alias


def _invite(member: Membership) -> str:
    secret = new_secret(member)
    Invitation.objects.create(membership=member, digest=digest_of(secret))
    return secret


def new_secret(member: Membership) -> str:
    """Return what stands in the link of an invitation; it is stored nowhere."""
    return entropy.draw("invitation", member.pk, 24).hex()


def digest_of(secret: str) -> str:
    """Return what is kept of an invitation's secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
