"""What leaves the study: records, and the bundle that a job builds."""

from typing import Any
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation_app.api.exports import records_response
from annotation_app.errors import Refused
from annotation_app.health import worker_is_alive
from annotation_app.models import Membership
from annotation_app.pages.shell import member_page, render_page
from annotation_app.services.exports import export_records, may_export
