"""Results of an unblinded study: codes by arm, what coders could tell of the arms, and the figures as a file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation_app.downloads import as_attachment
from annotation_app.errors import Refused
from annotation_app.models import Membership
from annotation_app.pages.blinding_shown import (
    Guessed,
    Table,
    Told,
    guessed_shown,
    lengths_table,
    masks_table,
    recognition_table,
    told_by_length,
)
from annotation_app.pages.dots import shares_axis
from annotation_app.pages.progress import Check
from annotation_app.pages.results_file import results_csv
from annotation_app.pages.results_shown import Control, FieldShown, controls_shown, fields_shown
from annotation_app.pages.shell import member_page, only_for, render_page
from annotation_app.services.codebooks import words_of
from annotation_app.services.forms import schema_of
from annotation_app.services.results import READERS, results_of
from blinding import clock
from blinding.policy import Phase


@dataclass(frozen=True)
class ResultsShown:
    """The whole page; `fields` is empty where no code is settled, `address` is where programs read the same."""

    address: str
    downloads: dict[str, str]
    unblinded_at: datetime
    computed_at: datetime
    seed: int
    resamples: int
    permutations: int
    outputs_left_out: int
    fields: list[FieldShown]
    controls: list[Control]
    shares_axis: SafeString
    guessed: list[Guessed]
    has_guesses: bool
    tables: list[Table]
    lengths: Table
    told: list[Told]


@require_GET
@member_page
@only_for(*READERS)
def results(request: HttpRequest, membership: Membership) -> HttpResponse:
    try:
        found = results_of(membership=membership)
    except Refused as fault:
        return _not_yet(request, membership, fault)
    context = {"results": _shown(membership, found)}
    return render_page(request, "annotation_app/results.html", context, membership=membership, here="results")


@require_GET
@member_page
@only_for(*READERS)
def results_file(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The figures as CSV."""
    found = results_of(membership=membership)
    named = as_attachment(membership.study, "results.csv", clock.now())
    return HttpResponse(results_csv(found), content_type="text/csv; charset=utf-8", headers=named)


def _shown(membership: Membership, found: dict[str, Any]) -> ResultsShown:
    study, measured = membership.study, found["blinding"]
    settled = any(cell["outputs"] for field in found["fields"] for cell in field["cells"])
    address = f"/api/v1/studies/{study.slug}/results/"
    return ResultsShown(
        address=address,
        downloads={"CSV": reverse("results-file", args=[study.slug]), "JSON": address},
        unblinded_at=found["unblinded_at"],
        computed_at=found["computed_at"],
        seed=found["seed"],
        resamples=found["resamples"],
        permutations=measured["lengths"]["permutations"],
        outputs_left_out=found["without_recognised"]["outputs_left_out"],
        fields=fields_shown(found, schema_of(study), words_of(study)) if settled else [],
        controls=controls_shown(found["controls"]),
        shares_axis=shares_axis().head(),
        guessed=guessed_shown(measured["guesses"]),
        has_guesses=any(asked["guesses"] for asked in measured["guesses"].values()),
        tables=[recognition_table(measured["recognition"]), masks_table(measured["masks"])],
        lengths=lengths_table(measured["lengths"]["by_arm"]),
        told=told_by_length(measured["lengths"]["length_alone"]),
    )


def _not_yet(request: HttpRequest, membership: Membership, fault: Refused) -> HttpResponse:
    """What has to happen before there is anything to read."""
    context = {"reason": fault.reason, "checks": _steps_before(membership.study.phase)}
    return render_page(
        request,
        "annotation_app/results_not_yet.html",
        context,
        membership=membership,
        here="results",
        status=fault.status,
    )


def _steps_before(phase: str) -> list[Check]:
    reached = list(Phase).index(Phase(phase))
    steps = (
        (Phase.REVIEW, _("Coding is closed by the project author, and open cases are decided")),
        (Phase.LOCKED, _("The data are locked by the project author")),
        (Phase.UNBLINDED, _("The project author asks for unblinding, and the admin approves it")),
    )
    return [
        Check(
            text,
            list(Phase).index(after) <= reached,
            "" if list(Phase).index(after) <= reached else _("open"),
        )
        for after, text in steps
    ]
