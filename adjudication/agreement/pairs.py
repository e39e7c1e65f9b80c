"""The input of a report: pairs of final primary codes, which are compared, and why the others are not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adjudication.agreement.encode import AgreementInputError

MIXED_RULES = "mixed_rule_version"
SENSITIVITY = frozenset({"exposed", "voided", "recalled", "task_voided"})
ADJUDICATED = ("adjudicated_value", "adjudicator_id")
PRIMARY = frozenset({None, "primary_A", "primary_B"})


@dataclass(frozen=True)
class CodedPair:
    """Two final primary codes of one output, under aliases and blind ids; `excluded` says why it is left out.

    `strata` are labels the protocol declares open; `adjudicated` holds final values of disputed fields by
    path: they say what confidence is worth, no alpha sees them."""

    output_id: str
    task_id: str
    batch: str
    coder_a: str
    coder_b: str
    position_a: int | None
    position_b: int | None
    submitted_a: datetime | None
    submitted_b: datetime | None
    rule_version_a: str
    rule_version_b: str
    payload_a: Mapping[str, Any]
    payload_b: Mapping[str, Any]
    proposed_cluster: str | None = None
    positive_control: bool = False
    classes: tuple[str, ...] = ()
    excluded: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    adjudicated: Mapping[str, Any] | None = None

    @property
    def reason(self) -> str | None:
        """Why this pair is not compared, if it is not."""
        if self.excluded:
            return self.excluded
        return MIXED_RULES if self.rule_version_a != self.rule_version_b else None


@dataclass(frozen=True)
class Unit:
    """One output with its codes: (alias, payload) of slot A, of B, then of people whose code was left out."""

    pair: CodedPair
    codes: tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True)
class Selection:
    """Units to compare, those together with units left out for certain reasons, and all reasons counted."""

    main: list[Unit]
    with_excluded: list[Unit]
    excluded: Counter[str]


def select(pairs: Sequence[CodedPair], reasons: Iterable[str] = SENSITIVITY) -> Selection:
    """Check the pairs and sort them; raises AgreementInputError with the place of what must not be there.

    An output compared twice, a coder with two codes on one output, or an adjudicated row is such a thing."""
    for pair in pairs:
        _check(pair)
    kept = [pair for pair in pairs if pair.reason is None]
    counted = Counter(pair.output_id for pair in kept)
    for output_id, count in counted.items():
        if count > 1:
            raise AgreementInputError("two_codes_on_one_unit", f"unit {output_id}", "is compared twice")
    wanted = frozenset(reasons)
    more = [pair for pair in pairs if pair.reason in wanted]
    return Selection(_units(kept), _units([*kept, *more]), Counter(p.reason for p in pairs if p.reason))


def _check(pair: CodedPair) -> None:
    if pair.coder_a == pair.coder_b:
        place = f"coder {pair.coder_a}, unit {pair.output_id}"
        raise AgreementInputError("two_codes_on_one_unit", place, "gave both codes")
    for coder, payload in ((pair.coder_a, pair.payload_a), (pair.coder_b, pair.payload_b)):
        adjudicated = any(payload.get(key) is not None for key in ADJUDICATED)
        if adjudicated or payload.get("annotator_role") not in PRIMARY:
            place = f"coder {coder}, unit {pair.output_id}"
            raise AgreementInputError(
                "adjudicated_row", place, "only primary codes before adjudication count"
            )


def _units(pairs: Sequence[CodedPair]) -> list[Unit]:
    """One unit per output; a coder who appears in two of its pairs did so with one and the same code."""
    found: dict[str, tuple[CodedPair, dict[str, Mapping[str, Any]]]] = {}
    for pair in pairs:
        _, codes = found.setdefault(pair.output_id, (pair, {}))
        for coder, payload in ((pair.coder_a, pair.payload_a), (pair.coder_b, pair.payload_b)):
            if codes.setdefault(coder, payload) != payload:
                place = f"coder {coder}, unit {pair.output_id}"
                raise AgreementInputError("two_codes_on_one_unit", place, "two codes differ")
    return [Unit(pair, tuple(codes.items())) for pair, codes in found.values()]
