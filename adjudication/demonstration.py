"""The end of the demonstration's second study: its cases decided, its report computed, its data locked."""

from collections.abc import Callable
from typing import Any

from adjudication.projections import CaseView
from adjudication.services.cases import claim_next_case
from adjudication.services.decisions import CaseDecision, decide_case
from adjudication.services.pairs import compare_final_pairs
from adjudication.services.reports import request_report
from annotation_app.demonstration.outputs import pick
from annotation_app.services.phases import change_phase

REASONS = (
    "The text says so in its second sentence.",
    "Both readings are possible; the codebook's anchor fits this one better.",
    "The example in the codebook is the same case.",
)


def decide_and_report(cast: Any, do: Callable[[Any], None]) -> None:
    """Decide every case, close coding, report, lock. `do` runs the queued job of a subject."""
    compare_final_pairs()
    adjudicator, author = cast.member("adjudicator"), cast.member("project_author")
    while (claim := claim_next_case(membership=adjudicator)) is not None:
        view = CaseView.of(claim, adjudicator)
        values = {key: {"from": pick(("left", "right"), key, view.case_uid)} for key in view.disputed}
        decision = CaseDecision(values, pick(REASONS, view.case_uid), view.claim_no)
        decide_case(membership=adjudicator, uid=view.case_uid, decision=decision)
    change_phase(membership=author, to="review", reason="All items are coded")
    compare_final_pairs()
    author = cast.member("project_author")
    do(request_report(membership=author))
    change_phase(membership=author, to="locked", reason="Demonstration")
