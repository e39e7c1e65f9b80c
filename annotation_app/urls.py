"""All addresses. The siblings are named as strings only."""

from django.urls import include, path

from annotation_app.health import health

urlpatterns = [
    path("health/", health, name="health"),
    path("api/v1/", include("annotation_app.api.urls")),
    path("", include("annotation_app.page_urls")),
]

handler400 = "annotation_app.pages.failures.bad_address"
handler404 = "annotation_app.pages.failures.not_found"
