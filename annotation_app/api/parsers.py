"""How bodies are read: JSON and form data, refused as 400 where a text in them cannot be kept."""

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from annotation_app.received import UNFIT, is_fit, read_json


class StrictJson(BaseParser):
    """JSON as it is defined, of texts that can be kept; everything else, however deep, is answered as 400."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return parsed_json(stream.read())


class FitMultiPart(MultiPartParser):
    """Form data with files; texts that cannot be kept are answered as 400."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> "DataAndFiles[Any, Any]":
        read = super().parse(stream, media_type, parser_context)
        if not all(is_fit(text) for name, texts in read.data.lists() for text in (name, *texts)):
            raise ParseError(UNFIT)
        return read


def parsed_json(body: bytes) -> Any:
    """Return what a JSON body says. Raises ParseError, answered as 400."""
    try:
        return read_json(body)
    except ValueError as fault:
        raise ParseError("The body is not JSON that can be read.") from fault
