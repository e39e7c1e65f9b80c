"""A task version that the study holds from an earlier batch, as far as it is known while sealed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class KnownTask:
    """An earlier task version. What is None is unknown, and rules that need it are passed over.

    `is_variant`: whether it varies another task. `is_same`: says of canonical bytes whether they are those
    sealed for it (as by a keyed digest). `metadata`: in plain, where they are open.
    """

    task_id: str
    task_version: str
    is_variant: bool | None = None
    is_same: Callable[[bytes], bool] | None = None
    metadata: Mapping[str, Any] | None = None
