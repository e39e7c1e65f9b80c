"""What Django itself costs: one view that does nothing, without middleware and database, for comparison."""

import os

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

BODY = b'{"text": "' + b"x" * 8_000 + b'"}'


@csrf_exempt
def nothing(request: HttpRequest) -> HttpResponse:
    request.body  # noqa: B018  read, as a real view would
    return HttpResponse(BODY, content_type="application/json", headers={"Content-Length": str(len(BODY))})


urlpatterns = [path("", nothing)]

if os.environ.get("TWINBLIND_BARE"):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings")
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application

    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    application = get_wsgi_application()
