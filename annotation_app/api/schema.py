"""The interface's description, for the people who run studies: it names things that coders need not meet."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.models import Membership
from blinding.policy import KEY_HOLDERS


class PlainJson(JSONRenderer):
    """OpenAPI's own document: it holds no study data."""


@extend_schema(exclude=True)
class SchemaView(SpectacularAPIView):
    """OpenAPI, for members who are admin or project author of a study, and for site administrators."""

    renderer_classes: list[type[BaseRenderer]] = [PlainJson]
    permission_classes = [IsAuthenticated]  # spectacular's own setting lets everybody in

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        runs_a_study = (
            Membership.objects.current()
            .filter(user__username=request.user.get_username(), role__in=KEY_HOLDERS)
            .exists()
        )
        if not (request.user.is_superuser or runs_a_study):
            raise Http404
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        return response
