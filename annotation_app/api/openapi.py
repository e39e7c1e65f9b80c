"""How the interface describes itself in OpenAPI: each operation by method and address, and the ways in."""

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object

from annotation_app.api.authentication import PREFIX


class ByAddress(AutoSchema):
    """Names an operation by method and address, which are never those of two: `get_studies_by_slug_batches_by_uid`."""

    def get_operation_id(self) -> str:
        parts = [part for part in self.path.removeprefix("/api/v1").split("/") if part]
        named = [f"by_{part[1:-1]}" if part.startswith("{") else _plain(part) for part in parts]
        return "_".join([self.method.lower(), *named])


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "annotation_app.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        scheme: dict[str, str] = build_bearer_security_scheme_object("Authorization", PREFIX)
        return scheme


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "annotation_app.api.authentication.MemberSession"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


def _plain(part: str) -> str:
    return part.replace("-", "_").replace(".", "_")
