"""A brake on guessing passwords: after a few wrong ones for one name, or many from one address, there is a pause.

The answers are the same whether or not the name exists, and in the pause whether or not the password is right.
"""

import math
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation_app.errors import TooOften
from annotation_app.models import SignInTries
from annotation_app.services.statements import Statement
from blinding import clock

WINDOW = timedelta(minutes=10)
PER_NAME = 5
PER_ADDRESS = 100  # a whole group may sit behind one address

# One row for each name and address; a window begins with its first wrong try.
_COUNT = Statement("""
INSERT INTO annotation_app_signintries AS t (subject, tries, since) VALUES (%(subject)s, 1, %(now)s)
ON CONFLICT (subject) DO UPDATE
   SET tries = CASE WHEN t.since > %(start)s THEN least(t.tries + 1, 1000000) ELSE 1 END,
       since = CASE WHEN t.since > %(start)s THEN t.since ELSE EXCLUDED.since END
RETURNING tries
""")
_FORGET_PAST = Statement("""
WITH past AS (
    SELECT subject FROM annotation_app_signintries WHERE since <= %(start)s FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM annotation_app_signintries t USING past WHERE t.subject = past.subject RETURNING 1
)
SELECT count(*) FROM gone
""")


def authenticated(request: HttpRequest, *, username: str, password: str) -> User | None:
    """Return the account that name and password fit, None where they do not. Raises TooOften in a pause.

    Not to be called in a transaction, which would forget a wrong try together with what it was tried for.
    """
    name, address = _subject("name", username), _subject("address", address_of(request))
    _require_patience(name, PER_NAME)
    _require_patience(address, PER_ADDRESS)
    user = authenticate(request, username=username, password=password)
    if user is None:
        _count(name)
        _count(address)
        return None
    SignInTries.objects.filter(pk=name).delete()
    return user


def fits(user: User, password: str) -> bool:
    """Return whether this is the account's password, asked for again. Raises TooOften in a pause; in no transaction."""
    name = _subject("name", user.get_username())
    _require_patience(name, PER_NAME)
    if not user.check_password(password):
        _count(name)
        return False
    SignInTries.objects.filter(pk=name).delete()
    return True


def address_of(request: HttpRequest) -> str:
    """Return the address a request came from, "" for a socket; behind the https proxy the one that the proxy saw."""
    if settings.TWINBLIND_HTTPS and (forwarded := request.headers.get("X-Forwarded-For")):
        return forwarded.rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def _require_patience(subject: str, limit: int) -> None:
    now = clock.now()
    spent = SignInTries.objects.filter(pk=subject, tries__gte=limit, since__gt=now - WINDOW).first()
    if spent is None:
        return
    seconds = math.ceil((spent.since + WINDOW - now).total_seconds())
    raise TooOften(
        _("Too many wrong attempts. Wait %(n)d minutes and try again.") % {"n": math.ceil(seconds / 60)},
        retry_after=seconds,
    )


def _count(subject: str) -> None:
    now = clock.now()
    _FORGET_PAST.first(start=now - WINDOW)
    _COUNT.first(subject=subject, now=now, start=now - WINDOW)


def _subject(kind: str, what: str) -> str:
    return salted_hmac(f"twinblind.sign_in.{kind}", what, algorithm="sha256").hexdigest()
