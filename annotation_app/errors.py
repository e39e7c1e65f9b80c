"""How a use case says no. Pages and API turn these into the same three answers: 404, 409, and what is wrong where."""

from collections.abc import Mapping, Sequence
from typing import Any


class Absent(Exception):
    """It does not exist, or not for this member: 404 either way."""


class Refused(Exception):
    """It is the member's, but not in this state or phase: 409 with a reason a person can act on."""

    status = 409

    def __init__(self, reason: str, *, code: str = "wrong_state", **facts: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.facts = facts
        self.headers: dict[str, str] = {}


class TooOften(Refused):
    """Tried too often in a short time: 429 with a reason, and with `Retry-After` where it knows the seconds."""

    status = 429

    def __init__(self, reason: str, *, code: str = "too_often", retry_after: int | None = None) -> None:
        super().__init__(reason, code=code)
        self.headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}


class Invalid(Exception):
    """What was sent is not well formed. `errors` is a list of {field, rule, message}."""

    def __init__(self, errors: Sequence[Mapping[str, Any]], *, status: int = 400) -> None:
        super().__init__("; ".join(str(e["message"]) for e in errors))
        self.errors = [dict(e) for e in errors]
        self.status = status

    @classmethod
    def at(cls, field: str, rule: str, message: str, *, status: int = 400) -> "Invalid":
        return cls([{"field": field, "rule": rule, "message": message}], status=status)
