"""Training for programs: rounds and standings, reference codes, the gate."""

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.assignments import json_object
from annotation_app.api.base import MemberView, read_body
from annotation_app.services.gates import mark_of
from annotation_app.services.references import training_item, training_texts, write_reference
from annotation_app.services.standings import open_gate, rounds_of, standings_of
from blinding.policy import KEY_HOLDERS, Role


class GateIn(serializers.Serializer[None]):
    alias = serializers.CharField()
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


class TrainingView(MemberView):
    """Rounds with the agreement in each, and how coders stand against the reference; for who runs the study."""

    roles = KEY_HOLDERS

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        rounds = [asdict(r) for r in rounds_of(membership=self.membership)]
        coders = [asdict(s) | {"reaches": s.reaches} for s in standings_of(membership=self.membership)]
        return Response({"mark": mark_of(self.membership.study), "rounds": rounds, "coders": coders})


class GatesView(MemberView):
    """Pass a coder on to the main items."""

    roles = KEY_HOLDERS

    @extend_schema(request=GateIn, responses={201: dict})
    def post(self, request: Request, slug: str) -> Response:
        given = read_body(GateIn, request)
        open_gate(membership=self.membership, **given)
        return Response({"alias": given["alias"]}, status=201)


class TextsView(MemberView):
    """The training texts with the source of each one's reference, for who writes references."""

    roles = (Role.PROJECT_AUTHOR, Role.ADJUDICATOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        texts = training_texts(membership=self.membership)
        return Response(
            [{"uid": o.pk, "round": o.batch.number, "task_code": o.task.code, "source": s} for o, s in texts]
        )


class TextView(MemberView):
    """A training text with the form; writing its reference code."""

    roles = (Role.PROJECT_AUTHOR, Role.ADJUDICATOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        item = asdict(training_item(membership=self.membership, uid=uid))
        return Response({name: value for name, value in item.items() if name != "codebook"})

    @extend_schema(request=dict, responses={201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        fields = json_object(json_object(request.data).get("fields"), "fields")
        write_reference(membership=self.membership, uid=uid, fields=fields)
        return Response({"uid": uid}, status=201)
