"""The event log, for who watches over the study: read, and verified."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Invalid
from annotation_app.models import Membership
from annotation_app.pages.event_words import event_in_words, facts_in_words
from annotation_app.pages.labels import ROLES_IN_FULL
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.events import LoggedEvent, Verdict, events_of, log_state, verify_events
from blinding.policy import Disclosure


@require_http_methods(["GET", "POST"])
@member_page
def events(request: HttpRequest, membership: Membership) -> HttpResponse:
    verdict, fault, noted = None, "", text_in(request.POST, "head", 200)
    if request.method == "POST":
        try:
            verdict = verify_events(membership=membership, head=noted)
        except Invalid as invalid:
            fault = str(invalid)
    before = text_in(request.GET, "before")
    page = events_of(membership=membership, before=before)
    context = {
        "log": log_state(membership=membership),
        "events": [event_row(event) for event in page.events],
        "pager": {
            "newer": request.path if before else "",
            "older": f"?{urlencode({'before': page.next})}" if page.next else "",
        },
        "may_verify": True,
        "shows_cases": membership.may_learn(Disclosure.CASE_EVENTS),
        "verdict": _verdict(verdict) if verdict else None,
        "noted": noted,
        "fault": fault,
    }
    status = 422 if fault else 200
    return render_page(
        request, "annotation_app/events.html", context, membership=membership, here="events", status=status
    )


def event_row(event: LoggedEvent) -> dict[str, Any]:
    """Return an event as a row of the log."""
    by = f"{event.by}, {ROLES_IN_FULL[event.role]}" if event.by else _("the system")
    return {
        "happened_at": event.happened_at,
        "what": event_in_words(event.kind),
        "detail": facts_in_words(event.facts),
        "by": by,
        "block": event.block,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    blocks = ngettext("%(n)d block", "%(n)d blocks", verdict.blocks) % {"n": verdict.blocks}
    logged = ngettext("%(n)d event", "%(n)d events", verdict.events) % {"n": verdict.events}
    return {"ok": verdict.ok, "text": verdict.problem or f"{blocks}, {logged}."}
