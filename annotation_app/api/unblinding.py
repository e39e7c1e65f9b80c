"""The ceremony for programs: ask, approve, refuse, withdraw, follow; changing and recovering passphrases."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.seal_projections import UnblindingView
from annotation_app.services.keys import change_passphrase, recover_passphrase
from annotation_app.services.unblinding import (
    approve_unblinding,
    refuse_request,
    request_unblinding,
    requests_of,
    withdraw_request,
)
from blinding.policy import KEY_HOLDERS, Role


class ApprovalIn(serializers.Serializer[None]):
    passphrase = serializers.CharField(trim_whitespace=False)
    password = serializers.CharField(trim_whitespace=False, required=False, allow_null=True, default=None)


class RequestIn(ApprovalIn):
    reason = serializers.CharField(max_length=5000)


class RefusalIn(serializers.Serializer[None]):
    reason = serializers.CharField(max_length=5000)


class NewPassphraseIn(serializers.Serializer[None]):
    new = serializers.CharField(trim_whitespace=False)
    partner = serializers.CharField(trim_whitespace=False, required=False, allow_null=True, default=None)


class ChangeIn(NewPassphraseIn):
    old = serializers.CharField(trim_whitespace=False)


class RecoveryIn(NewPassphraseIn):
    code = serializers.CharField()


class UnblindingRequests(MemberView):
    """Requests to unblind, newest first; the project author asks."""

    roles = (*KEY_HOLDERS, Role.MONITOR)
    writers = (Role.PROJECT_AUTHOR,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response([UnblindingView.of(r) for r in requests_of(membership=self.membership)])

    @extend_schema(request=RequestIn, responses={201: dict})
    def post(self, request: Request, slug: str) -> Response:
        asked = request_unblinding(membership=self.membership, **read_body(RequestIn, request))
        return Response({"uid": asked.pk}, status=201)


class ApproveUnblinding(MemberView):
    """The admin approves; a job opens the seals."""

    roles = (Role.ADMIN,)

    @extend_schema(request=ApprovalIn, responses={202: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        job = approve_unblinding(membership=self.membership, uid=uid, **read_body(ApprovalIn, request))
        return Response({"uid": uid, "job": job}, status=202)


class RefuseUnblinding(MemberView):
    """The admin says no, with a reason."""

    roles = (Role.ADMIN,)

    @extend_schema(request=RefusalIn, responses={204: None})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        refuse_request(membership=self.membership, uid=uid, **read_body(RefusalIn, request))
        return Response(status=204)


class WithdrawUnblinding(MemberView):
    """The project author takes a request back."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        withdraw_request(membership=self.membership, uid=uid)
        return Response(status=204)


class PassphraseView(MemberView):
    """Change one's own passphrase."""

    roles = KEY_HOLDERS

    @extend_schema(request=ChangeIn, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        change_passphrase(membership=self.membership, **read_body(ChangeIn, request))
        return Response(status=204)


class RecoveryView(MemberView):
    """Set a new passphrase with the recovery sheet."""

    roles = KEY_HOLDERS

    @extend_schema(request=RecoveryIn, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        recover_passphrase(membership=self.membership, **read_body(RecoveryIn, request))
        return Response(status=204)
