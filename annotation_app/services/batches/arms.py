"""How arms lie in a batch, gathered while labels are plain: the admin sees warnings without a figure, the figures are sealed."""

from typing import Any

from annotation_app.batch_file import OutputRow
from annotation_app.models import Batch


class ArmTable:
    """Integers per output: the arm and each thing that coders will be shown. Names of arms stay in this object."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._arms: dict[tuple[str, str], int] = {}

    def take(self, row: OutputRow, spans: int, task: Any, cluster: Any) -> None:
        self._arms.setdefault((row.condition, row.model), len(self._arms))

    @property
    def has_one_arm(self) -> bool:
        return len(self._arms) == 1

    def warnings(self) -> dict[str, Any]:
        return {}

    def seal_figures(self, sealer: Any) -> None:
        return None
