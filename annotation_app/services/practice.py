"""A short practice before main items under another set of grading references than a coder was trained with.

Which set a task is graded against is closed; batches keep keyed digests, which say only where it is the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, Batch, Membership, Output, Practice, ReferenceCode, Study
from annotation_app.record_schema import Payload, to_neutral
from annotation_app.services.codebooks import current_codebook
from annotation_app.services.forms import form_of
from annotation_app.services.members import require_declaration
from annotation_app.services.references import text_context
from blinding import clock, entropy
from blinding.events import record_event
from blinding.models import SealedTask
from blinding.policy import PRIMARIES, Disclosure
from blinding.server_box import digest_of
from blinding.task_metadata import TaskMetadata

_PURPOSE = "reference set"


@dataclass(frozen=True)
class PracticeText:
    """A training text and the code that is held to be right; `values` under neutral keys of `form`."""

    task_code: str
    task_statement: str
    reference_material: str
    text: str
    html: str
    form: dict[str, Any]
    values: dict[str, Any]


def reference_sets(study: UUID, tasks: Iterable[TaskMetadata]) -> list[str]:
    """Return the digests of the sets of references that tasks name, in their own order."""
    versions = {task.reference_set_version for task in tasks} - {None}
    return sorted(digest_of(_PURPOSE, study, str(version).encode()).hex() for version in versions)


def ask_for_practice(batch: Batch) -> int:
    """Let coders whom training has not led through a released batch's sets of references practise first; return how many.

    Nobody is asked where the protocol waives it, where the batch names no set, or who was never trained.
    """
    wanted = int(batch.study.protocol["calibration"]["practice"])
    sets = _sets_of([batch.pk]) if wanted and batch.is_main else set()
    if not sets:
        return 0
    asked, without = 0, 0
    for member in batch.study.memberships.current().filter(role__in=PRIMARIES).order_by("pk"):
        new = _not_met(member, sets)
        texts = _texts_for(member, new, wanted) if new else []
        if texts:
            _ask(member, new, texts)
            asked += 1
        without += bool(new and not texts)
    if asked or without:
        facts = {"coders": asked, "without_texts": without}
        record_event("practice_asked", study=batch.study_id, actor=None, subject=batch.pk, facts=facts)
    return asked


def practice_of(*, membership: Membership) -> list[PracticeText]:
    """Return the texts that a coder has to go through. Raises Absent for who never codes main items, Refused where there
    is nothing to practise."""
    practice = _open(membership)
    outputs = Output.objects.select_related("task", "cluster").filter(pk__in=practice.texts, frozen_at=None)
    references = dict(
        ReferenceCode.objects.filter(output__in=outputs).in_force().values_list("output", "values")
    )
    return [_shown(output, references[output.pk]) for output in outputs.order_by("pk")]


def finish_practice(*, membership: Membership) -> None:
    """Note that a coder went through the texts, and let the main items come. Raises as above."""
    with transaction.atomic():
        practice = _open(membership)
        if not Practice.objects.filter(pk=practice.pk, done_at=None).update(done_at=clock.now()):
            raise Refused(_("This practice is done."), code="nothing_to_practise")
        Membership.objects.filter(pk=membership.pk).update(awaits_practice=False)
        record_event(
            "practice_done",
            study=membership.study_id,
            actor=membership.pk,
            subject=practice.pk,
            facts={"texts": len(practice.texts)},
        )


def _open(membership: Membership) -> Practice:
    if membership.role not in PRIMARIES:
        raise Absent
    require_declaration(membership)
    found = Practice.objects.filter(member=membership, done_at=None).first()
    if found is None or not membership.may_learn(Disclosure.REFERENCE):
        raise Refused(_("There is nothing to practise now."), code="nothing_to_practise")
    return found


def _sets_of(batches: Iterable[UUID]) -> set[str]:
    """Return the sets that tasks of some batches' outputs name, as far as batches with their packages tell."""
    tasks = Output.objects.filter(batch__in=batches).values("task")
    told = SealedTask.objects.filter(task__in=tasks).values("batch")
    found = Batch.objects.filter(pk__in=told).values_list("reference_sets", flat=True)
    return {digest for digests in found for digest in digests}


def _not_met(member: Membership, sets: set[str]) -> list[str]:
    """Return the sets that neither training nor practice led a coder through; none for who was never trained."""
    final = Assignment.objects.final().filter(member=member, calibration=True)
    trained = set(final.values_list("output__batch", flat=True))
    if not trained:
        return []
    practised = member.practices.values_list("references", flat=True)
    return sorted(sets - _sets_of(trained) - {digest for digests in practised for digest in digests})


def _texts_for(member: Membership, new: list[str], wanted: int) -> list[str]:
    """Return training texts with a reference, first those under the new sets, then those the coder has not coded."""
    texts = Output.objects.filter(
        study=member.study_id, batch__purpose=Batch.Purpose.CALIBRATION, frozen_at=None, task__voided_at=None
    )
    settled = ReferenceCode.objects.filter(output__study=member.study_id).in_force()
    texts = texts.filter(pk__in=list(settled.values_list("output", flat=True)))
    own = set(Assignment.objects.filter(member=member, calibration=True).values_list("output", flat=True))
    rows = texts.order_by("pk").values_list("pk", "batch__reference_sets")
    drawn = entropy.shuffled(list(rows), "practice", member.pk)
    best = sorted(drawn, key=lambda row: (not set(new) & set(row[1]), row[0] in own))
    return [str(output) for output, _ in best[:wanted]]


def _ask(member: Membership, new: list[str], texts: list[str]) -> None:
    waiting = Practice.objects.select_for_update().filter(member=member, done_at=None).first()
    if waiting is None:
        Practice.objects.create(member=member, references=new, texts=texts, asked_at=clock.now())
    else:
        waiting.references = sorted({*waiting.references, *new})
        waiting.texts = list(dict.fromkeys([*waiting.texts, *texts]))
        waiting.save(update_fields=["references", "texts"])
    Membership.objects.filter(pk=member.pk).update(awaits_practice=True)


def _shown(output: Output, values: dict[str, Any]) -> PracticeText:
    study: Study = output.study
    form = form_of(study, current_codebook(study).pk)
    context = text_context(output)
    return PracticeText(
        task_code=output.task.code,
        task_statement=output.task.statement,
        reference_material=output.task.reference_material,
        text=output.text,
        html=output.html,
        form=form.for_coder(context.classes, context.clusters, context.proposed_cluster),
        values=to_neutral(form, Payload(values), context),
    )
