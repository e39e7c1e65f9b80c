"""Trying a passphrase: one derivation at a time, every wrong one is an event, and after a few of them there is a pause."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction

from annotation_app.errors import Refused, TooOften
from annotation_app.models import Membership
from annotation_app.services.passphrases import one_derivation_at_a_time, wrong_passphrase
from blinding import clock, sealing
from blinding.events import record_event
from blinding.models import Event

KIND = "passphrase_refused"
LIMIT = 5
WINDOW = timedelta(minutes=10)


class WrongPassword(Exception):
    """The account's password, asked for again, is another one."""


@contextmanager
def passphrase_attempt(membership: Membership, password: str | None = None) -> Iterator[None]:
    """Run the block in a transaction under the derivation lock; what it wrote is undone where a secret was wrong.

    `password`, where one is given, is checked first. Raises TooOften after LIMIT wrong ones in WINDOW, Refused for a
    wrong passphrase, recovery code or password.
    """
    refusal: Refused | None = None
    with one_derivation_at_a_time():
        _require_patience(membership)
        try:
            with transaction.atomic():
                _check_password(membership, password)
                yield
        except (sealing.WrongPassphrase, sealing.WrongRecoveryCode, WrongPassword) as fault:
            # Written before the lock is let go: the next attempt counts it.
            record_event(KIND, study=membership.study_id, actor=membership.pk)
            refusal = _refusal(fault)
            refusal.__cause__ = fault
    if refusal is not None:
        raise refusal


def _require_patience(membership: Membership) -> None:
    since = clock.now() - WINDOW
    own = Event.objects.filter(
        study=membership.study_id, happened_at__gt=since, kind=KIND, actor=membership.pk
    )
    if own.count() >= LIMIT:
        seconds = int(WINDOW.total_seconds())
        raise TooOften(
            f"{LIMIT} wrong attempts. Wait {seconds // 60} minutes and try again.", retry_after=seconds
        )


def _check_password(membership: Membership, password: str | None) -> None:
    if password is not None and not (membership.user and membership.user.check_password(password)):
        raise WrongPassword


def _refusal(fault: Exception) -> Refused:
    if isinstance(fault, WrongPassword):
        return Refused("This is not the password of your account.", code="wrong_password")
    if isinstance(fault, sealing.WrongRecoveryCode):
        return Refused(f"The recovery sheet does not fit: {fault}.", code="wrong_recovery_code")
    return wrong_passphrase()
