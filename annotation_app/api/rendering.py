"""JSON out, whatever Accept says, and never a database row in it."""

from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer

from blinding.projection import sealed_from_rows


def to_json(data: Any) -> bytes:
    """Write projections, UUIDs and UTC times as JSON. Raises RowInContext, naming the place, for a database row.

    orjson knows no database row, so only what it refuses is searched for one.
    """
    try:
        return orjson.dumps(data, option=orjson.OPT_UTC_Z)
    except orjson.JSONEncodeError:
        sealed_from_rows(data)
        raise


class ProjectionRenderer(BaseRenderer):
    """Everything as `to_json` writes it."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return b"" if data is None else to_json(data)


class AlwaysJson(BaseContentNegotiation):
    """One format: what a client accepts changes nothing."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
