"""What is left for one coder, and what can still be changed. Nothing about anybody else, and no pace."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from annotation_app.models import Assignment, Batch, Codebook, Membership
from annotation_app.pages.labels import CODEBOOK_KINDS
from annotation_app.services.guesses import are_guesses_coming, guesses_due
from annotation_app.services.members import is_coding_phase_of
from annotation_app.services.questions import count_answers_since
from blinding import clock
from blinding.models import Exposure
from blinding.policy import Phase

LISTED = 20


def coder_context(membership: Membership) -> dict[str, Any]:
    """Return the context of a coder's home in the present phase."""
    newest = Codebook.objects.filter(study=membership.study_id).order_by("-number").defer("document")[0]
    last = _last_opened(membership)
    return {
        "codebook": {"version": newest.version},
        "codebook_change": _change(newest, last),
        "answers_since": count_answers_since(membership, last) if last else 0,
        "coding": _coding(membership),
    }


def _coding(membership: Membership) -> dict[str, Any]:
    training = membership.study.phase == Phase.TRAINING
    total = membership.calibration_total if training else membership.main_total
    submitted = membership.calibration_submitted if training else membership.main_submitted
    own = (
        Assignment.objects.visible_to(membership)
        .filter(calibration=training)
        .select_related("output__task", "draft")
    )
    following = own.open().in_own_order().first()
    draft = getattr(following, "draft", None)
    resumed = following is not None and following.served_at is not None
    return {
        "left": total - submitted,
        "total": total,
        "submitted": submitted,
        "batch_label": _("practice") if training and total else "",
        "open_position": following.position if following and not following.skips else None,
        "draft_saved_at": draft.saved_at if draft and resumed and following and not following.skips else None,
        "grace_minutes": membership.study.protocol["grace_minutes"],
        "closed": _closed(membership),
        "recognised": _recognised(membership),
        "revisable": _revisable(own) if not _closed(membership) else [],
        "skipped": _rows(own.open().filter(skips__gt=0).in_own_order()[:LISTED]),
        "batches": _batches(membership),
        "practice_due": membership.awaits_practice and membership.study.phase == Phase.CODING,
        "closing_due": guesses_due(membership=membership),
        "closing_later": total > 0 and submitted == total and are_guesses_coming(membership=membership),
    }


def _closed(membership: Membership) -> str:
    if is_coding_phase_of(membership):
        if membership.awaits_practice and membership.study.phase == Phase.CODING:
            return _("A few practice texts come first.")
        waits = membership.awaits_gate and membership.study.phase == Phase.CODING
        return (
            _("You are not passed on to the main items yet. Your practice is being looked at.")
            if waits
            else ""
        )
    early = membership.study.phase in (Phase.SETUP, Phase.TRAINING)
    return _("Coding has not begun yet.") if early else _("Coding is closed. Thank you.")


def _revisable(own: QuerySet[Assignment]) -> list[dict[str, Any]]:
    recent = own.filter(revisable_until__gt=clock.now(), final_at=None, voided_at=None)
    return _rows(recent.order_by("-submitted_at", "-position", "pk")[:LISTED])


def _rows(items: Iterable[Assignment]) -> list[dict[str, Any]]:
    return [
        {
            "uid": item.pk,
            "position": item.position,
            "task_code": item.output.task.code,
            "revisable_until": item.revisable_until,
        }
        for item in items
    ]


def _recognised(membership: Membership) -> int:
    found = Exposure.objects.filter(member=membership.pk, before_final=True).exclude(how="hunch")
    return found.values("output").distinct().count()


def _batches(membership: Membership) -> list[dict[str, Any]]:
    """Return own progress by batch, under numbers: a batch's name is for who runs the study."""
    live = Assignment.objects.visible_to(membership).live().filter(position__isnull=False)
    rows = (
        live.values("output__batch__number", "output__batch__purpose")
        .annotate(total=Count("pk"), done=Count("pk", filter=Q(version__gt=0)))
        .order_by("output__batch__number")
    )
    return [
        {
            "label": _batch_label(row["output__batch__purpose"], row["output__batch__number"]),
            "done": row["done"],
            "total": row["total"],
        }
        for row in rows
    ]


def _batch_label(purpose: str, number: int | None) -> str:
    if purpose == Batch.Purpose.CALIBRATION:
        return _("Practice batch %(n)s") % {"n": number}
    return _("Batch %(n)s") % {"n": number}


def _last_opened(membership: Membership) -> datetime | None:
    own = Assignment.objects.visible_to(membership).filter(served_at__isnull=False)
    return own.order_by("-served_at").values_list("served_at", flat=True).first()


def _change(newest: Codebook, last: datetime | None) -> dict[str, str] | None:
    """Return what changed in the codebook since the coder opened an item at `last`, if anything did."""
    if last is None or newest.kind == Codebook.Kind.FIRST or newest.created_at <= last:
        return None
    at_once = newest.kind == Codebook.Kind.CLARIFICATION
    return {
        "version": newest.version,
        "kind_label": str(CODEBOOK_KINDS[newest.kind]),
        "applies": _("It applies at once.") if at_once else _("It applies to the next batch."),
    }
