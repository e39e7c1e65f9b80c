"""Reference codes of training texts: written by an adjudicator or the project author, or shared by all coders of a text.

Coders see each other's codes of a training text once their own record of it is final; nothing here reads a main item.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from annotation_app import registries
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Batch, Cluster, Membership, Output, Record, ReferenceCode, Study
from annotation_app.record_schema import Payload, RecordContext, read_fields, to_neutral
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.contexts import context_of
from annotation_app.services.forms import form_of
from annotation_app.services.members import require_declaration
from blinding import clock
from blinding.events import record_event
from blinding.policy import PRIMARIES, Disclosure, Phase, Role

Source = ReferenceCode.Source
WRITERS = {Role.ADJUDICATOR: Source.ADJUDICATOR, Role.PROJECT_AUTHOR: Source.PROJECT_AUTHOR}
SETTLED_BY_PERSONS = (Source.ADJUDICATOR, Source.PROJECT_AUTHOR)


@dataclass(frozen=True)
class TrainingItem:
    """A training text for who writes its reference; `values` under neutral keys, empty where there is none yet."""

    uid: UUID
    round: int
    task_code: str
    task_statement: str
    reference_material: str
    text: str
    html: str
    clusters: list[str]
    proposed_cluster: str | None
    form: dict[str, Any]
    codebook: UUID
    source: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Coding:
    """One coding of a training text, by schema path and under neutral keys."""

    payload: dict[str, Any]
    neutral: dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """A coder's own final code of a training text beside the other coder's and the reference, where there are any."""

    own: Coding
    other: Coding | None
    reference: Coding | None
    source: str  # of the reference
    different: frozenset[str]  # paths on which two of these differ
    held_right: str  # own, other, or empty: what this coder said after comparing
    other_holds: bool  # the other coder has said something


def training_texts(*, membership: Membership) -> list[tuple[Output, str]]:
    """Return the study's training texts by round, each with its reference's source, for who may write references.

    Raises Absent for other roles, Refused outside training.
    """
    _require_writer(membership)
    texts = _texts(membership.study).select_related("task", "batch").order_by("batch__number", "pk")
    sources = dict(
        ReferenceCode.objects.filter(output__study=membership.study_id)
        .in_force()
        .values_list("output", "source")
    )
    return [(output, sources.get(output.pk, "")) for output in texts]


def training_item(*, membership: Membership, uid: UUID) -> TrainingItem:
    """Return one training text with the form. Raises Absent or Refused."""
    _require_writer(membership)
    output = _text_of(membership, uid)
    book = current_codebook(membership.study)
    context, form = text_context(output), form_of(membership.study, book.pk)
    reference = reference_of(output.pk)
    return TrainingItem(
        uid=output.pk,
        round=output.batch.number or 0,
        task_code=output.task.code,
        task_statement=output.task.statement,
        reference_material=output.task.reference_material,
        text=output.text,
        html=output.html,
        clusters=list(context.clusters),
        proposed_cluster=form.preset(context.proposed_cluster),
        form=form.for_coder(context.classes, context.clusters, context.proposed_cluster),
        codebook=book.pk,
        source=reference.source if reference else "",
        values=to_neutral(form, Payload(reference.values), context) if reference else {},
    )


def write_reference(*, membership: Membership, uid: UUID, fields: Mapping[str, Any]) -> None:
    """Store a reference code; the newest counts, and its source is the writer's role.

    Raises Absent, Refused outside training, Invalid with status 422 for fields that no record could have.
    """
    _require_writer(membership)
    with transaction.atomic():
        _hold_training(membership)
        output = _text_of(membership, uid)
        form = form_of(membership.study, current_codebook(membership.study).pk)
        read = read_fields(form, fields, text_context(output))
        if isinstance(read, list):
            raise Invalid(
                [{"field": e.field, "rule": e.rule, "message": e.message} for e in read], status=422
            )
        _store(output.pk, WRITERS[Role(membership.role)], membership, read.values)


def take_agreed_codes(*, membership: Membership, batch: UUID) -> int:
    """Make a reference of every text of a round whose coders agree in all that is compared; return of how many.

    A text that has a reference keeps it. Raises Absent for who neither writes references nor runs the study, Refused
    outside training.
    """
    if membership.role not in (*WRITERS, Role.ADMIN):
        raise Absent
    _require_training(membership)
    with transaction.atomic():
        _hold_training(membership)
        known = set(
            ReferenceCode.objects.filter(output__batch=batch).in_force().values_list("output", flat=True)
        )
        taken = 0
        for output in _texts(membership.study).filter(batch=batch).exclude(pk__in=known):
            taken += _take_agreed(membership.study, output.pk)
    return taken


def comparison_of(*, membership: Membership, item: Assignment) -> Comparison:
    """Return what a coder may compare of an own training item.

    Raises Absent for a main item or another role, Refused outside training and until the own record is final.
    """
    _require_comparable(membership, item)
    other_item = _others(item).first()
    own, other = _coding(item), _coding(other_item) if other_item else None
    reference = reference_of(item.output_id)
    standard = _reference_coding(item, reference)
    views = {view.by_id: view for view in _views(item.output_id)}
    return Comparison(
        own=own,
        other=other,
        reference=standard,
        source=reference.source if reference else "",
        different=_different(item.study, own, other, standard),
        held_right=_named(views.get(membership.pk), own, other),
        other_holds=other_item is not None and other_item.member_id in views,
    )


def hold_right(*, membership: Membership, uid: UUID, which: str) -> bool:
    """Say after comparing which code a coder holds to be right, "own" or "other"; return whether all coders agree now.

    Once they do, that code is the reference, unless a person wrote one. Raises Absent, Refused, Invalid.
    """
    if membership.role not in PRIMARIES:
        raise Absent
    with transaction.atomic():
        _hold_training(membership)
        item = (
            Assignment.objects.visible_to(membership)
            .select_related("study", "output__task")
            .filter(pk=uid)
            .first()
        )
        if item is None:
            raise Absent
        _require_comparable(membership, item)
        chosen = {"own": item, "other": _others(item).first()}.get(which)
        if chosen is None:
            raise Invalid.at("which", "unknown", _("Choose one of the codes shown."))
        _store(item.output_id, Source.CODER, membership, _newest(chosen).payload)
        return _settle(item)


def reference_of(output: UUID) -> ReferenceCode | None:
    """Return the reference of a text that counts now."""
    return ReferenceCode.objects.filter(output=output).in_force().first()


def _settle(item: Assignment) -> bool:
    """Store what all coders of a text hold to be right as its reference."""
    views = {view.by_id: view.values for view in _views(item.output_id)}
    coders = {item.member_id, *_others(item, final=False).values_list("member", flat=True)}
    held = [views.get(coder) for coder in coders]
    if len(held) < 2 or any(values is None or values != held[0] for values in held):
        return False
    known = reference_of(item.output_id)
    if known is None or (known.source not in SETTLED_BY_PERSONS and known.values != held[0]):
        _store(item.output_id, Source.CONSENSUS, None, held[0] or {})
    return True


def _take_agreed(study: Study, output: UUID) -> int:
    items = list(Assignment.objects.live().filter(output=output, calibration=True))
    if len(items) < 2 or any(item.final_at is None for item in items):
        return 0
    first, *rest = [_newest(item).payload for item in items]
    if any(registries.compare_codes(study, first, payload).different for payload in rest):
        return 0
    _store(output, Source.CONSENSUS, None, first)
    return 1


def _store(output: UUID, source: str, by: Membership | None, values: dict[str, Any]) -> None:
    made = ReferenceCode.objects.create(
        output_id=output, source=source, by=by, values=values, written_at=clock.now()
    )
    study = Output.objects.values_list("study", flat=True).get(pk=output)
    record_event(
        "reference_written",
        study=study,
        actor=by.pk if by else None,
        subject=made.pk,
        facts={"source": source},
    )


def _views(output: UUID) -> list[ReferenceCode]:
    """Return each coder's newest view of a text."""
    found = ReferenceCode.objects.filter(output=output).views()
    return list(found.order_by("by", "-written_at", "pk").distinct("by"))


