"""Coding for programs: next item, draft, record, recognised, skip. Thin: these are the hot paths."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import Answer, HotView, MemberView, read_body
from annotation_app.errors import Invalid
from annotation_app.models import Membership
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, save_draft, skip_assignment
from annotation_app.services.exposures import recognise
from annotation_app.services.proposals import proposal_after
from annotation_app.services.records import Receipt, Submission, submit_record
from blinding.policy import CODERS, Role


class RecognisedIn(serializers.Serializer[None]):
    how = serializers.ChoiceField(["says_so", "knows", "hunch"])
    what = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


class NextAssignment(HotView):
    """The caller's next item, the same until it is submitted or skipped; 204 when all are done."""

    roles = CODERS

    method = "GET"

    @extend_schema(responses={200: dict, 204: None})
    def get(self, request: Request, slug: str) -> Response:
        return self.answer(request)

    def act(self, body: Any) -> Answer:
        item = next_assignment(membership=self.membership)
        return (204, None) if item is None else (200, AssignmentView.of(item, self.membership))


class DraftView(HotView):
    """Keep what was entered so far."""

    roles = CODERS

    method = "PUT"

    @extend_schema(request=dict, responses={200: dict})
    def put(self, request: Request, slug: str, uid: UUID) -> Response:
        return self.answer(request, uid=uid)

    def act(self, body: Any, uid: UUID) -> Answer:
        given = json_object(body)
        fields = json_object(given.get("fields"), "fields")
        return 200, draft_kept(self.membership, uid, given, fields)


class RecordView(HotView):
    """Submit the record of an item."""

    roles = CODERS

    method = "POST"

    @extend_schema(request=dict, responses={200: dict, 201: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        return self.answer(request, uid=uid)

    def act(self, body: Any, uid: UUID) -> Answer:
        receipt = submit_record(membership=self.membership, uid=uid, submission=submission_of(body))
        return 200 if receipt.replayed else 201, receipt_body(receipt)


class RecognisedView(MemberView):
    """Say that one recognises where an output comes from."""

    roles = (*CODERS, Role.ADJUDICATOR)

    @extend_schema(request=RecognisedIn, responses={200: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        recognise(membership=self.membership, uid=uid, **read_body(RecognisedIn, request))
        return Response({"recorded": True})


class SkipView(MemberView):
    """Put an item at the end of one's order."""

    roles = CODERS

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        skip_assignment(membership=self.membership, uid=uid)
        return Response(status=204)


def draft_kept(
    membership: Membership, uid: UUID, given: dict[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Keep a draft and return its receipt, with the proposed cluster where the protocol shows it from now on."""
    saved = save_draft(
        membership=membership,
        uid=uid,
        fields=fields,
        version=whole(given, "version"),
        active_seconds=whole(given, "active_seconds"),
        idle_seconds=whole(given, "idle_seconds"),
    )
    receipt: dict[str, Any] = {"version": saved.version, "saved_at": saved.saved_at}
    proposed = proposal_after(membership=membership, uid=uid, fields=fields)
    return receipt | ({"proposed_cluster": proposed} if proposed else {})


def submission_of(body: Any) -> Submission:
    """Read a submission from a JSON body. Raises Invalid naming what is malformed."""
    given = json_object(body)
    identifier = given.get("submission_id")
    if identifier is not None and (not isinstance(identifier, str) or not 1 <= len(identifier) <= 64):
        raise Invalid.at(
            "submission_id", "wrong_type", "submission_id must be a string of 1 to 64 characters."
        )
    return Submission(
        fields=json_object(given.get("fields"), "fields"),
        submission_id=identifier,
        base_version=whole(given, "base_version"),
        active_seconds=whole(given, "active_seconds"),
        idle_seconds=whole(given, "idle_seconds"),
    )


def receipt_body(receipt: Receipt) -> dict[str, Any]:
    return {
        "record_id": receipt.record_id,
        "version": receipt.version,
        "submitted_at": receipt.submitted_at,
        "revisable_until": receipt.revisable_until,
    }


def json_object(value: Any, name: str = "") -> dict[str, Any]:
    """Return a JSON object, or raise Invalid."""
    if not isinstance(value, dict):
        raise Invalid.at(name, "wrong_type", f"{name or 'The body'} must be a JSON object.")
    return value


def whole(body: dict[str, Any], name: str) -> int:
    """Return a whole number from 0 to 2³¹ − 1 (absent or null: 0), or raise Invalid."""
    value = body.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise Invalid.at(name, "wrong_type", f"{name} must be a whole number, 0 or more.")
    return value
