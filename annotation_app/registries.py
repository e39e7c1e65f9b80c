"""Where adjudication hooks in without being imported: reasons against a lock, counts, and parts of a bundle."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation_app.models import Membership, Study


@dataclass(frozen=True)
class Obstacle:
    """Why a study cannot be locked yet; `waivable` where a reason may leave it open."""

    message: str
    waivable: bool


LockGuard = Callable[[Study], Iterable[Obstacle]]
Counter = Callable[[Study], Mapping[str, int]]
BundlePart = Callable[[Study], Iterable[tuple[str, Iterable[bytes]]]]  # (name in the bundle, its chunks)

lock_guards: list[LockGuard] = []
counters: list[Counter] = []
bundle_parts: list[BundlePart] = []
Home = Callable[[Membership], Mapping[str, Any]]
homes: dict[str, Home] = {}  # by role: the context of that role's home, where another app knows it
at_lock: list[Callable[[Study, str], Any]] = []  # called in the lock's transaction with the reason for what is left open


def obstacles_to_lock(study: Study) -> list[Obstacle]:
    return [obstacle for guard in lock_guards for obstacle in guard(study)]
