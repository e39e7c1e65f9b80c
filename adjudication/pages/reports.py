"""Agreement reports: asked for, watched, read, downloaded."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from adjudication.pages.report_files import csv_file, html_file, json_file
from adjudication.pages.report_missing import no_figure, no_report
from adjudication.pages.report_shown import default_field, field_choices, field_shown, figures_shown
from adjudication.projections import ReportView
from adjudication.services.report_rows import report_rows
from adjudication.services.reports import report_of, request_report
from annotation_app.downloads import as_attachment
from annotation_app.errors import Absent, Refused
from annotation_app.health import worker_is_alive
from annotation_app.models import Membership
from annotation_app.pages.shell import member_page, render_page
from blinding.policy import Phase, Role

STATES = {
    "queued": gettext_lazy("waiting"),
    "running": gettext_lazy("being computed"),
    "done": gettext_lazy("computed"),
    "failed": gettext_lazy("stopped"),
}
FILES = {"html": html_file, "json": json_file, "csv": csv_file}


@require_http_methods(["GET", "POST"])
@member_page
def reports(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method == "POST":
        made = request_report(membership=membership)
        return redirect("report", membership.study.slug, made.pk)
    blocked, rows = "", []
    try:
        rows = report_rows(membership=membership)
    except Refused as fault:
        blocked = fault.reason
    context = {
        "reports": [row | {"status_label": str(STATES[row["status"]])} for row in rows],
        "may_request": membership.role == Role.PROJECT_AUTHOR,
        "blocked": blocked,
        "missing": no_report(membership) if not rows else None,
    }
    return render_page(
        request,
        "adjudication/reports.html",
        context,
        membership=membership,
        here="reports",
        status=409 if blocked else 200,
    )


@require_GET
@member_page
def report(request: HttpRequest, membership: Membership, uid: UUID) -> HttpResponse:
    """One report: the bar of its job, then its figures, one field of them in detail."""
    found = ReportView.of(report_of(membership=membership, uid=uid), membership)
    job = _job(found)
    if request.headers.get("HX-Request"):
        return _progress(request, membership, found, job)
    shown: dict[str, Any] = {
        "uid": found.uid,
        "asked_at": found.asked_at,
        "still_blind": membership.study.phase != Phase.UNBLINDED,
        "job": job,
        "downloads": _downloads(membership, found),
    }
    if found.result is not None:
        shown |= _figures(found.result, request.GET.get("field", ""))
        shown["missing"] = no_figure(found.result["counts"])
    context = {"report": shown, "may_request": membership.role == Role.PROJECT_AUTHOR and not job["live"]}
    return render_page(request, "adjudication/report.html", context, membership=membership, here="reports")


@require_GET
@member_page
def report_file(request: HttpRequest, membership: Membership, uid: UUID, kind: str) -> HttpResponse:
    """The report as a file: HTML to print, JSON to compute with, CSV for a spreadsheet."""
    found = ReportView.of(report_of(membership=membership, uid=uid), membership)
    if kind not in FILES:
        raise Absent
    if found.result is None:
        raise Refused(_("This report is not computed yet."), code="not_ready")
    response = FILES[kind](found.result, membership)
    for header, value in as_attachment(membership.study, f"agreement.{kind}", found.asked_at).items():
        response.headers[header] = value
    return response


def _figures(result: dict[str, Any], asked: str) -> dict[str, Any]:
    if not result["counts"]["compared"]:
        return {}
    known = asked.isascii() and asked.isdigit() and len(asked) < 9 and int(asked) < len(result["fields"])
    chosen = int(asked) if known else default_field(result)
    details = [field_shown(result, chosen)] if result["fields"] else []
    return figures_shown(result) | {"choices": field_choices(result, chosen), "details": details}


def _job(report: ReportView) -> dict[str, Any]:
    live = report.status in ("queued", "running")
    done, total = report.progress.get("done", 0), report.progress.get("total", 0)
    text = (
        _("%(done)s of %(total)s fields.") % {"done": done, "total": total}
        if total
        else _("Waiting its turn.")
    )
    return {
        "live": live,
        "done": done,
        "total": total,
        "label": _("Computed"),
        "text": text,
        "no_worker": live and not worker_is_alive(),
        "error": report.error,
    }


def _progress(
    request: HttpRequest, membership: Membership, report: ReportView, job: dict[str, Any]
) -> HttpResponse:
    if not job["live"]:
        return HttpResponseClientRefresh()
    context = {"report": {"uid": report.uid, "job": job}}
    return render_page(request, "adjudication/report.html#progress", context, membership=membership)


def _downloads(membership: Membership, report: ReportView) -> list[dict[str, str]]:
    if report.result is None:
        return []
    slug = membership.study.slug
    return [
        {"url": reverse("report-file", args=[slug, report.uid, kind]), "label": kind.upper()}
        for kind in FILES
    ]
