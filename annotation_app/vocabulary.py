"""Which words a study's coders must not meet in anything we write: the schema's telling names and the protocol's list."""

from collections.abc import Mapping
from typing import Any

from annotation_app.models import Study
from blinding.vocabulary import words_of_schema


def words_forbidden_in(record_schema: Mapping[str, Any], protocol: Mapping[str, Any]) -> frozenset[str]:
    """Return the words; the list stays on the server."""
    return words_of_schema(dict(record_schema)) | frozenset(protocol.get("forbidden_vocabulary", ()))


def forbidden_words(study: Study) -> frozenset[str]:
    return words_forbidden_in(study.record_schema, study.protocol)
