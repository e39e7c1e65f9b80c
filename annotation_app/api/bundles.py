"""Bundles for programs: ask for one, follow it, download it."""

from uuid import UUID

from django.http import FileResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView
from annotation_app.downloads import file_name
from annotation_app.models import Membership
from annotation_app.seal_projections import BundleView
from annotation_app.services.bundles.build import bundle_of, bundles_of, download_bundle, request_bundle
from blinding.policy import Role


def bundle_response(membership: Membership, uid: UUID) -> FileResponse:
    """Send a bundle under the day on which it was built. Raises Absent or Refused."""
    path, built_at = download_bundle(membership=membership, uid=uid)
    name = file_name(membership.study, "bundle.zip", built_at)
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/zip")


class BundlesView(MemberView):
    """Bundles of the study, newest first; asking for a new one."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response([BundleView.of(file) for file in bundles_of(membership=self.membership)])

    @extend_schema(request=None, responses={202: dict})
    def post(self, request: Request, slug: str) -> Response:
        return Response({"uid": request_bundle(membership=self.membership).pk}, status=202)


class BundleDetail(MemberView):
    """One bundle: queued, running with progress, done or failed."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        return Response(BundleView.of(bundle_of(membership=self.membership, uid=uid)))


class BundleFile(MemberView):
    """The ZIP, once it is whole."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={(200, "application/zip"): bytes})
    def get(self, request: Request, slug: str, uid: UUID) -> FileResponse:
        return bundle_response(self.membership, uid)
