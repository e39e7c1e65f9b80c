"""Addresses inside a study that belong to adjudication."""

from django.urls import path

from adjudication.api import cases, reports

urlpatterns = [
    path("cases/next/", cases.NextCase.as_view()),
    path("cases/<uuid:uid>/decision/", cases.DecisionView.as_view()),
    path("agreement-reports/", reports.ReportsView.as_view()),
    path("agreement-reports/<uuid:uid>/", reports.ReportDetail.as_view()),
]
