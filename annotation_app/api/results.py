"""Results for programs, after the unblinding."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView
from annotation_app.services.results import results_of
from blinding.policy import Role


class ResultsView(MemberView):
    """Consensus codes by condition × model, and whether the blind held."""

    roles = (Role.PROJECT_AUTHOR, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(results_of(membership=self.membership))
