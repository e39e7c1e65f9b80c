"""The adjudicator's case: claiming the next one, keeping a decision in the making, deciding."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from adjudication.pages.case_shown import Typed, case_shown, choices_in, item_shown
from adjudication.projections import CaseView
from adjudication.services.cases import Claim, claim_next_case, claimed_case
from adjudication.services.decisions import CaseDecision, decide_case, save_case_draft
from annotation_app.api.assignments import json_object, whole
from annotation_app.errors import Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.forms_shown import codebook_shown
from annotation_app.pages.posted import json_body
from annotation_app.pages.shell import member_page, only_for, render_page
from annotation_app.record_schema.neutral import scrubbed
from blinding import clock
from blinding.policy import Role

LONGEST = 200_000  # code points of all that was typed


@require_GET
@member_page
def cases(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Claim the next case and open it, or say that none waits."""
    try:
        claim = claim_next_case(membership=membership)
    except Refused as fault:
        if fault.code != "not_coding":
            raise
        return _none(request, membership, closed=True)
    if claim is None:
        return _none(request, membership, closed=False)
    return redirect("case", membership.study.slug, claim.case.pk)


@require_GET
@member_page
def case(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """A case that the member holds."""
    return _page(request, membership, claimed_case(membership=membership, uid=uid))


@require_http_methods(["PUT", "POST"])
@member_page
@only_for(Role.ADJUDICATOR)
def draft(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """Keep what was chosen so far; the answer is the draft's new version."""
    body = json_body(request)
    version = whole(body, "version")
    fields = json_object(body.get("fields"), "fields")
    kept = save_case_draft(membership=membership, uid=uid, fields=_storable(fields), version=version)
    return JsonResponse({"version": kept, "saved_at": clock.now()})


@require_POST
@member_page
def decision(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    claim = claimed_case(membership=membership, uid=uid)
    typed = _storable({name: v[-1] if len(v) == 1 else v for name, v in request.POST.lists()})
    view = CaseView.of(claim, membership)
    decided = CaseDecision(
        values=choices_in(claim, membership, view, typed),
        rationale=str(typed.get("rationale", ""))[:4000],
        claim_no=_number(typed.get("claim_no")),
    )
    try:
        decide_case(membership=membership, uid=uid, decision=decided)
    except Invalid as fault:
        return _page(request, membership, claim, typed=typed, fault=fault)
    address = reverse("cases", args=[membership.study.slug])
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


def _storable(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed as texts and lists of texts, without what PostgreSQL refuses. Raises Invalid if too long."""
    if len(str(fields)) > LONGEST:
        raise Invalid.at("fields", "too_long", _("This is too long to be kept."))
    clean: dict[str, Any] = {}
    for name, value in scrubbed(fields).items():
        values = value if isinstance(value, list) else [value]
        texts = [text.replace("\0", "") for text in values if isinstance(text, str)]
        clean[name.replace("\0", "")] = texts if isinstance(value, list) else "".join(texts)
    return clean


def _number(text: Any) -> int:
    digits = text if isinstance(text, str) and text.isascii() and text.isdigit() else "0"
    return min(int(digits[:10]), 2**31 - 1)


def _page(
    request: HttpRequest,
    membership: Membership,
    claim: Claim,
    typed: Typed | None = None,
    fault: Invalid | None = None,
) -> HttpResponse:
    view = CaseView.of(claim, membership)
    chosen: Typed = view.draft["fields"] if typed is None else typed
    context = {
        "item": item_shown(claim, view),
        "case": case_shown(claim, membership, view, chosen, fault.errors if fault else []),
        "codebook": codebook_shown(membership, claim.assignment, view.form),
    }
    partial = fault is not None and request.headers.get("HX-Request")
    template = "adjudication/case.html#decision" if partial else "adjudication/case.html"
    status = 422 if fault else 200
    return render_page(request, template, context, membership=membership, here="cases", status=status)


def _none(request: HttpRequest, membership: Membership, *, closed: bool) -> HttpResponse:
    return render_page(
        request,
        "adjudication/no_case.html",
        {"closed": closed},
        membership=membership,
        here="cases",
        status=409 if closed else 200,
    )
