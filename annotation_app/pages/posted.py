"""What pages take out of a request: single texts, and a JSON body."""

from typing import Any

from django.http import HttpRequest, QueryDict
from django.http.request import RawPostDataException
from django.utils.translation import gettext as _

from annotation_app.errors import Invalid
from annotation_app.received import read_typed

LONGEST = 2000


def text_in(data: QueryDict, name: str, longest: int = LONGEST) -> str:
    """Return the last value of `name`, "" for none, cut at `longest` code points."""
    return (data.get(name) or "")[:longest]


def whole_in(data: QueryDict, name: str) -> int:
    """Return a whole number from 0 to 2³¹ − 1, the largest for a larger one; 0 for what is none."""
    digits = data.get(name) or ""
    return min(int(digits[:11]), 2**31 - 1) if digits.isascii() and digits.isdigit() else 0


def json_body(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object that a script sent. Raises Invalid for anything else."""
    try:
        body = read_typed(request.body)
    except (ValueError, RawPostDataException) as fault:  # the latter: it was sent as a form
        raise Invalid.at("", "bad_json", _("The body is not JSON that can be read.")) from fault
    if not isinstance(body, dict):
        raise Invalid.at("", "bad_json", _("The body must be a JSON object."))
    return body
