"""What a coder posts becomes the coded part of a record, and back again.

A field is posted under its neutral key with neutral values, or under its schema path with schema values.
Errors name neutral keys only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation_app.record_schema.applicability import contradictions, fill_in
from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.form import Form
from annotation_app.record_schema.neutral import neutral_value, scrubbed
from annotation_app.record_schema.payload_check import payload_errors
from annotation_app.record_schema.reading import FieldError, Reading, posted_names
from annotation_app.record_schema.structure import FLAG, FLAG_REASON, WRITTEN, Kind
from annotation_app.record_schema.validation import value_at
from annotation_app.record_schema.wording import gettext as _


@dataclass(frozen=True)
class Payload:
    """The coded properties of a record by schema name, and the reason for a flag, which stands beside it."""

    values: dict[str, Any]
    flag_reason: str = ""

    @property
    def flagged(self) -> bool:
        return self.values.get(FLAG) is True


@dataclass(frozen=True)
class FieldValue:
    """One field as it would stand in a record."""

    path: str
    value: Any


def read_fields(form: Form, posted: Mapping[str, Any], context: RecordContext) -> Payload | list[FieldError]:
    """Return a payload that may be stored, or every reason against what was posted, in the form's order."""
    reading = Reading(form, posted, context, form.controls)
    fill_in(form.rules, reading.values)
    errors = [*reading.errors, *payload_errors(form, form.controls, reading.values, reading.errors, context)]
    known = {error.field for error in errors}
    errors += [error for error in contradictions(form, reading.values) if error.field not in known]
    if errors:
        return _in_order(form, errors)
    flagged = reading.values.get(FLAG) is True
    return Payload(reading.values, reading.flag_reason if flagged else "")


def read_value(form: Form, name: str, value: Any, context: RecordContext) -> FieldValue | list[FieldError]:
    """Read one field that a protocol speaks of, named by its key or its path, as `read_fields` would.

    A field of several parts takes an object: of neutral keys, or of schema names.
    """
    control = form.by_key.get(name) or form.by_path.get(name)
    if control is None or control.path not in {*form.schema.leaves, *(top.path for top in form.controls)}:
        return [FieldError("", "unknown_key", _("The form has no field of this name."))]
    posted: Mapping[str, Any] = {name: value}
    if control.children and isinstance(value, Mapping):
        posted = value if set(value) <= set(posted_names(control)) else {control.path: value}
    reading = Reading(form, posted, context, (control,))
    errors = [*reading.errors, *payload_errors(form, (control,), reading.values, reading.errors, context)]
    if errors:
        return _in_order(form, errors)
    return FieldValue(control.path, value_at(reading.values, tuple(control.path.split("."))))


def to_neutral(form: Form, payload: Payload, context: RecordContext, notes: bool = True) -> dict[str, Any]:
    """Return a payload under neutral keys with neutral values; without what coders wrote unless `notes`."""
    out: dict[str, Any] = {}
    for control in form.controls:
        if control.path in payload.values:
            out |= _neutral(control, payload.values[control.path], context)
    if payload.flag_reason and form.schema.flag:
        out[form.by_path[FLAG_REASON].key] = payload.flag_reason
    return {key: value for key, value in out.items() if notes or form.by_key[key].kind not in WRITTEN}


def to_draft(form: Form, posted: Mapping[str, Any], context: RecordContext) -> dict[str, Any]:
    """Return an unfinished answer under neutral keys, as typed, without what no field could hold."""
    clean: dict[str, Any] = scrubbed(dict(posted))
    out: dict[str, Any] = {}
    for control in form.controls:
        if control.path in clean:
            out |= _neutral(control, clean[control.path], context)
    if FLAG_REASON in clean and form.schema.flag:
        out[form.by_path[FLAG_REASON].key] = clean[FLAG_REASON]
    out |= {key: value for key, value in clean.items() if key in form.keys and _is_plain(value)}
    return {key: value for key, value in out.items() if _is_plain(value)}


def _in_order(form: Form, errors: list[FieldError]) -> list[FieldError]:
    places = {key: place for place, key in enumerate(form.by_key)}
    return sorted(errors, key=lambda error: places.get(error.field, -1))


def _neutral(control: Control, raw: Any, context: RecordContext) -> dict[str, Any]:
    """Return a raw value, whole or in part, under the neutral keys of its control and its parts."""
    if control.kind in (Kind.CLUSTER, Kind.FIELDSET):
        parts = dict(_parts(control, raw)) if isinstance(raw, Mapping) else {}
        return {
            part.key: value
            for part, raw in parts.items()
            if (value := neutral_value(part, raw, context)) is not None
        }
    value = neutral_value(control, raw, context)
    return {} if value is None else {control.key: value}


def _parts(control: Control, raw: Mapping[str, Any]) -> Iterator[tuple[Control, Any]]:
    if control.kind is Kind.CLUSTER and "decision" in raw:
        yield control, raw["decision"]
    for child in control.children:
        if child.name in raw:
            yield child, raw[child.name]


def _is_plain(value: Any) -> bool:
    """Say whether a draft may hold `value`: what a page's control can carry."""
    if isinstance(value, list):
        return all(isinstance(part, str) for part in value)
    return isinstance(value, (str, bool, int, float))
