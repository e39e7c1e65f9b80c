"""Uploads for programs: send, follow, review terms, release."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.api.parsers import FitMultiPart
from annotation_app.projections import BatchView, FindingView
from annotation_app.services.batches.own_terms import add_term, preview_term, remove_term
from annotation_app.services.batches.release import discard_batch, release_batch
from annotation_app.services.batches.review import decide_finding, findings_of
from annotation_app.services.batches.upload import batch_of, batches_of, read_mapping, upload_batch
from blinding.policy import Role


class UploadIn(serializers.Serializer[None]):
    file = serializers.FileField(allow_empty_file=True)
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    purpose = serializers.ChoiceField(["main", "calibration"], required=False, default="main")
    mapping = serializers.CharField(required=False, allow_blank=True, default="")


class FindingIn(serializers.Serializer[None]):
    term = serializers.CharField(trim_whitespace=False)
    kind = serializers.ChoiceField(
        ["lexicon", "label", "vocabulary", "own"], required=False, allow_null=True, default=None
    )
    accepted = serializers.BooleanField()


class OwnTermIn(serializers.Serializer[None]):
    term = serializers.CharField(max_length=1000)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)
    preview = serializers.BooleanField(required=False, default=False)


class TermIn(serializers.Serializer[None]):
    term = serializers.CharField(trim_whitespace=False)


class ReleaseIn(serializers.Serializer[None]):
    reason = serializers.CharField(required=False, allow_blank=True, allow_null=True, default="")


class BatchesView(MemberView):
    """The study's batches; uploading one."""

    roles = (Role.ADMIN,)

    parser_classes = [FitMultiPart]

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response([BatchView.of(b) for b in batches_of(membership=self.membership)])

    @extend_schema(request={"multipart/form-data": UploadIn}, responses={202: dict})
    def post(self, request: Request, slug: str) -> Response:
        given: dict[str, Any] = read_body(UploadIn, request)
        batch = upload_batch(
            membership=self.membership,
            upload=given["file"],
            name=given["name"],
            purpose=given["purpose"],
            mapping=read_mapping(given["mapping"]),
        )
        return Response({"uid": batch.pk}, status=202)


class BatchDetail(MemberView):
    """State, progress, row errors and warnings of a batch; DELETE discards one that is not released."""

    roles = (Role.ADMIN,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        return Response(BatchView.of(batch_of(membership=self.membership, uid=uid)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, uid: UUID) -> Response:
        discard_batch(membership=self.membership, uid=uid)
        return Response(status=204)


class FindingsView(MemberView):
    """What the redaction found, by term; accepting or ignoring one; adding one of one's own, taking it out again."""

    roles = (Role.ADMIN,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        return Response([FindingView.of(f) for f in findings_of(membership=self.membership, uid=uid)])

    @extend_schema(request=FindingIn, responses={200: dict})
    def patch(self, request: Request, slug: str, uid: UUID) -> Response:
        changed = decide_finding(membership=self.membership, uid=uid, **read_body(FindingIn, request))
        return Response(FindingView.of(changed))

    @extend_schema(request=OwnTermIn, responses={200: dict, 201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        asked = read_body(OwnTermIn, request)
        if asked["preview"]:
            found = preview_term(membership=self.membership, uid=uid, term=asked["term"])
            return Response(FindingView.of(found))
        added = add_term(membership=self.membership, uid=uid, term=asked["term"], reason=asked["reason"])
        return Response(FindingView.of(added), status=201)

    @extend_schema(request=TermIn, responses={204: None})
    def delete(self, request: Request, slug: str, uid: UUID) -> Response:
        remove_term(membership=self.membership, uid=uid, term=read_body(TermIn, request)["term"])
        return Response(status=204)


class ReleaseView(MemberView):
    """Release a reviewed batch to its coders."""

    roles = (Role.ADMIN,)

    @extend_schema(request=ReleaseIn, responses={202: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        batch = release_batch(
            membership=self.membership, uid=uid, reason=read_body(ReleaseIn, request)["reason"] or ""
        )
        return Response({"uid": batch.pk}, status=202)
