"""Making a study, and reading its state as a member may know it."""

import json
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership, Study
from annotation_app.record_schema import (
    DEFAULT_ID,
    RecordSchema,
    SchemaRefused,
    check_protocol,
    complete_protocol,
    default_codebook,
    load_record_schema,
    protocol_hash,
    shipped_documents,
)
from annotation_app.services.batches.task_seals import forget_undeclared_labels
from annotation_app.services.codebooks import store_codebook
from annotation_app.services.members import add_membership
from annotation_app.services.passphrases import checked_passphrase, one_derivation_at_a_time, strength
from annotation_app.vocabulary import words_forbidden_in
from blinding import entropy, sealing
from blinding.events import record_event
from blinding.models import StudyKey
from blinding.policy import Phase, Role
from blinding.vocabulary import lint_texts


@dataclass(frozen=True)
class NewStudy:
    """A study that was just made; the recovery sheet is shown this once and kept nowhere."""

    slug: str
    title: str
    alias: str
    recovery_sheet: str


def may_create_studies(user: User) -> bool:
    return bool(user.is_active and (user.is_superuser or user.has_perm("annotation_app.add_study")))


def create_study(
    *,
    user: User,
    slug: str,
    title: str,
    passphrase: str,
    protocol: dict[str, Any] | None = None,
    record_schema: dict[str, Any] | None = None,
) -> NewStudy:
    """Make a study with `user` as its admin, who holds the first half of its key under `passphrase`.

    Raises Absent for somebody who may not, Invalid for a schema, protocol, name or passphrase that cannot be used.
    """
    if not may_create_studies(user):
        raise Absent
    checked_passphrase(passphrase)
    schema = _loaded(record_schema if record_schema is not None else shipped_documents()[DEFAULT_ID])
    complete = _completed(protocol or {}, schema)
    _refuse_telling_words({"slug": slug, "title": title, **_told(complete)}, complete, schema)
    with one_derivation_at_a_time():
        material = sealing.create_study_key(passphrase, strength())
        study = _stored(slug, title, schema, complete)
        StudyKey.objects.create(
            study=study.pk,
            public_key=material.public_key,
            wrapped=material.inner,
            id_secret=entropy.draw("id secret", study.pk, 32),
        )
        store_codebook(study=study, document=default_codebook(schema), kind="first", actor=None)
        member = add_membership(study=study, user=user, role=Role.ADMIN)
        record_event(
            "study_created", study=study.pk, actor=member.pk, facts={"schema_hash": study.schema_hash}
        )
    return NewStudy(study.slug, study.title, member.alias, material.recovery_sheet)


def change_protocol(*, membership: Membership, protocol: dict[str, Any]) -> None:
    """Replace the protocol before coding. Raises Refused after the freeze, Invalid naming what is wrong."""
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if study.phase not in (Phase.SETUP, Phase.TRAINING):
            raise Refused("The protocol was frozen when coding began. A change needs a new study.")
        schema = load_record_schema(study.record_schema)
        complete = _completed(protocol, schema)
        _refuse_telling_words(_told(complete), complete, schema)
        study.protocol, study.protocol_hash = complete, protocol_hash(complete)
        study.save(update_fields=["protocol", "protocol_hash"])
        forget_undeclared_labels(study)
        record_event(
            "protocol_changed",
            study=study.pk,
            actor=membership.pk,
            facts={"protocol_hash": study.protocol_hash},
        )


def _loaded(document: dict[str, Any]) -> RecordSchema:
    try:
        return load_record_schema(document)
    except SchemaRefused as fault:
        raise Invalid(
            [
                {"field": f"record_schema{p.place}", "rule": "unsupported", "message": p.message}
                for p in fault.problems
            ]
        ) from fault


def _completed(partial: dict[str, Any], schema: RecordSchema) -> dict[str, Any]:
    if problems := check_protocol(partial, schema):
        raise Invalid(
            [{"field": f"protocol{p.place}", "rule": "protocol", "message": p.message} for p in problems]
        )
    return complete_protocol(partial, schema)


def _told(protocol: dict[str, Any]) -> dict[str, str]:
    """Return by place what coders read of a protocol."""
    return {"protocol/content_warning/text": protocol["content_warning"]["text"]}


def _refuse_telling_words(texts: dict[str, str], protocol: dict[str, Any], schema: RecordSchema) -> None:
    words = words_forbidden_in(schema.document, protocol)
    if hits := lint_texts(texts, words):
        raise Invalid(
            [
                {
                    "field": place,
                    "rule": "forbidden_vocabulary",
                    "message": f"“{word}” would tell coders what is compared. Put it in other words.",
                }
                for place, word in hits
            ]
        )


def _stored(slug: str, title: str, schema: RecordSchema, protocol: dict[str, Any]) -> Study:
    try:
        with transaction.atomic():
            return Study.objects.create(
                slug=slug,
                title=title,
                record_schema_text=json.dumps(schema.document, ensure_ascii=False),
                schema_hash=schema.hash,
                protocol=protocol,
                protocol_hash=protocol_hash(protocol),
            )
    except IntegrityError as fault:
        raise Invalid.at("slug", "taken", "A study with this short name exists. Choose another.") from fault
