"""Where adjudication hooks in without being imported: reasons against a lock, counts, and parts of a bundle."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from annotation_app.models import Batch, Membership, Study


@dataclass(frozen=True)
class Obstacle:
    """Why a study cannot be locked yet; `waivable` where a reason may leave it open."""

    message: str
    waivable: bool


@dataclass(frozen=True)
class Settled:
    """A field's final value and how it came about; `values` are what the records say where that was not one answer."""

    value: Any
    how: Literal["agreed", "decided", "undecided", "single"]
    values: list[Any] | None = None


@dataclass(frozen=True)
class Consensus:
    """One output's final codes by field path, from the records named."""

    output: UUID
    blinded_output_id: str
    task_id: str
    records: list[UUID]
    fields: dict[str, Settled]


@dataclass(frozen=True)
class Compared:
    """Two codings of one text by field path: where at least one answered something that is compared, and where they differ."""

    asked: list[str]
    different: list[str]


@dataclass(frozen=True)
class FieldAgreement:
    """How far the two slots agree on a field in a training round; `undefined` says why there is no alpha."""

    label: str
    units: int
    alpha: float | None
    undefined: str
    agreement: float | None  # share of equal answers


LockGuard = Callable[[Study], Iterable[Obstacle]]
Counter = Callable[[Study], Mapping[str, int]]
BundlePart = Callable[[Study], Iterable[tuple[str, Iterable[bytes]]]]  # (name in the bundle, its chunks)

lock_guards: list[LockGuard] = []
counters: list[Counter] = []
bundle_parts: list[BundlePart] = []
consensus_sources: list[Callable[[Study], Iterator[Consensus]]] = []
Home = Callable[[Membership], Mapping[str, Any]]
homes: dict[str, Home] = {}  # by role: the context of that role's home, where another app knows it
code_comparers: list[Callable[[Study, Mapping[str, Any], Mapping[str, Any]], Compared]] = []
round_measures: list[Callable[[Batch], list[FieldAgreement]]] = []
at_lock: list[
    Callable[[Study, str], Any]
] = []  # called in the lock's transaction with the reason for what is left open


def obstacles_to_lock(study: Study) -> list[Obstacle]:
    return [obstacle for guard in lock_guards for obstacle in guard(study)]


def consensus_of(study: Study) -> Iterator[Consensus]:
    """Yield the consensus of every output with a final record, by blinded id."""
    for source in consensus_sources:
        yield from source(study)


def compare_codes(study: Study, first: Mapping[str, Any], second: Mapping[str, Any]) -> Compared:
    """Compare two payloads by the protocol's rule for each field."""
    return code_comparers[0](study, first, second)


def agreement_in(batch: Batch) -> list[FieldAgreement]:
    """Return the agreement between coders in a training round, field by field."""
    return [field for measure in round_measures for field in measure(batch)]
