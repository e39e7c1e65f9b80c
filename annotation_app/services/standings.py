"""How coders stand after training, measured by the reference codes, and passing them on to the main items."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from annotation_app import registries
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Batch, Membership, Record, ReferenceCode, Study, TrainingGate
from annotation_app.registries import FieldAgreement
from annotation_app.services.gates import mark_of, rounds_in
from annotation_app.services.members import require_declaration
from blinding import clock
from blinding.events import record_event
from blinding.policy import KEY_HOLDERS, PRIMARIES, Disclosure, Phase


@dataclass(frozen=True)
class RoundResult:
    """How far a coder's final codes of a round agree with the reference: answers compared, and the share of equal ones."""

    round: int
    texts: int
    compared: int
    share: float | None


@dataclass(frozen=True)
class CoderStanding:
    alias: str
    role: str
    rounds: list[RoundResult]
    passed_at: datetime | None
    mark: float | None

    @property
    def last(self) -> RoundResult | None:
        """The last round in which anything of this coder could be compared."""
        return next((r for r in reversed(self.rounds) if r.share is not None), None)

    @property
    def reaches(self) -> bool:
        return self.last is not None and self.last.share is not None and self.last.share >= (self.mark or 0)


@dataclass(frozen=True)
class Round:
    """A training batch as those see it who run the study."""

    uid: UUID
    number: int
    texts: int
    items: int
    final_items: int
    references: dict[str, int]  # texts by source of their reference
    agreement: list[FieldAgreement]


def open_gate(*, membership: Membership, alias: str, reason: str = "") -> None:
    """Pass a coder on to the main items, for good.

    Raises Absent for who does not run the study or an unknown coder, Refused outside training and coding or for one
    passed before, Invalid (422) without a reason where the mark is not reached.
    """
    _require_runner(membership)
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if study.phase not in (Phase.TRAINING, Phase.CODING):
            raise Refused("Coders are passed on during training and coding.", code="not_training")
        if mark_of(study) is None:
            raise Refused("The protocol demands no mark, so nobody waits for you.", code="no_mark")
        coder = study.memberships.current().filter(role__in=PRIMARIES, alias=alias).first()
        if coder is None:
            raise Absent
        if TrainingGate.objects.filter(member=coder).exists():
            raise Refused("This coder is passed on already.", code="already_passed")
        _store_gate(membership, coder, _standing(study, coder), reason.strip())


def standings_of(*, membership: Membership) -> list[CoderStanding]:
    """Return how each current primary coder stands. Raises Absent, or Refused outside training and coding."""
    _require_runner(membership)
    coders = membership.study.memberships.current().filter(role__in=PRIMARIES).order_by("role", "alias")
    return [_standing(membership.study, coder) for coder in coders]


def rounds_of(*, membership: Membership) -> list[Round]:
    """Return the study's training rounds with the agreement in each. Raises Absent, or Refused outside training and coding."""
    _require_runner(membership)
    return [_round(batch) for batch in rounds_in(membership.study)]


def _store_gate(membership: Membership, coder: Membership, standing: CoderStanding, reason: str) -> None:
    if not standing.reaches and not reason:
        raise Invalid.at(
            "reason",
            "required",
            "The mark is not reached. Say why this coder is passed all the same; the log keeps it.",
            status=422,
        )
    last = standing.last
    batch = rounds_in(coder.study).filter(number=last.round).first() if last else None
    share = last.share if last else None
    TrainingGate.objects.create(
        member=coder, passed_by=membership, round=batch, share=share, reason=reason, passed_at=clock.now()
    )
    Membership.objects.filter(pk=coder.pk).update(awaits_gate=False)
    record_event(
        "gate_opened",
        study=coder.study_id,
        actor=membership.pk,
        subject=coder.pk,
        facts={
            "agreement": None if share is None else round(share, 4),
            "mark": standing.mark,
            "reason": reason,
        },
    )


def _standing(study: Study, coder: Membership) -> CoderStanding:
    gate = TrainingGate.objects.filter(member=coder).first()
    rounds = _results(study, coder)
    return CoderStanding(coder.alias, coder.role, rounds, gate.passed_at if gate else None, mark_of(study))


def _results(study: Study, coder: Membership) -> list[RoundResult]:
    """Compare a coder's final codes with the references, round by round."""
    records = Record.objects.final().filter(assignment__member=coder, assignment__calibration=True)
    references = dict(
        ReferenceCode.objects.filter(output__study=study).in_force().values_list("output", "values")
    )
    tally: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, output, payload in records.values_list(
        "assignment__output__batch__number", "assignment__output", "payload"
    ):
        reference = references.get(output)
        if reference is not None:
            compared = registries.compare_codes(study, payload, reference)
            tally[number or 0].append((len(compared.asked), len(compared.different)))
    return [_result(number, counts) for number, counts in sorted(tally.items())]


def _result(number: int, counts: list[tuple[int, int]]) -> RoundResult:
    asked, different = sum(a for a, _ in counts), sum(d for _, d in counts)
    return RoundResult(number, len(counts), asked, 1 - different / asked if asked else None)


def _round(batch: Batch) -> Round:
    items = Assignment.objects.live().filter(output__batch=batch)
    sources = ReferenceCode.objects.filter(output__batch=batch).in_force().values_list("source", flat=True)
    counted: dict[str, int] = defaultdict(int)
    for source in sources:
        counted[source] += 1
    return Round(
        uid=batch.pk,
        number=batch.number or 0,
        texts=batch.outputs.count(),
        items=items.count(),
        final_items=items.final().count(),
        references=dict(counted),
        agreement=registries.agreement_in(batch),
    )


def _require_runner(membership: Membership) -> None:
    if membership.role not in KEY_HOLDERS:
        raise Absent
    require_declaration(membership)
    if not membership.may_learn(Disclosure.PRACTICE):
        raise Refused("Training is looked at during training and coding.", code="not_training")
