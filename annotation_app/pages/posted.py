"""Single texts out of a request, fit to be stored or looked for."""

from django.http import QueryDict

LONGEST = 2000


def text_in(data: QueryDict, name: str, longest: int = LONGEST) -> str:
    """Return the last value of `name` without U+0000, which PostgreSQL refuses, cut at `longest` code points."""
    return (data.get(name) or "").replace("\0", "")[:longest]
