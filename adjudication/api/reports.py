"""Agreement reports for programs."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from adjudication.projections import ReportView
from adjudication.services.reports import report_of, reports_of, request_report
from annotation_app.api.base import MemberView
from blinding.policy import KEY_HOLDERS, Role


class ReportsView(MemberView):
    """Reports of the study; asking for a new one."""

    roles = (*KEY_HOLDERS, Role.MONITOR)
    writers = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(
            [
                ReportView.of(r, self.membership, with_result=False)
                for r in reports_of(membership=self.membership)
            ]
        )

    @extend_schema(request=None, responses={202: dict})
    def post(self, request: Request, slug: str) -> Response:
        return Response({"uid": request_report(membership=self.membership).pk}, status=202)


class ReportDetail(MemberView):
    """One report: its job's state, and the figures once they are there."""

    roles = (*KEY_HOLDERS, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        return Response(ReportView.of(report_of(membership=self.membership, uid=uid), self.membership))
