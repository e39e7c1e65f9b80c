"""Records and bundles."""

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from annotation_app.api.base import MemberView
from annotation_app.downloads import as_attachment
from annotation_app.models import Membership
from annotation_app.services.bundles.log import changes_after
from annotation_app.services.exports import export_records
from blinding import clock
from blinding.policy import Role


def records_response(membership: Membership) -> StreamingHttpResponse:
    """Send the study's records as lines as they are read, whatever Accept says. Raises Absent or Refused."""
    return StreamingHttpResponse(
        export_records(membership=membership),
        content_type="application/x-ndjson; charset=utf-8",
        headers=as_attachment(membership.study, "records.jsonl", clock.now()),
    )


class RecordsExport(MemberView):
    """`records.jsonl`: every line validates against the study's record schema."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={(200, "application/x-ndjson"): str})
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        response = records_response(self.membership)
        # The schema has no room for it in a record.
        response.headers["Twinblind-Post-Unblinding-Changes"] = str(len(changes_after(self.membership.study)))
        return response
