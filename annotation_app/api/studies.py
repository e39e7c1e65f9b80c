"""Studies, members, declarations, keys, codebooks, phases."""

from contextlib import suppress

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation_app.api.base import MemberView, read_body
from annotation_app.errors import Refused
from annotation_app.models import Membership
from annotation_app.projections import MemberView as MemberShown
from annotation_app.projections import StudyView
from annotation_app.services.codebooks import add_codebook
from annotation_app.services.invitations import renew_invitation, withdraw_invitation
from annotation_app.services.keys import add_second_half
from annotation_app.services.members import Added, add_member, list_members, sign_declaration
from annotation_app.services.phases import change_phase
from annotation_app.services.reassignment import reassign_rest
from annotation_app.services.studies import create_study
from blinding.policy import KEY_HOLDERS, Role


class StudyIn(serializers.Serializer[None]):
    slug = serializers.SlugField(max_length=60)
    title = serializers.CharField(max_length=200)
    passphrase = serializers.CharField(trim_whitespace=False)
    protocol = serializers.DictField(required=False)
    record_schema = serializers.DictField(required=False)


class MemberIn(serializers.Serializer[None]):
    username = serializers.CharField(max_length=150)
    role = serializers.CharField()
    password = serializers.CharField(required=False, allow_null=True, trim_whitespace=False)


class InvitationIn(serializers.Serializer[None]):
    alias = serializers.CharField(max_length=20)
    invitation = serializers.ChoiceField(["renew", "withdraw"])


class DeclarationIn(serializers.Serializer[None]):
    accepted = serializers.BooleanField()

    def validate_accepted(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("Nothing can be coded or decided without the declaration.")
        return value


class KeyIn(serializers.Serializer[None]):
    passphrase = serializers.CharField(trim_whitespace=False)


class CodebookIn(serializers.Serializer[None]):
    version = serializers.CharField(max_length=40)
    kind = serializers.ChoiceField(["clarification", "rule_change"], default="clarification")
    text = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    fields = serializers.DictField()  # type: ignore[assignment]  # the interface's own name

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]
        declared = dict(self._declared_fields)
        return {name: field.__deepcopy__({}) for name, field in declared.items()}


class PhaseIn(serializers.Serializer[None]):
    to = serializers.CharField()
    reason = serializers.CharField(required=False, allow_blank=True, default="")
    leave_open = serializers.CharField(required=False, allow_blank=True, allow_null=True, default="")


class StudiesView(APIView):
    """The caller's studies; a new one for who may make studies."""

    @extend_schema(responses={200: dict})
    def get(self, request: Request) -> Response:
        mine = (
            Membership.objects.current()
            .filter(user__username=request.user.get_username())
            .select_related("study")
            .order_by("study__slug")
        )
        rows = [
            {"slug": m.study.slug, "title": m.study.title, "phase": m.study.phase, "role": m.role}
            for m in mine
        ]
        return Response(rows)

    @extend_schema(request=StudyIn, responses={201: dict})
    def post(self, request: Request) -> Response:
        made = create_study(user=request.user, **read_body(StudyIn, request))  # type: ignore[arg-type]
        return Response(made, status=201)


class StudyDetail(MemberView):
    """Phase, role, and the counts that the caller may know."""

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(StudyView.of(self.membership))


class MembersView(MemberView):
    """The admin's list of members; adding one; PATCH makes an unused invitation anew, or withdraws it."""

    roles = (Role.ADMIN,)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response([MemberShown.of(m) for m in list_members(membership=self.membership)])

    @extend_schema(request=MemberIn, responses={201: dict})
    def post(self, request: Request, slug: str) -> Response:
        added = add_member(membership=self.membership, **read_body(MemberIn, request))
        return Response(_invited(request, added), status=201)

    @extend_schema(request=InvitationIn, responses={200: dict})
    def patch(self, request: Request, slug: str) -> Response:
        asked = read_body(InvitationIn, request)
        if asked["invitation"] == "withdraw":
            withdraw_invitation(membership=self.membership, alias=asked["alias"])
            with suppress(Refused):  # nobody else has the role: who joins it next gets what is left
                reassign_rest(membership=self.membership, alias=asked["alias"])
            return Response({"alias": asked["alias"]})
        return Response(_invited(request, renew_invitation(membership=self.membership, alias=asked["alias"])))


def _invited(request: Request, added: Added) -> dict[str, str]:
    body = {"alias": added.alias}
    if added.invitation:
        path = reverse("invitation", kwargs={"secret": added.invitation})
        body["invitation_url"] = request.build_absolute_uri(path)
    return body


class DeclarationView(MemberView):
    """Sign the declaration of one's role, once."""

    @extend_schema(request=DeclarationIn, responses={200: dict})
    def post(self, request: Request, slug: str) -> Response:
        read_body(DeclarationIn, request)
        sign_declaration(membership=self.membership)
        return Response({"declared_at": self.membership.declared_at})


class KeyView(MemberView):
    """The project author adds the second half of the key."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(request=KeyIn, responses={200: dict})
    def post(self, request: Request, slug: str) -> Response:
        sheet = add_second_half(membership=self.membership, **read_body(KeyIn, request))
        return Response({"layers": 2, "recovery_sheet": sheet})


class CodebooksView(MemberView):
    """A new version of the codebook."""

    roles = (Role.PROJECT_AUTHOR,)

    @extend_schema(request=dict, responses={201: dict})
    def post(self, request: Request, slug: str) -> Response:
        book = add_codebook(membership=self.membership, document=read_body(CodebookIn, request))
        return Response(
            {"version": book.version, "hash": book.hash, "rule_version": book.rule_version}, status=201
        )


class PhaseView(MemberView):
    """Move the study to another phase."""

    roles = KEY_HOLDERS

    @extend_schema(request=PhaseIn, responses={200: dict})
    def post(self, request: Request, slug: str) -> Response:
        asked = read_body(PhaseIn, request)
        phase = change_phase(
            membership=self.membership,
            to=asked["to"],
            reason=asked["reason"],
            leave_open=asked["leave_open"] or "",
        )
        return Response({"phase": phase})