def _named(view: ReferenceCode | None, own: Coding, other: Coding | None) -> str:
    if view is None:
        return ""
    if view.values == own.payload:
        return "own"
    return "other" if other is not None and view.values == other.payload else ""


def _different(study: Study, *codings: Coding | None) -> frozenset[str]:
    shown = [coding.payload for coding in codings if coding is not None]
    pairs = [(a, b) for place, a in enumerate(shown) for b in shown[place + 1 :]]
    return frozenset(path for a, b in pairs for path in registries.compare_codes(study, a, b).different)


def _coding(item: Assignment) -> Coding:
    record = _newest(item)
    form = form_of(item.study, record.codebook_id)
    return Coding(
        record.payload, to_neutral(form, Payload(record.payload, record.flag_reason), context_of(item))
    )


def _reference_coding(item: Assignment, reference: ReferenceCode | None) -> Coding | None:
    if reference is None:
        return None
    form = form_of(item.study, item.codebook_id)  # type: ignore[arg-type]
    return Coding(reference.values, to_neutral(form, Payload(reference.values), context_of(item)))


def _newest(item: Assignment) -> Record:
    return item.records.order_by("-version")[0]


def _others(item: Assignment, *, final: bool = True) -> Any:
    """Return the same text's items of other coders, final ones or all that are live."""
    found = Assignment.objects.live().filter(output=item.output_id, calibration=True).exclude(pk=item.pk)
    found = found.select_related("study", "output__task", "output__cluster").order_by("slot")
    return found.filter(final_at__isnull=False) if final else found


