"""POST auth/token/: a user name and password for a token."""

from drf_spectacular.utils import extend_schema
from knox.models import AuthToken
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation_app.api.authentication import TokenAuthentication
from annotation_app.api.base import read_body
from annotation_app.services.sign_in import authenticated


class Credentials(serializers.Serializer[None]):
    username = serializers.CharField()
    password = serializers.CharField(trim_whitespace=False)


class Token(serializers.Serializer[None]):
    token = serializers.CharField()


class NoCheckOfOldTokens(TokenAuthentication):
    """Asking for a token needs none; a header that is sent along is not looked at."""

    def authenticate(self, request: Request) -> None:
        return None


class TokenView(APIView):
    """Get a token for programs. It is shown this once; the database keeps a digest."""

    authentication_classes = [NoCheckOfOldTokens]
    permission_classes = [AllowAny]

    @extend_schema(request=Credentials, responses=Token, auth=[])
    def post(self, request: Request) -> Response:
        given = read_body(Credentials, request)
        user = authenticated(request._request, **given)
        if user is None:
            raise AuthenticationFailed("User name or password is wrong.")
        return Response({"token": AuthToken.objects.create(user=user)[1]})
