"""The event log for the monitor: read in pages, verify."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView
from annotation_app.services.events import MOST, PAGE, events_of, verify_events
from blinding.policy import Role


class PageIn(serializers.Serializer[None]):
    before = serializers.CharField(required=False, allow_blank=True, default="")
    kind = serializers.CharField(required=False, allow_blank=True, default="")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST, default=PAGE)


class EventsView(MemberView):
    """Events, newest first; `next` is the cursor for `?before=`."""

    roles = (Role.MONITOR,)

    @extend_schema(parameters=[PageIn], responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        asked = PageIn(data=request.query_params)
        asked.is_valid(raise_exception=True)
        return Response(events_of(membership=self.membership, **asked.validated_data))


class VerifyEvents(MemberView):
    """Whether the log is as it was written; `?head=` is the hash of a block noted earlier."""

    roles = (Role.MONITOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(verify_events(membership=self.membership, head=request.query_params.get("head", "")))
