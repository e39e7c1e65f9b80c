"""Distributions of task labels for programs: published once, read by members and by anybody."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation_app.api.base import MemberView
from annotation_app.services.distributions import (
    Distributions,
    distributions_of,
    public_distributions,
    publish_distributions,
)
from blinding.policy import Role


class DistributionsView(MemberView):
    """The published distributions; publishing them."""

    writers = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(_document(distributions_of(membership=self.membership)))

    @extend_schema(request=None, responses={201: dict})
    def post(self, request: Request, slug: str) -> Response:
        return Response(_document(publish_distributions(membership=self.membership)), status=201)


class PublicDistributionsView(APIView):
    """The same, without an account."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(_document(public_distributions(slug=slug)))


def _document(found: Distributions) -> dict[str, Any]:
    return {
        "study": found.study,
        "title": found.title,
        "published_at": found.published_at,
        **found.document,
    }
