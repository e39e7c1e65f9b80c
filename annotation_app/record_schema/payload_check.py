"""May a payload be stored? Required answers, schema, clusters and classes; errors under neutral keys."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.context import RecordContext
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.form import Form
from annotation_app.record_schema.messages import NO_CLUSTERS
from annotation_app.record_schema.neutral import ABSENT, is_storable
from annotation_app.record_schema.reading import FieldError
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, Kind
from annotation_app.record_schema.validation import payload_validator, rule_violations, value_at
from annotation_app.record_schema.wording import gettext as _


def payload_errors(
    form: Form,
    controls: Sequence[Control],
    values: dict[str, Any],
    known: Sequence[FieldError],
    context: RecordContext,
) -> list[FieldError]:
    """Return what is wrong with the values of `controls`: one error a key, none where `known` has one."""
    found = {error.field: error for error in known}
    checks = (
        _missing(controls, values, context),
        _unfit(form, values),
        _unruly(form, values, context, found),
    )
    for check in checks:
        for error in check:
            found.setdefault(error.field, error)
    return [error for error in found.values() if error not in known]


def _missing(
    controls: Sequence[Control], values: Mapping[str, Any], context: RecordContext
) -> Iterator[FieldError]:
    for control in controls:
        value = _answer(values, control.path)
        is_one_answer = not control.children or control.kind is Kind.FLAG
        if is_one_answer or (value is ABSENT and control.kind is Kind.CLUSTER):
            answers = [(control, value)]
        elif value is ABSENT or isinstance(value, Mapping):
            answers = [(child, (value or {}).get(child.name, ABSENT)) for child in control.children]
            if control.kind is Kind.CLUSTER:
                answers.append((control, value.get("decision", ABSENT)))
        else:
            continue  # of the wrong type, which the schema says
        yield from (
            FieldError.of(part, "required") for part, given in answers if _is_missing(part, given, context)
        )


def _answer(values: Mapping[str, Any], path: str) -> Any:
    *parents, name = path.split(".")
    for parent in parents:
        values = values.get(parent, {})
    return values.get(name, ABSENT)


def _is_missing(control: Control, value: Any, context: RecordContext) -> bool:
    if not control.required:
        return False
    if control.kind is Kind.CHECKS:
        return bool(context.classes) and not value
    if control.kind in WRITTEN and isinstance(value, str):
        return not value.strip()
    return value is ABSENT or (value is None and control.field.nullable)


def _unfit(form: Form, values: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield what the schema says, without what is missing: that was said."""
    for error in payload_validator(form.schema).iter_errors(values):
        control = _control_at(form, error.instance_path)
        if error.kind.name != "required":
            yield FieldError.of(control, error.kind.name)
    for control in form.by_key.values():
        value = value_at(values, tuple(control.path.split(".")))
        if control.kind in NUMERIC and isinstance(value, (int, float)) and not is_storable(value):
            yield FieldError.of(control, "type")


def _unruly(
    form: Form, values: Mapping[str, Any], context: RecordContext, found: Mapping[str, FieldError]
) -> Iterator[FieldError]:
    """Yield the record rules that fields without other errors break, under names that tell nothing."""
    wrong = {form.by_key[key].path.partition(".")[0] for key in found if key}
    if form.schema.cluster and value_at(values, (cluster.PATH, "decision")) is None:
        wrong.add(cluster.PATH)  # its notes alone
    sound = {path: value for path, value in values.items() if path not in wrong}
    for violation in rule_violations(form.schema, sound, context):
        control = _control_at(form, violation.pointer.strip("/").split("/"))
        yield _rule_error(control, violation.keyword_or_rule.removeprefix("gold_"), context)
    decision = sound.get(cluster.PATH) if form.schema.cluster else None
    if decision and decision["cluster_id"] not in _places(context):
        yield _rule_error(form.by_path[cluster.CLUSTER_PATH], "cluster_unknown", context)


def _places(context: RecordContext) -> set[str]:
    """Return where an output can be: the task's clusters, the coder's own new ones, and the next new one."""
    own = context.own_new_clusters
    return {*context.clusters, *own, cluster.next_new_name(own)}


def _rule_error(control: Control, rule: str, context: RecordContext) -> FieldError:
    if rule == "cluster_unknown" and not context.clusters:
        return FieldError(control.key, rule, _(NO_CLUSTERS))
    return FieldError.of(control, rule)


def _control_at(form: Form, steps: Sequence[str | int]) -> Control:
    """Return the innermost control at a path of steps through a payload."""
    for length in range(len(steps), 0, -1):
        control = form.by_path.get(".".join(map(str, steps[:length])))
        if control is not None:
            return control
    raise LookupError(f"no control at {steps}")
