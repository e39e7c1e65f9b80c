"""What was committed to at each release: to be downloaded for an outside timestamp, whose receipt comes back."""

from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.api.parsers import FitMultiPart
from annotation_app.services.commitments import (
    RECEIPT_MAX,
    attach_receipt,
    commitments_of,
    manifest_bytes,
    published_commitments,
)
from blinding.policy import KEY_HOLDERS, Role


class ReceiptIn(serializers.Serializer[None]):
    file = serializers.FileField()
    digest = serializers.CharField(required=False, allow_blank=True, default="")


class CommitmentsFile(MemberView):
    """`commitments.json`, as the verifier reads it."""

    roles = (*KEY_HOLDERS, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> HttpResponse:
        document = published_commitments(membership=self.membership)
        return as_file(orjson.dumps(document, option=orjson.OPT_INDENT_2), "commitments.json")


class CommitmentList(MemberView):
    """Each batch's commitment with the digest to have time-stamped."""

    roles = (*KEY_HOLDERS, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(commitments_of(membership=self.membership))


class ManifestFile(MemberView):
    """The bytes whose SHA-256 is the digest of a batch's commitment."""

    roles = (*KEY_HOLDERS, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> HttpResponse:
        return as_file(manifest_bytes(membership=self.membership, batch=uid), f"commitment-{uid}.json")


class ReceiptView(MemberView):
    """Attach the receipt of an outside timestamp."""

    roles = KEY_HOLDERS

    parser_classes = [FitMultiPart]

    @extend_schema(request={"multipart/form-data": ReceiptIn}, responses={201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        given: dict[str, Any] = read_body(ReceiptIn, request)
        receipt = given["file"].read(RECEIPT_MAX + 1)
        attach_receipt(membership=self.membership, batch=uid, receipt=receipt, digest=given["digest"])
        return Response({"attached": True}, status=201)


def as_file(content: bytes, name: str) -> HttpResponse:
    """Send JSON as a file of a neutral name."""
    return HttpResponse(
        content,
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
