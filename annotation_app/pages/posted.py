"""Single texts out of a request, fit to be stored or looked for."""

from uuid import UUID

from django.http import QueryDict

from annotation_app.errors import Absent

LONGEST = 2000


def text_in(data: QueryDict, name: str, longest: int = LONGEST) -> str:
    """Return the last value of `name` without U+0000, which PostgreSQL refuses, cut at `longest` code points."""
    return (data.get(name) or "").replace("\0", "")[:longest]


def uuid_in(data: QueryDict, name: str) -> UUID:
    """Return the UUID under `name`. Raises Absent for anything else."""
    try:
        return UUID(data.get(name) or "")
    except ValueError as fault:
        raise Absent from fault
