"""JSON out, whatever Accept says, and never a database row in it."""

from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer

from blinding.projection import sealed_from_rows


class ProjectionRenderer(BaseRenderer):
    """Writes projections, UUIDs and UTC times as JSON. Raises RowInContext for a database row."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        return orjson.dumps(sealed_from_rows(data), option=orjson.OPT_UTC_Z)


class AlwaysJson(BaseContentNegotiation):
    """One format: what a client accepts changes nothing."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        from rest_framework.negotiation import DefaultContentNegotiation

        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
