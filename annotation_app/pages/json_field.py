"""A text area that holds a JSON object."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation_app.received import read_json


class JsonObjectField(forms.CharField):
    """Reads a JSON object; an empty text is None. Duplicate keys are refused: one of the two would be lost."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.strip():
            return None
        try:
            document = read_json(text, pairs=_without_duplicates)
        except json.JSONDecodeError as fault:
            raise ValidationError(
                _("This is not JSON: line %(line)s, column %(column)s.")
                % {"line": fault.lineno, "column": fault.colno}
            ) from fault
        except ValueError as fault:
            raise ValidationError(
                _("This JSON holds something that cannot be kept: %(what)s.") % {"what": fault}
            ) from fault
        if not isinstance(document, dict):
            raise ValidationError(_("This must be a JSON object, in braces."))
        return document


def as_text(document: Any) -> str:
    """Write a document as people edit it."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValidationError(_("The key “%(key)s” is there twice.") % {"key": twice})
    return found
