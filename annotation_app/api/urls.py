"""Addresses of the HTTP interface."""

from django.urls import URLPattern, URLResolver, include, path

from annotation_app.api import (
    accounts,
    assignments,
    batches,
    distributions,
    exports,
    schema,
    studies,
    training,
)

in_study: list[URLPattern | URLResolver] = [
    path("", studies.StudyDetail.as_view()),
    path("members/", studies.MembersView.as_view()),
    path("declaration/", studies.DeclarationView.as_view()),
    path("key/", studies.KeyView.as_view()),
    path("codebooks/", studies.CodebooksView.as_view()),
    path("phase/", studies.PhaseView.as_view()),
    path("batches/", batches.BatchesView.as_view()),
    path("batches/<uuid:uid>/", batches.BatchDetail.as_view()),
    path("batches/<uuid:uid>/findings/", batches.FindingsView.as_view()),
    path("batches/<uuid:uid>/release/", batches.ReleaseView.as_view()),
    path("assignments/next/", assignments.NextAssignment.as_view()),
    path("assignments/<uuid:uid>/draft/", assignments.DraftView.as_view()),
    path("assignments/<uuid:uid>/record/", assignments.RecordView.as_view()),
    path("assignments/<uuid:uid>/recognised/", assignments.RecognisedView.as_view()),
    path("assignments/<uuid:uid>/skip/", assignments.SkipView.as_view()),
    path("training/", training.TrainingView.as_view()),
    path("training/gates/", training.GatesView.as_view()),
    path("training/texts/", training.TextsView.as_view()),
    path("training/texts/<uuid:uid>/", training.TextView.as_view()),
    path("export/records.jsonl", exports.RecordsExport.as_view()),
    path("", include("annotation_app.api.sealed_urls")),
    path("", include("adjudication.api.urls")),
]

urlpatterns = [
    path("auth/token/", accounts.TokenView.as_view()),
    path("schema/", schema.SchemaView.as_view()),
    path("studies/", studies.StudiesView.as_view()),
    path(
        "public/<slug:slug>/distributions/",
        distributions.PublicDistributionsView.as_view(),
        name="public-distributions-json",
    ),
    path("studies/<slug:slug>/", include(in_study)),
]
