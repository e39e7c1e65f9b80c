"""Addresses of pages."""

from django.urls import include, path

from annotation_app.pages import accounts, coding, declarations, records

in_study = [
    path("declaration/", declarations.declaration, name="declaration"),
    path("annotate/", coding.annotate, name="annotate"),
    path("annotate/<uuid:uid>/", coding.item, name="annotate-item"),
    path("annotate/<uuid:uid>/draft/", coding.draft, name="annotate-draft"),
    path("annotate/<uuid:uid>/recognised/", coding.recognised, name="annotate-recognised"),
    path("annotate/<uuid:uid>/skip/", coding.skip, name="annotate-skip"),
    path("records/", records.my_records, name="my-records"),
    path("", include("adjudication.page_urls")),
]

urlpatterns = [
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("invitations/<str:secret>/", accounts.invitation, name="invitation"),
    path("studies/<slug:slug>/", include(in_study)),
]
