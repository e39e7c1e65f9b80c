"""What a page says where there is no report, or a report without a figure: what is there, what is missing, what to do."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from adjudication.agreement.bootstrap import UNITS_NEEDED
from annotation_app.models import Membership
from annotation_app.projections import counts_for
from blinding.policy import Disclosure, Phase, Role


def no_report(membership: Membership) -> dict[str, Any]:
    """Return the words of a list without a report, and where to go from there."""
    if not membership.may_learn(Disclosure.AGREEMENT):
        return _not_yet(membership)
    if membership.role != Role.PROJECT_AUTHOR:
        return {"text": _("No report yet. The project author asks for one; you can read it here then.")}
    pairs = counts_for(membership).get("final_pairs", 0)
    if not pairs:
        return {"text": _("No report yet.") + " " + _nothing_to_compare()}
    told = ngettext(
        "No report yet. %(n)d output has two final codes: compute the agreement to see the figures.",
        "No report yet. %(n)d outputs have two final codes: compute the agreement to see the figures.",
        pairs,
    )
    return {"text": told % {"n": pairs} + (f" {_no_intervals()}" if pairs < UNITS_NEEDED else "")}


def no_figure(counts: dict[str, Any]) -> dict[str, str]:
    """Return the words of a report that had nothing to compare; `counts` are the report's own."""
    if not counts["pairs"]:
        return {"text": _("No figure.") + " " + _nothing_to_compare()}
    told = ngettext(
        "No figure: the %(n)d output with two final codes is excluded.",
        "No figure: all %(n)d outputs with two final codes are excluded.",
        counts["pairs"],
    )
    return {"text": told % {"n": counts["pairs"]}}


def _not_yet(membership: Membership) -> dict[str, Any]:
    if membership.role != Role.PROJECT_AUTHOR:
        return {"text": _("No report yet.")}
    if membership.study.phase != Phase.CODING:
        return {"text": _("No report yet. Agreement is about the codes of main batches: first open coding.")}
    counts = counts_for(membership)
    told = _(
        "No report yet. So far %(pairs)s of %(outputs)s outputs have two final codes. Once all is coded, close coding; "
        "the agreement can be computed then."
    )
    return {
        "text": told % {"pairs": counts.get("final_pairs", 0), "outputs": counts.get("outputs", 0)},
        "url": reverse("phase", args=[membership.study.slug]),
        "action": _("Phase"),
    }


def _nothing_to_compare() -> str:
    return _(
        "No output of a main batch has two final codes. One counts when an annotator A and an annotator B have both "
        "submitted it and the time for revisions is over."
    )


def _no_intervals() -> str:
    return _("Intervals need %(n)d outputs; with fewer, figures stand alone.") % {"n": UNITS_NEEDED}
