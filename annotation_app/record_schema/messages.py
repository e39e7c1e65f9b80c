"""What a coder is told about an answer that cannot be taken: neutral, and saying what to do."""

from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, Kind

_SAID = {
    "enum": "Choose one of the answers shown.",
    "additionalProperties": "This has a part that the form does not have.",
    "merge_target_required": "Choose the cluster to merge with.",
    "merge_target_is_cluster": "Choose a cluster other than the one picked.",
    "merge_target_unknown": "Choose one of the clusters of this task.",
    "merge_target_not_null": "A cluster to merge with goes only with the answer that merges.",
    "cluster_unknown": "Pick a cluster of this task, or a new one with the answer that splits.",
    "class_not_allowed": "This item has no classes to tick.",
    "class_unknown": "Tick only the classes shown.",
    "given_twice": "This was sent twice, under two names. Send it once.",
    "unknown_key": "The form has no field of this name.",
}
NO_CLUSTERS = "This task has no clusters yet: make a new one, with any answer but the one that merges."


def message(control: Control, rule: str) -> str:
    """Return the sentence for a broken rule or JSON Schema keyword."""
    if rule == "required":
        return _missing(control)
    if rule == "type":
        return _wrong_type(control)
    if rule in ("minimum", "maximum"):
        return f"Give a number {_range(control)}."
    if rule == "multipleOf":
        return f"Give a number in steps of {control.field.step:g}."
    if rule == "maxLength":
        return f"At most {control.field.max_length:,} characters fit here."
    if rule == "minLength":
        return f"Write at least {control.field.min_length:,} characters."
    return _SAID.get(rule, "This answer cannot be taken.")


def _missing(control: Control) -> str:
    if control.kind in NUMERIC:
        return f"Give a number {_range(control)}.".replace(" .", ".")
    if control.kind in WRITTEN:
        return "Write something here."
    if control.kind is Kind.PICKER:
        return "Pick the cluster that your answer is about."
    return "Tick at least one." if control.kind is Kind.CHECKS else "Choose an answer."


def _wrong_type(control: Control) -> str:
    if control.kind in NUMERIC:
        whole = "whole number" if control.field.integer else "number"
        return f"Give a {whole} {_range(control)}.".replace(" .", ".")
    if control.kind in (Kind.CHECKBOX, Kind.FLAG):
        return "This is either ticked or not."
    return "This must be text." if control.kind in WRITTEN else _SAID["enum"]


def _range(control: Control) -> str:
    low, high = control.field.minimum, control.field.maximum
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    if low is not None:
        return f"of at least {low:g}"
    return f"of at most {high:g}" if high is not None else ""
