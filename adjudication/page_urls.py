"""Addresses of adjudication's pages, inside a study."""

from django.urls import path

from adjudication.pages import cases, reports

urlpatterns = [
    path("cases/", cases.cases, name="cases"),
    path("cases/<uuid:uid>/", cases.case, name="case"),
    path("cases/<uuid:uid>/draft/", cases.draft, name="case-draft"),
    path("cases/<uuid:uid>/decision/", cases.decision, name="case-decision"),
    path("reports/", reports.reports, name="reports"),
    path("reports/<uuid:uid>/", reports.report, name="report"),
    path("reports/<uuid:uid>/<slug:kind>/", reports.report_file, name="report-file"),
]
