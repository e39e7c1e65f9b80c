"""What came out, once labels are joined: consensus codes by condition × model, with intervals by task, and beside it whether
the blind held. Plain values; every look is an event."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from annotation_app import registries
from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership, Output, Study
from annotation_app.record_schema import RecordSchema
from annotation_app.record_schema.structure import Kind
from annotation_app.registries import Consensus
from annotation_app.services.blinding_measured import blinding_measured
from annotation_app.services.forms import schema_of
from annotation_app.services.tabulation import Arm, FieldTable, tables_of
from blinding import clock
from blinding.events import record_event
from blinding.models import Exposure, RevealedLabel
from blinding.policy import Disclosure, Role
from blinding.shares import RESAMPLES

READERS = (Role.PROJECT_AUTHOR, Role.MONITOR)


def results_of(*, membership: Membership) -> dict[str, Any]:
    """Return results and blinding figures. Raises Absent for who never reads them, Refused before the unblinding."""
    if membership.role not in READERS:
        raise Absent
    if not membership.may_learn(Disclosure.PROVENANCE):
        raise Refused("Results are shown once the data are unblinded.", code="not_unblinded")
    record_event("results_viewed", study=membership.study_id, actor=membership.pk)
    return computed_results(membership.study)


def computed_results(study: Study) -> dict[str, Any]:
    """Return the results of an unblinded study. Asks nobody's leave.

    `fields`: per field and arm the agreed and decided codes as counts and shares with 95 % intervals (whole tasks
    resampled), undecided and single ones counted apart; `without_recognised`: the same without outputs that somebody
    recognised or had a hunch about; `controls`: positive controls whose consensus classes are the expected ones.
    """
    labels = {
        output: Arm(condition, model)
        for output, condition, model in RevealedLabel.objects.filter(study=study.pk).values_list(
            "output", "condition", "model"
        )
    }
    recognised = set(Exposure.objects.filter(study=study.pk).values_list("output", flat=True))
    schema, seed = schema_of(study), _seed(study)
    everything, unseen = tables_of(schema, seed), tables_of(schema, seed)
    controls = _Controls(study, schema)
    for row in registries.consensus_of(study):
        arm = labels[row.output]
        _take(everything, row, arm, controls)
        controls.take(row, arm)
        if row.output not in recognised:
            _take(unseen, row, arm, controls)
    return {
        "computed_at": clock.now(),
        "unblinded_at": study.unblinded_at,
        "seed": seed,
        "resamples": RESAMPLES,
        "arms": [{"condition": a.condition, "model": a.model} for a in sorted(set(labels.values()))],
        "fields": [table.as_dict() for table in everything],
        "without_recognised": {
            "outputs_left_out": len(recognised),
            "fields": [table.as_dict() for table in unseen],
        },
        "controls": controls.as_list(),
        "blinding": blinding_measured(study, seed),
    }


def _seed(study: Study) -> int:
    return int(study.protocol["agreement"].get("seed") or 0)


def _take(tables: Iterable[FieldTable], row: Consensus, arm: Arm, controls: "_Controls") -> None:
    for table in tables:
        if not table.of_classes or row.output in controls:
            table.take(row.task_id, arm, row.fields[table.path])


class _Controls:
    """Positive controls: is the consensus the set of classes that was expected?"""

    def __init__(self, study: Study, schema: RecordSchema) -> None:
        of_controls = Output.objects.filter(study=study, task__positive_control=True)
        self._outputs = set(of_controls.values_list("pk", flat=True))
        self._path = next((path for path, leaf in schema.leaves.items() if leaf.kind is Kind.CHECKS), "")
        labels = RevealedLabel.objects.filter(study=study.pk, gold_expected__isnull=False)
        self._expected: dict[UUID, Any] = dict(labels.values_list("output", "gold_expected"))
        self._cells: dict[Arm, list[int]] = {}

    def __contains__(self, output: UUID) -> bool:
        return output in self._outputs

    def take(self, row: Consensus, arm: Arm) -> None:
        settled = row.fields.get(self._path)
        if row.output not in self._expected or settled is None or settled.how not in ("agreed", "decided"):
            return
        cell = self._cells.setdefault(arm, [0, 0])
        cell[0] += 1
        cell[1] += set(settled.value or ()) == set(self._expected[row.output])

    def as_list(self) -> list[dict[str, Any]]:
        return [
            {
                "condition": arm.condition,
                "model": arm.model,
                "outputs": n,
                "as_expected": hits,
                "share": hits / n,
            }
            for arm, (n, hits) in sorted(self._cells.items())
        ]
