"""A use case's "no", shown in the form that asked for it: beside the field it names, else above the form."""

import re

from django import forms

from annotation_app.errors import Invalid, Refused


def show_fault(form: forms.Form, fault: Invalid | Refused, *, names: dict[str, str] | None = None) -> int:
    """Put what was refused into the form and return the page's status: 409 or 429 where it is refused, 422 for bad input.

    `names` gives the form's field for a place that the service names otherwise.
    """
    if isinstance(fault, Refused):
        form.add_error(None, fault.reason)
        return fault.status
    for error in fault.errors:
        place, rest = _split(str(error["field"]))
        name = (names or {}).get(place, place)
        message = _sentence(f"{rest}: {error['message']}" if rest else str(error["message"]))
        form.add_error(name if name in form.fields else None, message)
    return 422


def _split(place: str) -> tuple[str, str]:
    """Return a place's first part and the rest: `protocol/fields/x` gives `protocol` and `fields/x`."""
    parts = re.split(r"[/.]", place.strip("/"), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _sentence(text: str) -> str:
    """Return a message that can stand before another one."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
