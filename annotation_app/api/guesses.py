"""Closing guesses for programs."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.services.guesses import guess, next_guess
from blinding.policy import PRIMARIES


class GuessIn(serializers.Serializer[None]):
    answers = serializers.DictField(
        child=serializers.CharField(allow_blank=True, allow_null=True, trim_whitespace=False)
    )
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


class NextGuess(MemberView):
    """The caller's next item to guess at; 204 when there is none."""

    roles = PRIMARIES

    @extend_schema(responses={200: dict, 204: None})
    def get(self, request: Request, slug: str) -> Response:
        item = next_guess(membership=self.membership)
        return Response(status=204) if item is None else Response(item)


class GuessView(MemberView):
    """Guess, once."""

    roles = PRIMARIES

    @extend_schema(request=GuessIn, responses={201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        guess(membership=self.membership, uid=uid, **read_body(GuessIn, request))
        return Response({"recorded": True}, status=201)
