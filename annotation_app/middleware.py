"""What every request and answer has in common: texts can be kept, caches keep nothing, a use case's "no" becomes the right
page."""

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.received import UNFIT, is_fit

Answer = Callable[[HttpRequest], HttpResponse]


class PrivateAnswers:
    """No cache, browser or proxy keeps a page; the API's answers too. Cookies that nobody can have been given are not seen."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.COOKIES = {name: value for name, value in request.COOKIES.items() if is_fit(value)}
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


class FitRequests:
    """Refuse an address, a query or a form whose texts cannot be kept; bodies of the API are read by its parsers."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], place: dict[str, Any]
    ) -> HttpResponse | None:
        from annotation_app.pages import failures

        for_programs = request.path.startswith("/api/")
        if all(is_fit(text) for text in _texts(request, place, with_form=not for_programs)):
            return None
        fault = Invalid.at("", "unfit_text", UNFIT)
        if for_programs:
            return JsonResponse({"errors": fault.errors}, status=fault.status)
        return failures.bad_request(request, fault)


def _texts(request: HttpRequest, place: dict[str, Any], *, with_form: bool) -> Iterator[str]:
    yield from (value for value in place.values() if isinstance(value, str))
    for data in (request.GET, request.POST) if with_form else (request.GET,):
        for name, texts in data.lists():
            yield name
            yield from (text for text in texts if isinstance(text, str))
