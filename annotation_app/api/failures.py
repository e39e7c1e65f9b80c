"""The three ways an endpoint says no, with bodies that are the same for everybody."""

from typing import Any

from django.http import Http404
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation_app.errors import Absent, Invalid, Refused


def answer_failure(fault: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into a response: 404 for absent or forbidden, 409 for a wrong state, errors with their place."""
    if isinstance(fault, Absent | Http404 | NotFound):
        return Response({"detail": "Not found."}, status=404)
    if isinstance(fault, Refused):
        return Response(
            {"detail": fault.reason, "code": fault.code, **fault.facts},
            status=fault.status,
            headers=fault.headers,
        )
    if isinstance(fault, Invalid):
        return Response({"errors": fault.errors}, status=fault.status)
    if isinstance(fault, ValidationError):
        return Response({"errors": list(_flat(fault.detail))}, status=400)
    if isinstance(fault, PermissionDenied) and not str(fault.detail).startswith("CSRF"):
        return Response({"detail": "Not found."}, status=404)
    return exception_handler(fault, context) if isinstance(fault, APIException) else None


def _flat(detail: Any, place: str = "") -> Any:
    """Yield {field, rule, message} for each error, the place as a dotted path."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            yield from _flat(value, f"{place}.{key}" if place else str(key))
    elif isinstance(detail, list):
        for value in detail:
            yield from _flat(value, place)
    else:
        yield {
            "field": "" if place == "non_field_errors" else place,
            "rule": str(getattr(detail, "code", "invalid")),
            "message": str(detail),
        }
