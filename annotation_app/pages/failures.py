"""Pages for what cannot be done: 404, 409 (or 429) with the reason, 400."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from annotation_app.errors import Invalid, Refused
from annotation_app.pages.shell import render_page


def not_found(request: HttpRequest, exception: object = None) -> HttpResponse:
    """The same for what is absent and what is not for this person."""
    return render_page(request, "404.html", status=404)


def conflict(request: HttpRequest, fault: Refused) -> HttpResponse:
    """Say why not now: as JSON to a script that sent JSON, as a notice to htmx, as a page otherwise."""
    if request.content_type == "application/json":
        body = {"reason": fault.reason, "code": fault.code, **fault.facts}
        return JsonResponse(body, status=fault.status, headers=fault.headers)
    template = "conflict.html#notice" if request.headers.get("HX-Request") else "conflict.html"
    context = {"reason": fault.reason, "study_url": _study_url(request)}
    response = render_page(request, template, context, status=fault.status)
    for name, value in fault.headers.items():
        response.headers[name] = value
    return response


def _study_url(request: HttpRequest) -> str:
    """Return the address of the study whose page refused, "" outside of studies; only its members are refused anything."""
    slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
    return reverse("study", args=[slug]) if slug else ""


def bad_request(request: HttpRequest, fault: Invalid | Exception | None = None) -> HttpResponse:
    reason = str(fault) if isinstance(fault, Invalid) else ""
    if request.content_type == "application/json":
        return JsonResponse({"reason": reason}, status=400)
    return render_page(request, "400.html", {"reason": reason}, status=400)


def bad_address(request: HttpRequest, exception: Exception) -> HttpResponse:
    return bad_request(request)
