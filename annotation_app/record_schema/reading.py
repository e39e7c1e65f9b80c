"""Takes what was posted apart: a field under its key with neutral values, or its path with schema values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.form import Form
from annotation_app.record_schema.messages import message
from annotation_app.record_schema.neutral import ABSENT, Unreadable, raw_value, scrubbed, written
from annotation_app.record_schema.structure import FLAG_REASON, WRITTEN, Kind
from annotation_app.record_schema.wording import gettext as _


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one answer; `field` is a neutral key, empty where no field of the form is meant."""

    field: str
    rule: str
    message: str

    @classmethod
    def of(cls, control: Control, rule: str) -> "FieldError":
        return cls(control.key, rule, message(control, rule))


class Reading:
    """The raw values of the given controls in what was posted, and what could not be read."""

    def __init__(
        self, form: Form, posted: Mapping[str, Any], context: RecordContext, controls: Sequence[Control]
    ) -> None:
        self.form, self.context = form, context
        self.posted: dict[str, Any] = scrubbed(dict(posted))
        self.errors: list[FieldError] = []
        self.flag_reason = ""
        known = {key for control in controls for key in posted_names(control)}
        if not known.issuperset(self.posted):
            # The name is not said: what a client sent must not come back as if the product had said it.
            self.errors.append(
                FieldError("", "unknown_key", _("The form has no field of one of the names sent."))
            )
        self.values: dict[str, Any] = {}
        for control in controls:
            self._put(control, self._top(control))

    def _top(self, control: Control) -> Any:
        if control.kind is Kind.FLAG:
            self._read_reason(control.children[0])
        own_keys = {control.key} if control.kind is Kind.FLAG else neutral_keys(control)
        if control.path in self.posted:
            if any(key in self.posted for key in own_keys):
                return self._fail(control, "given_twice")
            return self._given(control, self.posted[control.path])
        if control.kind is Kind.CLUSTER:
            return self._cluster(control)
        if control.kind is Kind.FIELDSET:
            return self._fieldset(control)
        return self._neutral(control)

    def _put(self, control: Control, value: Any) -> None:
        *parents, name = control.path.split(".")
        if value is not ABSENT:
            node = self.values
            for parent in parents:
                node = node.setdefault(parent, {})
            node[name] = value

    def _neutral(self, control: Control) -> Any:
        try:
            raw = raw_value(control, self.posted.get(control.key, ABSENT), self.context)
        except Unreadable as refusal:
            return self._fail(control, refusal.rule)
        return _unanswered(control) if raw is ABSENT else raw

    def _fieldset(self, control: Control) -> Any:
        read = {child.name: self._neutral(child) for child in control.children}
        given = {name: value for name, value in read.items() if value is not ABSENT}
        answered = any(key in self.posted for key in neutral_keys(control))
        return given if answered or control.field.required else ABSENT

    def _cluster(self, control: Control) -> Any:
        """Read a cluster decision: an untouched picker stands as preset, a target counts with a merge."""
        decision = self._neutral(control)
        parts = {child.name: self._neutral(child) for child in control.children}
        home = parts.pop("cluster_id", ABSENT)
        if decision is ABSENT and not parts.get("notes") and not parts.get("merge_target"):
            return ABSENT
        if home is ABSENT:
            home = self.form.preset(self.context.proposed_cluster) or ABSENT
        target = parts.pop("merge_target", ABSENT)
        parts["merge_target"] = target if decision == cluster.MERGE and target is not ABSENT else None
        parts |= {"decision": decision, "cluster_id": self._named(home)}
        return {name: value for name, value in parts.items() if value is not ABSENT}

    def _named(self, home: Any) -> Any:
        return cluster.next_new_name(self.context.own_new_clusters) if home == cluster.NEW else home

    def _given(self, control: Control, value: Any) -> Any:
        """Return a raw value posted under a path, cleaned; its types are the schema's to judge."""
        if control.kind in WRITTEN and isinstance(value, str):
            return written(control, value)
        if control.kind is Kind.CHECKS and isinstance(value, list) and set(map(type, value)) <= {str}:
            return list(dict.fromkeys(value))
        if control.kind is Kind.FIELDSET and isinstance(value, dict):
            return self._given_fieldset(control, value)
        if control.kind is Kind.CLUSTER and isinstance(value, dict):
            return self._given_cluster(control, value)
        return value

    def _given_parts(self, control: Control, value: dict[str, Any]) -> dict[str, Any]:
        """Return the parts of a posted object, cleaned; unknown ones stay, for the schema to refuse."""
        children = {child.name: child for child in control.children}
        read = {name: self._given(children[name], part) for name, part in value.items() if name in children}
        return value | read

    def _given_fieldset(self, control: Control, value: dict[str, Any]) -> dict[str, Any]:
        defaults = {child.name: _unanswered(child) for child in control.children}
        parts = defaults | self._given_parts(control, value)
        return {name: part for name, part in parts.items() if part is not ABSENT}

    def _given_cluster(self, control: Control, value: dict[str, Any]) -> dict[str, Any]:
        parts = {"merge_target": None} | self._given_parts(control, value)
        if parts["merge_target"] == "":
            parts["merge_target"] = None
        if "cluster_id" in parts:
            parts["cluster_id"] = self._named(parts["cluster_id"])
        return {name: part for name, part in parts.items() if part is not ABSENT}

    def _read_reason(self, control: Control) -> None:
        value = self.posted.get(control.key, self.posted.get(FLAG_REASON)) or ""
        try:
            self.flag_reason = written(control, value)
        except Unreadable as refusal:
            self._fail(control, refusal.rule)
        if len(self.flag_reason) > (control.field.max_length or 0):
            self._fail(control, "maxLength")

    def _fail(self, control: Control, rule: str) -> Any:
        self.errors.append(FieldError.of(control, rule))
        return ABSENT


def neutral_keys(control: Control) -> Iterator[str]:
    """Yield the neutral keys under which a control and its parts are posted."""
    if control.kind is not Kind.FIELDSET:
        yield control.key
    yield from (child.key for child in control.children)


def posted_names(control: Control) -> Iterator[str]:
    """Yield every name under which a control and its parts may be posted."""
    yield control.path
    yield from neutral_keys(control)
    if control.kind is Kind.FLAG:
        yield FLAG_REASON


def _unanswered(control: Control) -> Any:
    """Return what a record holds for no answer: false, an empty list, null where the schema asks for it."""
    if control.kind in (Kind.CHECKBOX, Kind.FLAG):
        return False
    if control.kind is Kind.CHECKS:
        return []
    return None if control.field.required and control.field.nullable else ABSENT
