"""What confidence is worth: it is a property of the coder's act, so it gets bins per coder and no verdict."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjudication.agreement.encode import MISSING
from adjudication.agreement.fields import FieldSpec, read
from adjudication.agreement.metric import FloatArray, IntArray
from adjudication.agreement.pairs import CodedPair
from adjudication.agreement.place import derive_place
from adjudication.agreement.table import FieldTable
from annotation_app.record_schema import cluster

BINS = 5
Json = dict[str, Any]


@dataclass
class _Bin:
    codes: int = 0
    compared: int = 0
    agreed: int = 0
    decided: int = 0
    correct: int = 0
    values: list[float] = field(default_factory=list)


def by_confidence(table: FieldTable, others: Sequence[FieldTable]) -> list[Json]:
    """Return, per slot, coder and bin: how often the other coder agreed, and how often a decision confirmed.

    `others` are the compared fields on the same units in the same order; the last bin holds its upper end."""
    low, high = table.spec.bounds or (0.0, 1.0)
    edges = np.linspace(low, high, BINS + 1)
    same = [_same(other) for other in others if other.spec.kind != "confidence"]
    specs = [other.spec for other in others if other.spec.kind != "confidence"]
    bins: dict[tuple[str, str, int], _Bin] = {}
    for slot, row in enumerate(table.coding.index[:2]):
        for unit in np.flatnonzero(row != MISSING).tolist():
            value = table.coding.numbers[row[unit]]
            place = min(int(np.searchsorted(edges, value, side="right")) - 1, BINS - 1)
            pair = table.pairs[unit]
            coder = pair.coder_b if slot else pair.coder_a
            found = bins.setdefault(("AB"[slot], coder, place), _Bin())
            found.codes += 1
            _count(found, pair, slot, unit, same, specs)
    return [_json(key, found, edges) for key, found in sorted(bins.items())]


def _same(table: FieldTable) -> IntArray:
    """1 where both codes are equal, 0 where they differ, MISSING where there are not two."""
    first, second = table.coding.index[:2]
    equal = np.equal(first, second).astype(np.int64)
    equal[(first == MISSING) | (second == MISSING)] = MISSING
    return np.asarray(equal)


def _count(
    found: _Bin,
    pair: CodedPair,
    slot: int,
    unit: int,
    same: Sequence[IntArray],
    specs: Sequence[FieldSpec],
) -> None:
    outcomes = [int(equal[unit]) for equal in same if equal[unit] != MISSING]
    found.compared += len(outcomes)
    found.agreed += sum(outcomes)
    payload, coder = (pair.payload_b, pair.coder_b) if slot else (pair.payload_a, pair.coder_a)
    for path in {cluster.PATH if spec.path == cluster.DECISION_PATH else spec.path for spec in specs}:
        verdict = _confirmed(pair.adjudicated or {}, path, payload, coder)
        if verdict is not None:
            found.decided += 1
            found.correct += verdict


def _confirmed(
    adjudicated: Mapping[str, Any], path: str, payload: Mapping[str, Any], coder: str
) -> bool | None:
    """Whether a decision gave the coder's value; None where nothing was decided or a new cluster made."""
    if adjudicated.get(path) is None:
        return None
    final, own = adjudicated[path], read(payload, path)
    if path != cluster.PATH or not isinstance(final, Mapping) or not isinstance(own, Mapping):
        return _canonical(final) == _canonical(own)
    there, here = derive_place(final, "adjudicator"), derive_place(own, coder)
    if there is not None and there.owner:
        return None
    return there == here


def _canonical(value: object) -> str:
    if isinstance(value, list):
        value = sorted(value, key=str)
    return json.dumps(value, sort_keys=True)


def _json(key: tuple[str, str, int], found: _Bin, edges: FloatArray) -> Json:
    slot, coder, place = key
    return {
        "slot": slot,
        "coder": coder,
        "from": float(edges[place]),
        "to": float(edges[place + 1]),
        "codes": found.codes,
        "compared": found.compared,
        "agreement": found.agreed / found.compared if found.compared else None,
        "decided": found.decided,
        "correct": found.correct / found.decided if found.decided else None,
    }
