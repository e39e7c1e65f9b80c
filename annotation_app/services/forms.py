"""The form of a study under one codebook version. Both never change once made, so each process builds a form once."""

from collections import OrderedDict
from uuid import UUID

from annotation_app.models import Codebook, Study
from annotation_app.record_schema import Codebook as CodebookText
from annotation_app.record_schema import Form, RecordSchema, build_form, load_record_schema

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


def form_of(study: Study, codebook_id: UUID) -> Form:
    """Return the form that codebook version `codebook_id` gives; a query only the first time in a process."""
    key = (codebook_id, study.protocol_hash)
    if key not in _forms:
        document = Codebook.objects.values_list("document", flat=True).get(pk=codebook_id)
        schema = schema_of(study)
        _forms[key] = build_form(schema, CodebookText.of(document, schema), study.protocol)
        while len(_forms) > _KEPT:
            _forms.popitem(last=False)
    return _forms[key]
