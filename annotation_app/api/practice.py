"""Practice for programs: the texts with their reference codes, and saying that they are gone through."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView
from annotation_app.services.practice import finish_practice, practice_of
from blinding.policy import PRIMARIES


class PracticeView(MemberView):
    """The texts to go through; POST once they are."""

    roles = PRIMARIES

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(practice_of(membership=self.membership))

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        finish_practice(membership=self.membership)
        return Response(status=204)
