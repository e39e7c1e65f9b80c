"""Training in words: rounds, standings, texts, and codes of one text side by side."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation_app.errors import Refused
from annotation_app.models import Assignment, Membership, Output, ReferenceCode, Study
from annotation_app.pages.forms_shown import form_shown
from annotation_app.pages.labels import ROLES_IN_FULL
from annotation_app.registries import FieldAgreement
from annotation_app.services.forms import form_of
from annotation_app.services.references import Coding, Comparison
from annotation_app.services.standings import CoderStanding, Round
from blinding.policy import Disclosure

SOURCES = {
    "": gettext_lazy("none yet"),
    ReferenceCode.Source.CONSENSUS: gettext_lazy("agreed on by the annotators"),
    ReferenceCode.Source.ADJUDICATOR: gettext_lazy("written by an adjudicator"),
    ReferenceCode.Source.PROJECT_AUTHOR: gettext_lazy("written by the project author"),
}
NO_FIGURE = {
    "no_variation": gettext_lazy("all the same value"),
    "no_pairable_units": gettext_lazy("nothing to compare"),
}


def round_rows(rounds: Iterable[Round]) -> list[dict[str, Any]]:
    """Return the rounds as panels of a page."""
    return [
        {
            "uid": r.uid,
            "number": r.number,
            "texts": r.texts,
            "items": r.items,
            "final_items": r.final_items,
            "referenced": sum(r.references.values()),
            "references": [{"label": str(SOURCES[s]), "count": n} for s, n in sorted(r.references.items())],
            "agreement": [_field(field) for field in r.agreement],
        }
        for r in rounds
    ]


def coder_rows(standings: Iterable[CoderStanding], refused: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the coders with what they reached in each round; `refused` holds the error beside a gate."""
    return [
        {
            "alias": s.alias,
            "role_label": str(ROLES_IN_FULL[s.role]),
            "rounds": [{"number": r.round, "texts": r.texts, "share": percent(r.share)} for r in s.rounds],
            "reaches": s.reaches,
            "passed_at": s.passed_at,
            "error": refused["error"] if refused.get("alias") == s.alias else "",
        }
        for s in standings
    ]


def text_rows(texts: Iterable[tuple[Output, str]]) -> list[dict[str, Any]]:
    """Return the training texts with the source of each one's reference."""
    return [
        {
            "uid": output.pk,
            "round": output.batch.number,
            "number": number,
            "task_code": output.task.code,
            "source": str(SOURCES[source]),
            "is_done": bool(source),
        }
        for number, (output, source) in enumerate(texts, start=1)
    ]


def own_items(membership: Membership) -> list[dict[str, Any]]:
    """Return a coder's own practice items, those to compare first. Raises Refused outside training."""
    if not membership.may_learn(Disclosure.PRACTICE):
        raise Refused(_("This is open during training only."), code="not_training")
    own = (
        Assignment.objects.visible_to(membership).live().filter(calibration=True, submitted_at__isnull=False)
    )
    own = own.select_related("output__task").order_by("-position")
    return [
        {
            "uid": item.pk,
            "position": item.position,
            "task_code": item.output.task.code,
            "is_final": item.final_at is not None,
            "revisable_until": item.revisable_until,
        }
        for item in own
    ]


def compared_rows(
    study: Study, item: Assignment, form: Mapping[str, Any], shown: Comparison
) -> list[dict[str, Any]]:
    """Return one row per question: the own answer, the other coder's, the reference, and whether they differ."""
    columns = [_answers(form, coding) for coding in (shown.own, shown.other, shown.reference)]
    differing = _keys_of(study, item, shown.different)
    return [
        {
            "label": own["label"],
            "cells": [own, other, reference],
            "differs": field["key"] in differing,
        }
        for field, own, other, reference in zip(form["fields"], *columns, strict=True)
    ]


def percent(share: float | None) -> str:
    return "–" if share is None else _("%(n)s %%") % {"n": f"{100 * share:.1f}"}


def _answers(form: Mapping[str, Any], coding: Coding | None) -> list[dict[str, str]]:
    if coding is None:
        return [{"label": "", "words": "–", "notes": ""} for _field in form["fields"]]
    answers: list[dict[str, str]] = form_shown(form, coding.neutral, [])["answers"]
    return answers


def _keys_of(study: Study, item: Assignment, paths: Iterable[str]) -> set[str]:
    """Return the neutral keys of the questions in which something lies at one of the paths."""
    controls = form_of(study, item.codebook_id).controls  # type: ignore[arg-type]
    return {c.key for c in controls for path in paths if path == c.path or path.startswith(f"{c.path}.")}


def _field(field: FieldAgreement) -> dict[str, Any]:
    return {
        "label": field.label,
        "units": field.units,
        "alpha": "" if field.alpha is None else f"{field.alpha:.3f}".replace("-", "−"),
        "undefined": str(NO_FIGURE.get(field.undefined, field.undefined.replace("_", " "))),
        "agreement": percent(field.agreement),
    }
