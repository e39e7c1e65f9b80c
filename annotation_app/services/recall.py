"""Recall: a leak found after release. The output is frozen for everybody at once; then somebody who sees its text only adds
a mask, whoever had read the leak is exposed, and others go on with the new text under a new blind version."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from annotation_app import signals
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Assignment, Cluster, Membership, Output, Study
from annotation_app.registries import Obstacle
from annotation_app.rendering import rendered
from annotation_app.services.amendments import amend
from annotation_app.services.batches.allocation import EXCERPT
from annotation_app.services.reassignment import find_fresh_coder, void_assignment
from annotation_app.services.versions import blind_version
from blinding import clock
from blinding.events import record_event
from blinding.models import Exposure
from blinding.policy import WRITING, Disclosure, Phase, Role
from blinding.redaction.spans import Span, mask, masks

PHASES = (Phase.TRAINING, Phase.CODING, Phase.REVIEW)


@dataclass(frozen=True)
class RecalledOutput:
    """A frozen output as the person sees it who masks it: text, and nothing about where it came from."""

    blinded_output_id: str
    text: str
    frozen_at: datetime | None
    recalled: int
    opened: int


@dataclass(frozen=True)
class Impact:
    """What a recall did: people exposed, records set apart, fresh coders found."""

    exposed: int
    records: int
    fresh_coders: int


def freeze_output(*, membership: Membership, blinded_id: str, reason: str) -> RecalledOutput:
    """Take an output out of everybody's hands at once. Raises Absent, Invalid without a reason, Refused if it is frozen."""
    _require_text(reason, "reason", "Say what leaks, without naming a source; the log keeps it.")
    with transaction.atomic():
        output = _locked(membership, blinded_id)
        if output.frozen_at is not None:
            raise Refused(
                "This output is frozen already. Mask what leaks, or lift the recall.", code="frozen"
            )
        output.frozen_at = clock.now()
        output.save(update_fields=["frozen_at"])
        Assignment.objects.live().filter(output=output).update(held_at=output.frozen_at)
        _exemplify(output, "")
        _note("frozen", membership, output, {"reason": reason.strip()})
    return _view(output)


def frozen_output(*, membership: Membership, blinded_id: str) -> RecalledOutput:
    """Return a frozen output with its text. Raises Absent, Refused where it is not frozen or text is not shown any more."""
    output = _found(membership, blinded_id)
    if output.frozen_at is None:
        raise Refused("Freeze this output first.", code="not_frozen")
    if not membership.may_learn(Disclosure.TEXT):
        raise Refused("Texts are not shown in this phase. Name the words to be masked.", code="no_text")
    return _view(output)


def mask_output(
    *,
    membership: Membership,
    blinded_id: str,
    note: str,
    words: Sequence[str] = (),
    spans: Sequence[Sequence[int]] = (),
) -> Impact:
    """Mask `words` (wherever they stand, in any case) and `spans` (code points of the text shown), and let others go on.

    `note` says what the leak may have done. Raises Absent, Refused unless the output is frozen, Invalid for a word that is
    not in the text or a span outside it.
    """
    _require_text(note, "note", "Say what the leak may have done to codes; the log keeps it.")
    with transaction.atomic():
        output = _locked(membership, blinded_id)
        _require_frozen(output)
        places = [*_places_of(output.text, words), *_checked(output.text, spans)]
        if not places:
            raise Invalid.at("words", "required", "Name the words or places that leak, or lift the recall.")
        exposed = _exposed_members(output, places)
        impact = _set_apart(output, exposed)
        _put_on_mask(output, places)
        signals.pair_withdrawn.send(sender=Assignment, output=output.pk, reason="recalled")
        facts = {
            "impact": note.strip(),
            "number": output.recalled,
            "exposed": impact.exposed,
            "records": impact.records,
        }
        _note("recalled", membership, output, facts)
    return impact


def lift_recall(*, membership: Membership, blinded_id: str, note: str) -> None:
    """Let everybody go on with an output in which nothing leaked. Raises Absent, Invalid without a note, Refused."""
    _require_text(note, "note", "Say why nothing has to be masked; the log keeps it.")
    with transaction.atomic():
        output = _locked(membership, blinded_id)
        _require_frozen(output)
        output.frozen_at = None
        output.save(update_fields=["frozen_at"])
        _release(output)
        _note("recall_lifted", membership, output, {"reason": note.strip()})


def guard_lock(study: Study) -> Iterable[Obstacle]:
    """Name the outputs that a recall keeps frozen: nothing is locked over them."""
    if frozen := Output.objects.filter(study=study, frozen_at__isnull=False).count():
        yield Obstacle(
            f"{frozen} outputs are frozen by a recall. The admin masks what leaks, or lifts it.",
            waivable=False,
        )


def _found(membership: Membership, blinded_id: str) -> Output:
    if membership.role != Role.ADMIN:
        raise Absent
    output = Output.objects.filter(study=membership.study_id, blinded_output_id=blinded_id).first()
    if output is None:
        raise Absent
    return output


