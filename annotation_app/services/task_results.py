"""What came out by labels of the tasks, once they are joined: consensus codes by family, difficulty class, risk, modality, on
tasks with seeded defects and with points that cannot be decided, and how variants compare with their originals."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from annotation_app import registries
from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership, Output, Study, Task
from annotation_app.record_schema import RecordSchema
from annotation_app.registries import Consensus
from annotation_app.services.forms import schema_of
from annotation_app.services.tabulation import Arm, FieldTable, tables_of
from annotation_app.services.task_metadata import READERS
from annotation_app.services.variant_tables import Pair, VariantTable
from blinding import clock
from blinding.events import record_event
from blinding.models import RevealedLabel, RevealedTask
from blinding.policy import Disclosure
from blinding.task_metadata.strata import ANALYSED, strata


def task_results_of(*, membership: Membership) -> dict[str, Any]:
    """Return results by labels of the tasks. Raises Absent for who never reads them, Refused before the unblinding."""
    if membership.role not in READERS:
        raise Absent
    if not membership.may_learn(Disclosure.PROVENANCE):
        raise Refused("Results are shown once the data are unblinded.", code="not_unblinded")
    record_event("task_results_viewed", study=membership.study_id, actor=membership.pk)
    return computed_task_results(membership.study)


def computed_task_results(study: Study) -> dict[str, Any]:
    """Return the results of an unblinded study by labels of its tasks. Asks nobody's leave.

    `labels`: per label and field the agreed and decided codes by the label's value, as in the results by arm;
    `variants`: per field how far variants are from their originals within each arm.
    """
    revealed = dict(RevealedTask.objects.filter(study=study.pk).values_list("task", "metadata"))
    tables = _Tables(study, revealed)
    for row in registries.consensus_of(study):
        tables.take(row)
    return {
        "computed_at": clock.now(),
        "unblinded_at": study.unblinded_at,
        "tasks": len(revealed),
        "labels": tables.by_label(),
        "variants": tables.of_variants(),
    }


class _Tables:
    """A table per label and field, and one per field for variants."""

    def __init__(self, study: Study, revealed: dict[UUID, dict[str, Any]]) -> None:
        schema = schema_of(study)
        self._schema, self._seed = schema, int(study.protocol["agreement"].get("seed") or 0)
        self._strata = {task: strata(metadata, ANALYSED) for task, metadata in revealed.items()}
        self._pairs = list(
            _pairs(revealed, dict(Task.objects.filter(study=study).values_list("pk", "task_id")))
        )
        outputs = Output.objects.filter(study=study)
        self._task = dict(outputs.values_list("pk", "task"))
        self._controls = set(outputs.filter(task__positive_control=True).values_list("pk", flat=True))
        labels = RevealedLabel.objects.filter(study=study.pk).values_list("output", "condition", "model")
        self._arm = {output: Arm(condition, model) for output, condition, model in labels}
        self._by_label: dict[str, list[FieldTable]] = {}
        self._variants = _variant_tables(schema, self._seed)

    def take(self, row: Consensus) -> None:
        task = self._task[row.output]
        for label, value in self._strata.get(task, {}).items():
            if label not in self._by_label:
                self._by_label[label] = tables_of(self._schema, self._seed)
            for table in self._by_label[label]:
                if not table.of_classes or row.output in self._controls:
                    table.take(row.task_id, Arm(value, ""), row.fields[table.path])
        if self._pairs:
            for variant in self._variants:
                variant.take(task, self._arm[row.output], row.fields[variant.path])

    def by_label(self) -> list[dict[str, Any]]:
        """Return the labels in their order; a modality that no task has is left out."""
        found = sorted(self._by_label, key=lambda label: (ANALYSED.index(label.partition(".")[0]), label))
        had = {label for values in self._strata.values() for label, value in values.items() if value != "no"}
        return [
            {"label": label, "fields": [_by_value(table) for table in self._by_label[label]]}
            for label in found
            if label in had or "." not in label
        ]

    def of_variants(self) -> dict[str, Any]:
        arms = sorted(set(self._arm.values()))
        fields = [table.as_dict(self._pairs, arms) for table in self._variants] if self._pairs else []
        return {"pairs": len(self._pairs), "fields": fields}


def _by_value(table: FieldTable) -> dict[str, Any]:
    told = table.as_dict()
    cells = []
    for cell in told["cells"]:
        rest = {name: figure for name, figure in cell.items() if name not in ("condition", "model")}
        cells.append({"value": cell["condition"], **rest})
    return told | {"cells": cells}


def _variant_tables(schema: RecordSchema, seed: int) -> list[VariantTable]:
    return [
        VariantTable(table.path, schema.leaves[table.path].kind)
        for table in tables_of(schema, seed)
        if not table.of_classes
    ]


def _pairs(revealed: dict[UUID, dict[str, Any]], names: dict[UUID, str]) -> Iterator[Pair]:
    """Yield (original, variant) for every version of either."""
    by_name: dict[str, list[UUID]] = {}
    for task, name in names.items():
        by_name.setdefault(name, []).append(task)
    for task, metadata in sorted(revealed.items()):
        if "perturbation" in metadata:
            yield from (
                (original, task) for original in by_name.get(metadata["perturbation"]["variant_of"], ())
            )
