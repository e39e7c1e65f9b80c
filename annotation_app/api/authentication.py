"""Who calls: a token or a browser's session, and in a study the caller's membership, all in one query for a token."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.http import Http404
from knox.crypto import hash_token
from knox.models import AuthToken
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation_app.models import Membership, Study
from annotation_app.services.statements import Columns, Statement, relate, rows_of
from blinding import clock

PREFIX = "Token"

_MEMBER = Columns(Membership, "m")
_STUDY = Columns(Study, "s", without=["record_schema_text"])  # long, and kept loaded by services.forms
_USER = Columns(User, "u")

# Only the digest of a token is stored, so an equal digest is all that there is to compare.
_BY_TOKEN = Statement(f"""
SELECT {_MEMBER.sql}, {_STUDY.sql}, {_USER.sql}
  FROM knox_authtoken k
  JOIN auth_user u ON u.id = k.user_id AND u.is_active
  JOIN annotation_app_membership m ON m.user_id = u.id AND m.ended_at IS NULL
  JOIN annotation_app_study s ON s.id = m.study_id AND s.slug = %(slug)s
 WHERE k.digest = %(digest)s AND (k.expiry IS NULL OR k.expiry > %(now)s)
""")  # noqa: S608  names of tables and columns only
_BY_USER = Statement(f"""
SELECT {_MEMBER.sql}, {_STUDY.sql}, {_USER.sql}
  FROM annotation_app_membership m
  JOIN annotation_app_study s ON s.id = m.study_id AND s.slug = %(slug)s
  JOIN auth_user u ON u.id = m.user_id AND u.is_active
 WHERE m.user_id = %(user)s AND m.ended_at IS NULL
""")  # noqa: S608  names of tables and columns only


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token …`; knox keeps only a digest. Gives (user, membership of the study in the URL or None)."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != PREFIX.lower().encode():
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The header must read: Authorization: Token <your token>.")
        token = words[1].decode("ascii", "replace")
        slug = request.parser_context["kwargs"].get("slug")
        member = token_member(token, slug) if slug else None
        user = member.user if member is not None else _token_user(token)
        if user is None:
            raise AuthenticationFailed(
                "This token is unknown or has expired. Get a new one from /api/v1/auth/token/."
            )
        return user, member

    def authenticate_header(self, request: Request) -> str:
        return PREFIX


class MemberSession(SessionAuthentication):
    """A browser's session, with the CSRF check; gives the membership of the study in the URL."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        slug = request.parser_context["kwargs"].get("slug")
        return found[0], find_membership(found[0], slug) if slug else None


def token_member(token: str, slug: str) -> Membership | None:
    """Return the current membership of a token's owner in a study, with study and user; one query."""
    return _member(_BY_TOKEN.first(digest=hash_token(token), slug=slug, now=clock.now()))


def find_membership(user: AbstractBaseUser | AnonymousUser, slug: str) -> Membership | None:
    """Return the current membership of a signed-in person in a study, with the study; one query."""
    return _member(_BY_USER.first(user=user.pk, slug=slug))


def member_or_404(request: Request) -> Membership:
    """Return the caller's membership of the study in the URL, or 404: no study and no role look the same."""
    if not isinstance(request.auth, Membership):
        raise Http404
    return request.auth


def _member(values: tuple[Any, ...] | None) -> Membership | None:
    if values is None:
        return None
    member, study, user = rows_of(values, _MEMBER, _STUDY, _USER)
    relate(member, study=study, user=user)
    return member  # type: ignore[no-any-return]


def _token_user(token: str) -> User | None:
    """Return a token's owner, for who has no role in the study, and outside of studies."""
    row = (
        AuthToken.objects.select_related("user")
        .filter(digest=hash_token(token), user__is_active=True)
        .first()
    )
    return row.user if row is not None and (row.expiry is None or row.expiry > clock.now()) else None
