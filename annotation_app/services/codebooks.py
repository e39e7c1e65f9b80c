"""Versions of the instructions: the first, clarifications, rule changes."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Codebook, Membership, Study
from annotation_app.record_schema import (
    check_codebook,
    codebook_hash,
    label_mapping,
    load_record_schema,
    mapping_hash,
)
from annotation_app.vocabulary import forbidden_words
from blinding.events import record_event
from blinding.policy import Phase, Role
from blinding.vocabulary import Vocabulary


def add_codebook(*, membership: Membership, document: dict[str, Any]) -> Codebook:
    """Add a version of the codebook; only the project author may.

    Raises Invalid naming each place that is wrong or uses a forbidden word, Refused once coding is closed.
    """
    if membership.role != Role.PROJECT_AUTHOR:
        raise Absent
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        if study.phase not in (Phase.SETUP, Phase.TRAINING, Phase.CODING):
            raise Refused("Coding is closed; the codebook stays as it was used.")
        _check(study, document)
        kind = str(document.get("kind") or Codebook.Kind.CLARIFICATION)
        return store_codebook(study=study, document=document, kind=kind, actor=membership)


def store_codebook(
    *, study: Study, document: dict[str, Any], kind: str, actor: Membership | None
) -> Codebook:
    """Store a checked document as the next version. Raises Invalid where its version was used before."""
    last = study.codebooks.aggregate(number=Max("number"), rule=Max("rule_version"))
    rule = (last["rule"] or 0) + (kind != Codebook.Kind.CLARIFICATION)
    schema = load_record_schema(study.record_schema)
    try:
        with transaction.atomic():
            book = Codebook.objects.create(
                study=study,
                version=str(document["version"]),
                number=(last["number"] or 0) + 1,
                rule_version=max(rule, 1),
                kind=kind,
                document=document,
                hash=codebook_hash(document, schema),
                mapping_hash=mapping_hash(document, schema),
            )
    except IntegrityError as fault:
        raise Invalid.at("version", "taken", "This version exists already. Count on.") from fault
    record_event(
        "codebook_added",
        study=study.pk,
        actor=actor.pk if actor else None,
        subject=book.pk,
        facts={"version": book.version, "kind": kind, "hash": book.hash, "rule_version": book.rule_version},
    )
    return book


def current_codebook(study: Study) -> Codebook:
    """Return the newest version."""
    return study.codebooks.order_by("-number")[0]


def words_of(study: Study) -> dict[str, Any]:
    """Return the newest version's labels: `{path: {label, options: {value: label}}}`."""
    return label_mapping(current_codebook(study).document, load_record_schema(study.record_schema))


def _check(study: Study, document: dict[str, Any]) -> None:
    words = Vocabulary(forbidden_words(study))
    schema = load_record_schema(study.record_schema)
    problems = check_codebook(document, schema, hits=lambda text: [hit.word for hit in words.hits(text)])
    if problems:
        raise Invalid([{"field": p.place, "rule": "codebook", "message": p.message} for p in problems])
