"""Cases for programs: claim, decide."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from adjudication.projections import CaseView
from adjudication.services.cases import claim_next_case
from adjudication.services.decisions import CaseDecision, decide_case
from annotation_app.api.base import MemberView, read_body
from blinding.policy import Role


class DecisionIn(serializers.Serializer[None]):
    values = serializers.DictField(allow_empty=True, default=dict)
    rationale = serializers.CharField(allow_blank=True, default="", max_length=10_000)
    claim_no = serializers.IntegerField(min_value=0)


class NextCase(MemberView):
    """Claim the next case; 204 when none waits."""

    roles = (Role.ADJUDICATOR,)

    @extend_schema(responses={200: dict, 204: None})
    def get(self, request: Request, slug: str) -> Response:
        claim = claim_next_case(membership=self.membership)
        if claim is None:
            return Response(status=204)
        return Response(CaseView.of(claim, self.membership))


class DecisionView(MemberView):
    """Decide a claimed case."""

    roles = (Role.ADJUDICATOR,)

    @extend_schema(request=DecisionIn, responses={201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        sent = read_body(DecisionIn, request)
        decided = decide_case(membership=self.membership, uid=uid, decision=CaseDecision(**sent))
        return Response({"case_uid": uid, "decided_at": decided.decided_at}, status=201)