def _locked(membership: Membership, blinded_id: str) -> Output:
    """Take the study row, then the output: the order in which records take theirs."""
    _found(membership, blinded_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT phase FROM annotation_app_study WHERE id = %s FOR SHARE", [membership.study_id]
        )
        phase = cursor.fetchone()[0]
    if phase not in PHASES:
        raise Refused("Outputs are recalled while they are coded or cases are decided.", code="wrong_phase")
    output = Output.objects.select_for_update(of=["self"]).select_related("study", "cluster")
    return output.get(study=membership.study_id, blinded_output_id=blinded_id)


def _require_text(value: str, field: str, message: str) -> None:
    if not value.strip():
        raise Invalid.at(field, "required", message)


def _require_frozen(output: Output) -> None:
    if output.frozen_at is None:
        raise Refused("Freeze this output first.", code="not_frozen")


def _places_of(text: str, words: Sequence[str]) -> list[Span]:
    places = []
    for word in words:
        found = [m.span() for m in re.finditer(re.escape(word), text, re.IGNORECASE)] if word.strip() else []
        if not found:
            raise Invalid.at("words", "not_found", f"“{word}” is not in the text.")
        places += [Span(start, end, "lexicon", "") for start, end in found]
    return places


def _checked(text: str, spans: Sequence[Sequence[int]]) -> list[Span]:
    for span in spans:
        if len(span) != 2 or not 0 <= span[0] < span[1] <= len(text):
            raise Invalid.at("spans", "outside", "A span is [start, end] in code points of the text shown.")
    return [Span(span[0], span[1], "lexicon", "") for span in spans]


def _exposed_members(output: Output, places: list[Span]) -> dict[UUID, Assignment | None]:
    """Return who read the leak: who opened the output, and who saw it in an excerpt beside another one."""
    own = {item.member_id: item for item in Assignment.objects.filter(output=output)}
    exposed = {member for member, item in own.items() if item.served_at is not None}
    if min(place.start for place in places) < EXCERPT and _is_exemplar(output):
        beside = Assignment.objects.filter(output__task=output.task_id, output__batch=output.batch_id)
        exposed |= set(beside.filter(served_at__isnull=False).values_list("member", flat=True))
    return {member: own.get(member) for member in exposed}


def _set_apart(output: Output, exposed: dict[UUID, Assignment | None]) -> Impact:
    """Write the exposures, void what exposed people have of the output, and find others for it."""
    now = clock.now()
    Exposure.objects.bulk_create(
        Exposure(
            study=output.study_id,
            output=output.pk,
            member=member,
            assignment=item.pk if item else None,
            how="recall",
            before_final=True,  # the leak was on screen when they coded
            exposed_at=now,
        )
        for member, item in exposed.items()
    )
    live = [item for item in exposed.values() if item is not None and item.voided_at is None]
    for item in live:
        void_assignment(item, "recalled")
    phase = output.study.phase
    due = [item for item in live if phase in WRITING["calibration" if item.calibration else item.slot]]
    fresh = [found for item in due if item.slot != "adjudicator" and (found := find_fresh_coder(item))]
    return Impact(len(exposed), sum(item.version > 0 for item in live), len(fresh))


def _put_on_mask(output: Output, places: list[Span]) -> None:
    text, added = mask(output.text, places), masks(output.text, places)
    amend(output, text, output.recalled + 1)
    output.text, output.html = text, rendered(text, output.study.protocol["presentation"])
    output.masks += added
    output.recalled += 1
    output.blind_version = f"{blind_version()}+r{output.recalled}"
    output.frozen_at = None
    output.save(update_fields=["text", "html", "masks", "recalled", "blind_version", "frozen_at"])
    _release(output)


def _release(output: Output) -> None:
    Assignment.objects.live().filter(output=output).update(held_at=None)
    _exemplify(output, output.text[:EXCERPT])


def _is_exemplar(output: Output) -> bool:
    return output.cluster is not None and any(e["output"] == str(output.pk) for e in output.cluster.exemplars)


def _exemplify(output: Output, excerpt: str) -> None:
    """Put another excerpt in place wherever the output is an example; an empty one is not shown."""
    if not _is_exemplar(output) or output.cluster_id is None:
        return
    cluster = Cluster.objects.select_for_update().get(pk=output.cluster_id)
    cluster.exemplars = [
        e | {"excerpt": excerpt} if e["output"] == str(output.pk) else e for e in cluster.exemplars
    ]
    cluster.save(update_fields=["exemplars"])


def _view(output: Output) -> RecalledOutput:
    opened = Assignment.objects.filter(output=output, served_at__isnull=False).count()
    return RecalledOutput(output.blinded_output_id, output.text, output.frozen_at, output.recalled, opened)


def _note(what: str, admin: Membership, output: Output, facts: dict[str, Any]) -> None:
    record_event(f"output_{what}", study=output.study_id, actor=admin.pk, subject=output.pk, facts=facts)
