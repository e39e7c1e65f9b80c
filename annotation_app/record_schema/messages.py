"""What a coder is told about an answer that cannot be taken: neutral, and saying what to do."""

from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, Kind
from annotation_app.record_schema.wording import gettext as _
from annotation_app.record_schema.wording import gettext_noop

_SAID = {
    "enum": gettext_noop("Choose one of the answers shown."),
    "additionalProperties": gettext_noop("This has a part that the form does not have."),
    "merge_target_required": gettext_noop("Choose the cluster to merge with."),
    "merge_target_is_cluster": gettext_noop("Choose a cluster other than the one picked."),
    "merge_target_unknown": gettext_noop("Choose one of the clusters of this task."),
    "merge_target_not_null": gettext_noop("A cluster to merge with goes only with the answer that merges."),
    "cluster_unknown": gettext_noop("Pick a cluster of this task, or a new one with the answer that splits."),
    "class_not_allowed": gettext_noop("This item has no classes to tick."),
    "class_unknown": gettext_noop("Tick only the classes shown."),
    "given_twice": gettext_noop("This was sent twice, under two names. Send it once."),
    "unknown_key": gettext_noop("The form has no field of this name."),
}
UNFIT = gettext_noop("This answer cannot be taken.")
NO_CLUSTERS = gettext_noop(
    "This task has no clusters yet: make a new one, with any answer but the one that merges."
)


def message(control: Control, rule: str) -> str:
    """Return the sentence for a broken rule or JSON Schema keyword."""
    if rule == "required":
        return _missing(control)
    if rule == "type":
        return _wrong_type(control)
    if rule in ("minimum", "maximum"):
        return _number(control)
    if rule == "multipleOf":
        return _("Give a number in steps of %(step)s.") % {"step": f"{control.field.step:g}"}
    if rule == "maxLength":
        return _("At most %(n)s characters fit here.") % {"n": f"{control.field.max_length:,}"}
    if rule == "minLength":
        return _("Write at least %(n)s characters.") % {"n": f"{control.field.min_length:,}"}
    return _(_SAID.get(rule, UNFIT))


def _missing(control: Control) -> str:
    if control.kind in NUMERIC:
        return _number(control)
    if control.kind in WRITTEN:
        return _("Write something here.")
    if control.kind is Kind.PICKER:
        return _("Pick the cluster that your answer is about.")
    return _("Tick at least one.") if control.kind is Kind.CHECKS else _("Choose an answer.")


def _wrong_type(control: Control) -> str:
    if control.kind in NUMERIC:
        return _number(control, whole=control.field.integer)
    if control.kind in (Kind.CHECKBOX, Kind.FLAG):
        return _("This is either ticked or not.")
    return _("This must be text.") if control.kind in WRITTEN else _(_SAID["enum"])


def _number(control: Control, *, whole: bool = False) -> str:
    """Return the sentence that asks for a number within its limits; one for each case, as languages need it."""
    low, high = control.field.minimum, control.field.maximum
    limits = {"low": f"{low or 0:g}", "high": f"{high or 0:g}"}
    if low is not None and high is not None:
        said = (
            _("Give a whole number from %(low)s to %(high)s.")
            if whole
            else _("Give a number from %(low)s to %(high)s.")
        )
    elif low is not None:
        said = (
            _("Give a whole number of at least %(low)s.")
            if whole
            else _("Give a number of at least %(low)s.")
        )
    elif high is not None:
        said = (
            _("Give a whole number of at most %(high)s.")
            if whole
            else _("Give a number of at most %(high)s.")
        )
    else:
        said = _("Give a whole number.") if whole else _("Give a number.")
    return said % limits
