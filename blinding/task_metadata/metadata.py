"""The metadata of one task version: what is sealed of it, and which facts of design are declared."""

import json
from dataclasses import dataclass
from typing import Any, Self

from blinding.task_metadata.values import at, canonical


@dataclass(frozen=True)
class TaskMetadata:
    """Metadata that passed schema and rules. Open are `task_id`, `task_version`, `variant_group` (shown as a
    random code) and `is_calibration`; everything else is closed, and `canonical` is what is sealed."""

    path: str
    metadata: dict[str, Any]
    canonical: bytes

    @classmethod
    def of(cls, path: str, metadata: dict[str, Any]) -> Self:
        return cls(path, metadata, canonical(metadata))

    @property
    def task_id(self) -> str:
        return str(self.metadata["task_id"])

    @property
    def task_version(self) -> str:
        return str(self.metadata["task_version"])

    @property
    def variant_of(self) -> str | None:
        original: str | None = at(self.metadata, "perturbation", "variant_of")
        return original

    @property
    def variant_group(self) -> str:
        """The task_id of the original, which a task and its variants share."""
        return self.variant_of or self.task_id

    @property
    def is_calibration(self) -> bool:
        return self.split == "calib"

    @property
    def is_holdout(self) -> bool:
        return self.split == "holdout"

    @property
    def split(self) -> str:
        return str(self.metadata["split"])

    @property
    def family(self) -> str:
        return str(self.metadata["family"])

    @property
    def difficulty_class(self) -> int:
        return int(self.metadata["difficulty_class"])

    @property
    def risk(self) -> str:
        return str(self.metadata["labels"]["t10_risk"])

    @property
    def modalities(self) -> tuple[str, ...]:
        return tuple(self.metadata["labels"]["t4_modalities"])

    @property
    def reference_set_version(self) -> str | None:
        return self.metadata.get("reference_set_version")


def parse_canonical(data: bytes) -> dict[str, Any]:
    """Return the metadata that `TaskMetadata.canonical` was made of."""
    metadata: dict[str, Any] = json.loads(data)
    return metadata
