"""Recall for programs: freeze an output, look at its text, mask what leaks, or lift the recall."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.services.recall import freeze_output, frozen_output, lift_recall, mask_output
from blinding.policy import Role


class FreezeIn(serializers.Serializer[None]):
    reason = serializers.CharField(max_length=5000)


class LiftIn(serializers.Serializer[None]):
    note = serializers.CharField(max_length=5000)


class MaskIn(LiftIn):
    words = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False), required=False, default=list
    )
    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(min_value=0)), required=False, default=list
    )


class RecallView(MemberView):
    """Freeze an output for everybody at once; see a frozen one."""

    roles = (Role.ADMIN,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, blinded_id: str) -> Response:
        return Response(frozen_output(membership=self.membership, blinded_id=blinded_id))

    @extend_schema(request=FreezeIn, responses={201: dict})
    def post(self, request: Request, slug: str, blinded_id: str) -> Response:
        asked = read_body(FreezeIn, request)
        frozen = freeze_output(membership=self.membership, blinded_id=blinded_id, **asked)
        return Response(
            {"blinded_output_id": frozen.blinded_output_id, "frozen_at": frozen.frozen_at}, status=201
        )


class MaskView(MemberView):
    """Mask what leaks and let others go on."""

    roles = (Role.ADMIN,)

    @extend_schema(request=MaskIn, responses={200: dict})
    def post(self, request: Request, slug: str, blinded_id: str) -> Response:
        return Response(
            mask_output(membership=self.membership, blinded_id=blinded_id, **read_body(MaskIn, request))
        )


class LiftView(MemberView):
    """Let everybody go on: nothing leaked."""

    roles = (Role.ADMIN,)

    @extend_schema(request=LiftIn, responses={204: None})
    def post(self, request: Request, slug: str, blinded_id: str) -> Response:
        lift_recall(membership=self.membership, blinded_id=blinded_id, **read_body(LiftIn, request))
        return Response(status=204)
