"""What every answer has in common: nothing is kept by caches, and a use case's "no" becomes the right page."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from annotation_app.errors import Absent, Invalid, Refused

Answer = Callable[[HttpRequest], HttpResponse]


class PrivateAnswers:
    """No cache, browser or proxy keeps a page; the API's answers too."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["Cookie"])
        return response


class PlainRefusals:
    """Turn what a page's use case raised into 404, 409 or 400, as a page or, for htmx, as its notice."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, fault: Exception) -> HttpResponse | None:
        from annotation_app.pages import failures

        if isinstance(fault, Absent):
            return failures.not_found(request)
        if isinstance(fault, Refused):
            return failures.conflict(request, fault)
        if isinstance(fault, Invalid):
            return failures.bad_request(request, fault)
        return None
