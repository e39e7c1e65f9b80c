"""Training, measured: codings of a text compared by the protocol's rules, and the agreement between coders in a round."""

from collections.abc import Mapping
from typing import Any

from adjudication.agreement import companions
from adjudication.agreement.fields import FieldSpec
from adjudication.agreement.measure import brief
from adjudication.agreement.pairs import CodedPair, Unit, select
from adjudication.agreement.table import table_of
from adjudication.agreement.variants import variants_of
from adjudication.comparison import disputed_fields
from adjudication.services.reports import specs_of
from annotation_app.models import Batch, Record, Study
from annotation_app.record_schema.validation import value_at
from annotation_app.registries import Compared, FieldAgreement
from annotation_app.services.forms import schema_of


def compare_codes(study: Study, first: Mapping[str, Any], second: Mapping[str, Any]) -> Compared:
    """Compare two payloads field by field; what the protocol ignores, or neither answered, is not asked."""
    schema, rules = schema_of(study), study.protocol["fields"]
    asked = [
        path
        for path in schema.leaves
        if rules[path]["compare"] != "ignored" and any(_is_answered(p, path) for p in (first, second))
    ]
    different = disputed_fields(schema, first, second, study.protocol)
    return Compared(asked, [path for path in different if path in asked])


def _is_answered(payload: Mapping[str, Any], path: str) -> bool:
    value = value_at(payload, tuple(path.split(".")))
    return value is not None and value is not False and value not in ("", [])


def round_agreement(batch: Batch) -> list[FieldAgreement]:
    """Return alpha and the share of equal answers of every reported field, of values where both gave one.

    Pairs are the final records of slots A and B of the batch's texts.
    """
    units = select(_pairs(batch)).main
    return [_field(spec, units) for spec in specs_of(batch.study) if spec.kind != "skip"] if units else []


def _field(spec: FieldSpec, units: list[Unit]) -> FieldAgreement:
    variants = variants_of(table_of(spec, units))
    table = variants.get("both_applicable", variants["all"]).pairable
    found = brief(table, None)
    share = companions.percent_agreement(table.coding) if found["units"] else None
    return FieldAgreement(spec.label, found["units"], found["alpha"], found["undefined"] or "", share)


def _pairs(batch: Batch) -> list[CodedPair]:
    coded: dict[Any, dict[str, Record]] = {}
    final = Record.objects.final().filter(assignment__output__batch=batch).order_by("assignment__output")
    for record in final.select_related(
        "codebook", "assignment__member", "assignment__output__task", "assignment__output__cluster"
    ):
        coded.setdefault(record.assignment.output_id, {})[record.assignment.slot] = record
    return [_pair(batch, both["A"], both["B"]) for both in coded.values() if {"A", "B"} <= both.keys()]


def _pair(batch: Batch, a: Record, b: Record) -> CodedPair:
    output = a.assignment.output
    return CodedPair(
        output_id=output.blinded_output_id,
        task_id=output.task.code,
        batch=str(batch.number),
        coder_a=a.assignment.member.alias,
        coder_b=b.assignment.member.alias,
        position_a=a.assignment.position,
        position_b=b.assignment.position,
        submitted_a=a.submitted_at,
        submitted_b=b.submitted_at,
        rule_version_a=str(a.codebook.rule_version),
        rule_version_b=str(b.codebook.rule_version),
        payload_a=a.payload,
        payload_b=b.payload,
        proposed_cluster=output.cluster.code if output.cluster else None,
        positive_control=output.task.positive_control,
        classes=tuple(output.task.classes),
    )
