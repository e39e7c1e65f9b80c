"""`task_labels.jsonl`: the task versions of a study with the labels that are open, never what their metadata hold beyond:
actions, defects, references and keys stay on the closed side."""

from collections.abc import Iterable, Iterator
from typing import Any

from annotation_app.models import Study
from annotation_app.services.bundles.writer import Part, as_lines
from annotation_app.services.task_metadata import labelled_tasks
from annotation_app.services.task_strata import strata_of
from blinding.policy import Phase
from blinding.task_metadata.strata import strata


def task_parts(study: Study) -> Iterable[Part]:
    """Yield the file: before the unblinding with labels that the protocol declares open, after it with all strata."""
    yield "task_labels.jsonl", as_lines(_rows(study))


def _rows(study: Study) -> Iterator[dict[str, Any]]:
    opened, declared = study.phase == Phase.UNBLINDED, strata_of(study)
    for one in labelled_tasks(study):
        task = one.task
        labels = strata(one.metadata) if opened and one.metadata else declared.get(task.code, {})
        yield {
            "task_id": task.task_id,
            "task_version": task.task_version or None,
            "task_code": task.code,
            "variant_group": task.variant_group or None,
            "calibration_split": task.calibration_split,
            "voided_at": task.voided_at,
            "void_reason": task.void_reason or None,
            "outputs": task.outputs,
            "labels": labels,
        }
