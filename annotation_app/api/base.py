"""What study endpoints share: the gate. Who is no member of the study in the URL gets 404 before anything is looked at."""

from collections.abc import Collection
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotation_app.api.authentication import PREFIX, member_or_404, token_member
from annotation_app.api.failures import answer_failure
from annotation_app.api.parsers import parsed_json
from annotation_app.api.rendering import to_json
from annotation_app.errors import Absent
from annotation_app.models import Membership
from blinding.policy import Role

Answer = tuple[int, Any]  # status and body; None: no body


class MemberView(APIView):
    """An endpoint inside a study; `self.membership` is the caller's.

    `roles` have it at all, `writers` (where it is not None) may send it something: for others it is not there, before
    anything that they sent is looked at.
    """

    membership: Membership
    roles: ClassVar[Collection[str]] = tuple(Role)
    writers: ClassVar[Collection[str] | None] = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.membership = self.admitted(member_or_404(request), request.method or "")

    def admitted(self, member: Membership, method: str) -> Membership:
        """Return the member if their role has this endpoint for this method. Raises Absent."""
        reading = method in SAFE_METHODS or self.writers is None
        if member.role not in (self.roles if reading else self.writers or ()):
            raise Absent
        return member


class HotView(MemberView):
    """An endpoint that coders call all day: a token and a JSON body in order are answered without DRF's detours.

    Everything else (sessions, bad tokens, OPTIONS) goes DRF's way, to the same `act` and the same failures.
    """

    method: str

    def act(self, body: Any, *args: Any, **place: Any) -> Answer:
        """Do what the endpoint is for. `body` is the JSON sent, {} for none."""
        raise NotImplementedError

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        member = _token_member(request, kwargs["slug"]) if _is_plain(request, self.method) else None
        if member is None:
            return super().dispatch(request, *args, **kwargs)
        try:
            self.membership = self.admitted(member, self.method)
            place = {name: value for name, value in kwargs.items() if name != "slug"}
            status, content = self.act(parsed_json(request.body or b"{}"), **place)
        except Exception as fault:
            if (failure := answer_failure(fault, {})) is None:
                raise
            status, content = failure.status_code, failure.data
        return _response(status, content)

    def answer(self, request: Request, **place: Any) -> Response:
        """Answer as `act` does, DRF's way."""
        status, content = self.act(request.data, **place)
        return Response(content, status=status)


def read_body(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body. Raises DRF's ValidationError, answered as 400 with places."""
    read = serializer(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


def _is_plain(request: HttpRequest, method: str) -> bool:
    return request.method == method and request.content_type in ("application/json", "")


def _token_member(request: HttpRequest, slug: str) -> Membership | None:
    kind, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token_member(token, slug) if kind == PREFIX and token.isalnum() else None


def _response(status: int, content: Any) -> HttpResponse:
    if content is not None:
        return HttpResponse(to_json(content), status=status, content_type="application/json")
    response = HttpResponse(status=status)
    del response.headers["Content-Type"]
    return response
