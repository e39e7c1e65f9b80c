"""How arms lie in a batch, gathered while labels are plain: the admin sees warnings without a figure, the figures are sealed."""

import json
from collections.abc import Hashable
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings

from annotation_app.batch_file import OutputRow
from annotation_app.models import Batch
from blinding import confounding, entropy, sealing
from blinding.models import SealedFigures

KIND = "confounding"
NOTABLE = 0.01  # share of permutations that explain as much
LARGE = 5_000  # outputs from which on fewer permutations do


class ArmTable:
    """One entry per output and column: labels, and each thing that coders will be shown. Names of arms stay in this object."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._arms: dict[str, list[str]] = {"condition": [], "model": [], "theory": []}
        self._shown: dict[str, list[Hashable]] = {"cluster": [], "masks": []}
        self._tasks: list[Hashable] = []
        self._digests: list[bytes] = []
        self._lengths: list[int] = []
        self._names: dict[str, str] = {}

    def take(self, row: OutputRow, spans: int, task: UUID, cluster: UUID | None) -> None:
        """Note an output's labels and what is shown with it; its text only as digest and length."""
        for arm, value in (("condition", row.condition), ("model", row.model), ("theory", row.theory or "")):
            self._arms[arm].append(self._names.setdefault(value, value))
        self._tasks.append(task)
        self._shown["cluster"].append(cluster)
        self._shown["masks"].append(min(spans, 3))
        self._digests.append(confounding.text_digest(row.shown))
        self._lengths.append(len(row.shown))

    @property
    def has_one_arm(self) -> bool:
        """Whether all outputs share a condition or share a model, so that the batch itself would tell it."""
        return any(len(set(self._arms[arm])) == 1 for arm in ("condition", "model")) and len(self._tasks) > 1

    def seal_figures(self, sealer: sealing.Sealer) -> dict[str, Any]:
        """Compute the figures, seal them padded, and return what the admin may see: which shown things tell more than
        chance would, not of which arm, nor how much."""
        figures = self._check()
        plain = json.dumps(figures.to_dict(), default=str).encode()
        box = sealer.seal(sealing.pad_to_multiple(plain, 65_536))
        SealedFigures.objects.create(study=self._batch.study_id, batch=self._batch.pk, kind=KIND, box=box)
        telling = sorted(
            {e.thing for e in figures.explained if e.p <= NOTABLE and e.thing not in ("task", "batch")}
        )
        return {"telling": telling, "identical_texts": figures.repeated_total > 0}

    def _check(self) -> confounding.Confounding:
        arms = {arm: values for arm, values in self._arms.items() if len(set(values)) > 1}
        seed = int.from_bytes(entropy.draw("confounding", self._batch.pk, 8), "big")
        return confounding.check(
            arms,
            tasks=self._tasks,
            batches=[self._batch.pk] * len(self._tasks),
            shown=self._shown,
            digests=self._digests,
            lengths=self._lengths,
            generator=np.random.Generator(np.random.PCG64(seed)),
            permutations=settings.TWINBLIND_PERMUTATIONS if len(self._tasks) <= LARGE else 50,
        )
