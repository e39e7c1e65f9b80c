"""What a protocol of the right shape still gets wrong: fields, rules between them, lists that name things."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, CodedField, Kind, RecordSchema, value_key
from annotation_app.record_schema.wording import gettext as _
from blinding.task_metadata.strata import NAMES as OPEN_LABELS

COMPARED = {"tolerance": NUMERIC, "set": frozenset({Kind.CHECKS})}
LEVELS = {
    "ordinal": NUMERIC | {Kind.RADIO},
    "interval": NUMERIC,
    "ratio": NUMERIC,
    "set": frozenset({Kind.CHECKS}),
}


def field_problems(
    given: Mapping[str, Any], whole: Mapping[str, Any], schema: RecordSchema
) -> Iterator[Problem]:
    """Yield what is wrong with the rules per field; `whole` is `given` with its defaults."""
    for path in given:
        field = schema.leaves.get(path)
        if field is None:
            yield Problem(pointer("fields", path), _("No field of the record schema has this path."))
            continue
        for name, message in _objections(field, whole[path]):
            yield Problem(pointer("fields", path, name), message)


def _objections(field: CodedField, rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    compare, level = rule["compare"], rule["level"]
    demanded = field.required and not field.nullable and field.kind not in (Kind.CHECKS, Kind.FLAG)
    if demanded and not rule["required"]:
        yield "required", _("The record schema requires this field.")
    if field.kind is Kind.FLAG and compare != "ignored":
        yield "compare", _("A flag is a coder's wish, not a code: it is not compared.")
    elif field.kind not in COMPARED.get(compare, {field.kind}):
        yield (
            "compare",
            _("This way to compare does not fit a field of kind %(kind)s.") % {"kind": field.kind},
        )
    if field.kind is Kind.CHECKS and compare == "exact":
        yield "compare", _("Sets are compared as sets, whatever their order.")
    if (compare == "tolerance") != (rule["tolerance"] is not None):
        yield "tolerance", _("A tolerance goes with the comparison by tolerance, and only with it.")
    if field.kind not in LEVELS.get(level, {field.kind}) or (
        field.kind is Kind.CHECKS and level not in ("set", None)
    ):
        yield "level", _("This level does not fit a field of kind %(kind)s.") % {"kind": field.kind}
    if field.kind in WRITTEN | {Kind.FLAG} and level is not None:
        yield "level", _("No agreement is computed for this field.")
    if (level == "set") != (rule["distance"] is not None):
        yield "distance", _("A distance goes with the level of sets, and only with it.")
    yield from _missing_objections(field, rule["missing"])


def _missing_objections(field: CodedField, missing: Sequence[Any]) -> Iterator[tuple[str, str]]:
    if field.kind in (Kind.RADIO, Kind.CLUSTER):
        unknown = [value for value in missing if not _has(field, value)]
    elif field.kind is Kind.CHECKBOX:
        unknown = [value for value in missing if not isinstance(value, bool)]
    elif field.kind in NUMERIC:
        unknown = [value for value in missing if isinstance(value, (bool, str))]
    else:
        unknown = list(missing)
    for value in unknown:
        yield "missing", _("The field has no value %(value)s.") % {"value": value_key(value)}


def rule_problems(rules: Sequence[Mapping[str, Any]], schema: RecordSchema) -> Iterator[Problem]:
    """Yield what is wrong with applicability rules: unknown fields and values, what a rule cannot settle."""
    fields = dict(schema.leaves)
    if schema.cluster:
        del fields[schema.cluster.path]
        fields[cluster.DECISION_PATH] = schema.cluster
    for position, rule in enumerate(rules):
        for part in ("when", "then"):
            for path, value in rule[part].items():
                message = _rule_objection(fields.get(path), value, part)
                if message:
                    yield Problem(pointer("applicability", position, part, path), message)
        for path in rule["when"].keys() & rule["then"].keys():
            yield Problem(
                pointer("applicability", position, "then", path), _("A rule cannot settle what it asks for.")
            )


def _rule_objection(field: CodedField | None, value: Any, part: str) -> str:
    if field is None:
        return _("No field of the record schema has this path.")
    settled = {Kind.RADIO, Kind.CHECKBOX}
    if field.kind not in (settled | {Kind.CLUSTER} if part == "when" else settled):
        return _("Rules are about listed answers and tick boxes; the cluster decision can only be a cause.")
    values = value if isinstance(value, list) else [value]
    if field.kind is Kind.CHECKBOX:
        return "" if all(isinstance(item, bool) for item in values) else _("A tick box is true or false.")
    return "" if all(_has(field, item) for item in values) else _("The field has no such value.")


def list_problems(protocol: Mapping[str, Any], schema: RecordSchema) -> Iterator[Problem]:
    """Yield what is wrong with the claim fields, the open labels and the thresholds."""
    for position, path in enumerate(protocol["claim_fields"]):
        if path not in schema.leaves:
            yield Problem(
                pointer("claim_fields", position), _("No field of the record schema has this path.")
            )
    for position, name in enumerate(protocol["open_labels"]):
        if name not in OPEN_LABELS:
            known = ", ".join(OPEN_LABELS)
            yield Problem(
                pointer("open_labels", position),
                _("Task metadata have no such label; they have %(known)s.") % {"known": known},
            )
    thresholds = protocol["agreement"]["thresholds"]
    if thresholds["tentative"] > thresholds["reliable"]:
        yield Problem("/agreement/thresholds", _("Tentative cannot lie above reliable."))


def _has(field: CodedField, value: Any) -> bool:
    return not isinstance(value, bool) and any(
        type(known) is type(value) and known == value for known in field.values
    )
