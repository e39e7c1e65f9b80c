"""The form of a study under one codebook version. Both never change once made, so each process builds a form once."""

from collections import OrderedDict
from typing import Any
from uuid import UUID

from annotation_app.models import Codebook, Study
from annotation_app.record_schema import Codebook as CodebookText
from annotation_app.record_schema import Form, RecordSchema, build_form, load_record_schema

_documents: OrderedDict[UUID, dict[str, Any]] = OrderedDict()
_forms: OrderedDict[tuple[UUID, str], Form] = OrderedDict()
_schemas: OrderedDict[str, RecordSchema] = OrderedDict()
_KEPT = 64


def schema_of(study: Study) -> RecordSchema:
    """Return the study's record schema, loaded."""
    if study.schema_hash not in _schemas:
        _schemas[study.schema_hash] = load_record_schema(study.record_schema)
        while len(_schemas) > _KEPT:
            _schemas.popitem(last=False)
    return _schemas[study.schema_hash]


def document_of(codebook_id: UUID) -> dict[str, Any]:
    """Return the document of codebook version `codebook_id`; a query only the first time in a process."""
    if codebook_id not in _documents:
        _documents[codebook_id] = Codebook.objects.values_list("document", flat=True).get(pk=codebook_id)
        while len(_documents) > _KEPT:
            _documents.popitem(last=False)
    return _documents[codebook_id]


def form_of(study: Study, codebook_id: UUID) -> Form:
    """Return the form that codebook version `codebook_id` gives; a query only the first time in a process."""
    key = (codebook_id, study.protocol_hash)
    if key not in _forms:
        schema = schema_of(study)
        _forms[key] = build_form(schema, CodebookText.of(document_of(codebook_id), schema), study.protocol)
        while len(_forms) > _KEPT:
            _forms.popitem(last=False)
    return _forms[key]
