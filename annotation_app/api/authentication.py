"""Who calls: a token or a browser's session, and in a study the caller's membership, all in one query for a token."""

from hmac import compare_digest
from typing import Any

from django.http import Http404
from knox.crypto import hash_token
from knox.models import AuthToken
from knox.settings import CONSTANTS
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation_app.models import Membership
from blinding import clock

PREFIX = "Token"


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
        row = _token_row(token, slug)
        if row is None:
            raise AuthenticationFailed("This token is unknown or has expired. Get a new one from /api/v1/auth/token/.")
        return row.user, _membership(row, slug)

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


def find_membership(user: Any, slug: str) -> Membership | None:
    """Return the current membership of a signed-in person in a study, with the study; one query."""
    return (
        Membership.objects.current().select_related("study").filter(user=user, study__slug=slug, user__is_active=True).first()
    )


def member_or_404(request: Request) -> Membership:
    """Return the caller's membership of the study in the URL, or 404: no study and no role look the same."""
    if not isinstance(request.auth, Membership):
        raise Http404
    return request.auth


def _token_row(token: str, slug: str | None) -> AuthToken | None:
    """Return the token's row with its user, and in a study the membership beside it."""
    rows = AuthToken.objects.filter(token_key=token[: CONSTANTS.TOKEN_KEY_LENGTH]).select_related("user")
    if slug is not None:
        return _joined(rows, token, slug)
    return next((row for row in rows if _is_valid(row, token)), None)


def _joined(rows: Any, token: str, slug: str) -> AuthToken | None:
    """Read membership, study, user and token in one query; only a caller without a role costs a second one."""
    digest = hash_token(token)
    member = (
        Membership.objects.current()
        .select_related("study", "user")
        .filter(study__slug=slug, user__auth_token_set__digest=digest, user__is_active=True)
        .filter(user__auth_token_set__expiry__gt=clock.now())
        .first()
    )
    if member is not None:
        row = AuthToken(user=member.user)
        row.membership = member
        return row
    return next((row for row in rows if _is_valid(row, token)), None)


def _membership(row: AuthToken, slug: str | None) -> Membership | None:
    return getattr(row, "membership", None) if slug else None


def _is_valid(row: AuthToken, token: str) -> bool:
    alive = row.expiry is None or row.expiry > clock.now()
    return alive and row.user.is_active and compare_digest(row.digest, hash_token(token))


__all__ = ["MemberSession", "TokenAuthentication", "find_membership", "member_or_404"]
