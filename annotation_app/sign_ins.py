"""Who is signed in, read at the beginning of every page: Django's own tables and rules, by statements of ours."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as InTable

from annotation_app.services.statements import Columns, Statement

_SESSION = Statement("""
SELECT session_data FROM django_session WHERE session_key = %(key)s AND expire_date > statement_timestamp()
""")
_COLUMNS = Columns(User, "u")
_USER = Statement(f"SELECT {_COLUMNS.sql} FROM auth_user u WHERE u.id = %(id)s")  # noqa: S608  names of columns only


class SessionStore(InTable):
    def load(self) -> dict[str, Any]:
        row = _SESSION.first(key=self.session_key)
        if row is None:
            self._session_key = None
            return {}
        data: dict[str, Any] = self.decode(row[0])
        return data


class People(ModelBackend):
    def get_user(self, user_id: int) -> User | None:
        row = _USER.first(id=user_id)
        user = _COLUMNS.row(row) if row is not None else None
        return user if user is not None and self.user_can_authenticate(user) else None
