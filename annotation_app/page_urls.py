"""Addresses of pages."""

from django.urls import URLPattern, URLResolver, include, path

from annotation_app.pages import (
    accounts,
    batch,
    batches,
    codebooks,
    coding,
    declarations,
    events,
    exports,
    home,
    keys,
    members,
    phases,
    protocol,
    questions,
    records,
    studies,
    unblinding,
)

in_study: list[URLPattern | URLResolver] = [
    path("", home.study, name="study"),
    path("declaration/", declarations.declaration, name="declaration"),
    path("annotate/", coding.annotate, name="annotate"),
    path("annotate/<uuid:uid>/", coding.item, name="annotate-item"),
    path("annotate/<uuid:uid>/draft/", coding.draft, name="annotate-draft"),
    path("annotate/<uuid:uid>/recognised/", coding.recognised, name="annotate-recognised"),
    path("annotate/<uuid:uid>/skip/", coding.skip, name="annotate-skip"),
    path("records/", records.my_records, name="my-records"),
    path("codebook/", codebooks.codebook, name="codebook"),
    path("questions/", questions.questions, name="questions"),
    path("batches/", batches.batches, name="batches"),
    path("batches/<uuid:uid>/", batch.batch, name="batch"),
    path("batches/<uuid:uid>/progress/", batch.progress, name="batch-progress"),
    path("batches/<uuid:uid>/finding/", batch.finding, name="batch-finding"),
    path("batches/<uuid:uid>/release/", batch.release, name="batch-release"),
    path("batches/<uuid:uid>/commitment/", batch.commitment, name="batch-commitment"),
    path("members/", members.members, name="members"),
    path("phase/", phases.phase, name="phase"),
    path("key/", keys.key, name="key"),
    path("protocol/", protocol.protocol, name="protocol"),
    path("exports/", exports.exports, name="exports"),
    path("exports/records.jsonl", exports.records, name="export-records"),
    path("exports/<uuid:uid>/bundle.zip", exports.bundle, name="export-bundle"),
    path("unblinding/", unblinding.unblinding, name="unblinding"),
    path("events/", events.events, name="events"),
    path("", include("adjudication.page_urls")),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("new-study/", studies.new_study, name="new-study"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("invitations/<str:secret>/", accounts.invitation, name="invitation"),
    path("studies/<slug:slug>/", include(in_study)),
]