def _texts(study: Study) -> Any:
    return Output.objects.filter(study=study, batch__purpose=Batch.Purpose.CALIBRATION, frozen_at=None)


def _text_of(membership: Membership, uid: UUID) -> Output:
    output: Output | None = (
        _texts(membership.study).select_related("task", "cluster", "batch").filter(pk=uid).first()
    )
    if output is None:
        raise Absent
    return output


def text_context(output: Output) -> RecordContext:
    """Return the context in which a text's reference is valid; nobody's own new clusters are in it."""
    codes = Cluster.objects.filter(task=output.task_id, batch=output.batch_id).values_list("code", flat=True)
    return RecordContext(
        clusters=tuple(sorted(codes, key=lambda code: (len(code), code))),
        proposed_cluster=output.cluster.code if output.cluster else None,
        positive_control=output.task.positive_control,
        classes=tuple(output.task.classes),
    )


def _require_writer(membership: Membership) -> None:
    if membership.role not in WRITERS:
        raise Absent
    _require_training(membership)


def _require_training(membership: Membership) -> None:
    require_declaration(membership)
    training = membership.study.phase == Phase.TRAINING
    if not training or not membership.may_learn(Disclosure.PRACTICE):
        raise Refused(_("This is open during training only."), code="not_training")


def _require_comparable(membership: Membership, item: Assignment) -> None:
    if membership.role not in PRIMARIES or not item.calibration or item.member_id != membership.pk:
        raise Absent
    _require_training(membership)
    if item.voided_at is not None:
        raise Refused(_("This item was taken out of your list."), code="voided")
    if item.final_at is None:
        raise Refused(_("You can compare once your own record of this item is final."), code="not_final")


def _hold_training(membership: Membership) -> None:
    """Keep the study in training until the transaction ends."""
    study = Study.objects.select_for_update().get(pk=membership.study_id)
    membership.study.phase = study.phase
    _require_training(membership)
