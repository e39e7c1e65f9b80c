"""Labels of tasks by which agreement is split: before the unblinding those that the protocol declares open, after it more."""

from collections.abc import Mapping

from annotation_app.models import Study, Task
from annotation_app.services.batches.task_seals import declared
from blinding.models import DeclaredLabels, RevealedTask
from blinding.policy import Phase
from blinding.task_metadata.strata import ANALYSED, strata


def strata_of(study: Study) -> dict[str, dict[str, str]]:
    """Return, by task code, the labels that may be told now; a yes-or-no label that no task has is left out."""
    if study.phase == Phase.UNBLINDED:
        names = {*ANALYSED, *study.protocol["open_labels"]}
        revealed = RevealedTask.objects.filter(study=study.pk).values_list("task", "metadata")
        labels = {task: strata(metadata, names) for task, metadata in revealed}
    else:
        opened = DeclaredLabels.objects.filter(study=study.pk).values_list("task", "labels")
        labels = {task: declared(values, study) for task, values in opened}
    had = {name for values in labels.values() for name, value in values.items() if value != "no"}
    codes = dict(Task.objects.filter(pk__in=labels).values_list("pk", "code"))
    return {codes[task]: _only(values, had) for task, values in labels.items()}


def _only(values: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name in names}
