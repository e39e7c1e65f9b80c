"""Taking an upload in: the file waits in a private folder until its job has read it, and is deleted then."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction

from annotation_app.batch_file import Columns, MappingError, sha256_of
from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Batch, Membership, Study
from annotation_app.received import read_json
from annotation_app.vocabulary import forbidden_words
from blinding import entropy, jobs
from blinding.events import record_event
from blinding.policy import Phase, Role
from blinding.vocabulary import lint_texts

KIND = "import_batch"
EXTENSIONS = (".jsonl.gz", ".jsonl", ".csv", ".zip")
ACCEPTED = (Batch.Status.IN_REVIEW, Batch.Status.RELEASING, Batch.Status.RELEASED)


class Upload(Protocol):
    """A file as Django hands it over."""

    name: str | None

    def chunks(self) -> Iterable[bytes]: ...


def upload_batch(
    *,
    membership: Membership,
    upload: Upload,
    name: str = "",
    purpose: str = "main",
    mapping: dict[str, str] | None = None,
) -> Batch:
    """Store an upload and queue its import. The file's own name is used for its ending only: it may tell an arm.

    Raises Absent for who is not the admin, Refused once coding is closed, Invalid for an unusable name, ending, mapping,
    or for bytes that were accepted in this study before.
    """
    require_admin(membership)
    study = membership.study
    if study.phase not in (Phase.SETUP, Phase.TRAINING, Phase.CODING):
        raise Refused("Coding is closed; no batch can be added any more.")
    extension = _extension(upload.name or "")
    _check_mapping(mapping or {})
    _check_name(study, name)
    uid = entropy.uuid("id", "batch")
    path = upload_path(uid)
    _write(path, upload)
    try:
        return _queued(membership, uid, path, extension, name, purpose, mapping or {})
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def upload_path(uid: UUID) -> Path:
    """Where the bytes of an upload wait; readable by the product only."""
    return Path(settings.TWINBLIND_UPLOADS) / f"{uid}.upload"


def batches_of(*, membership: Membership) -> list[Batch]:
    """Return all batches of the study, newest first, for its admin. Raises Absent for anybody else."""
    require_admin(membership)
    return list(Batch.objects.filter(study=membership.study_id).order_by("-uploaded_at", "pk"))


def batch_of(*, membership: Membership, uid: UUID) -> Batch:
    """Return a batch for its study's admin. Raises Absent."""
    require_admin(membership)
    batch = Batch.objects.filter(study=membership.study_id, pk=uid).first()
    if batch is None:
        raise Absent
    return batch


def require_admin(membership: Membership) -> None:
    if membership.role != Role.ADMIN:
        raise Absent


def read_mapping(text: str) -> dict[str, str]:
    """Return a mapping sent as JSON text. Raises Invalid."""
    if not text.strip():
        return {}
    try:
        mapping: Any = read_json(text)
    except ValueError as fault:
        raise Invalid.at(
            "mapping", "bad_json", 'The mapping must be a JSON object such as {"generator": "model"}.'
        ) from fault
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):
        raise Invalid.at(
            "mapping", "wrong_type", 'The mapping must be a JSON object such as {"generator": "model"}.'
        )
    return mapping


def _queued(
    membership: Membership,
    uid: UUID,
    path: Path,
    extension: str,
    name: str,
    purpose: str,
    mapping: dict[str, str],
) -> Batch:
    with transaction.atomic():
        study = Study.objects.select_for_update().get(pk=membership.study_id)
        digest = sha256_of(path)
        if study.batches.filter(sha256=digest, status__in=ACCEPTED).exists():
            raise Invalid.at("file", "already_uploaded", "The same bytes were accepted in this study before.")
        batch = Batch.objects.create(
            id=uid,
            study=study,
            name=name or f"Batch {study.batches.count() + 1}",
            purpose=purpose,
            mapping=mapping,
            extension=extension,
            sha256=digest,
        )
        jobs.enqueue(KIND, study=study.pk, subject=batch.pk)
        record_event(
            "batch_uploaded",
            study=study.pk,
            actor=membership.pk,
            subject=batch.pk,
            facts={
                "purpose": purpose
            },  # no hash of the file: the log is read by the blind, who could try labels on it
        )
    return batch


def _write(path: Path, upload: Upload) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("xb") as file:
        path.chmod(0o600)
        for chunk in upload.chunks():
            file.write(chunk)


def _extension(name: str) -> str:
    for extension in EXTENSIONS:
        if name.lower().endswith(extension):
            return extension
    raise Invalid.at(
        "file",
        "unknown_format",
        "The name must end in .jsonl, .jsonl.gz, .csv or .zip; the ending says how the file is read.",
    )


def _check_mapping(mapping: dict[str, str]) -> None:
    try:
        Columns(mapping)
    except MappingError as fault:
        raise Invalid.at("mapping", "unknown_column", str(fault)) from fault


def _check_name(study: Study, name: str) -> None:
    for _, word in lint_texts({"name": name}, forbidden_words(study)):
        raise Invalid.at(
            "name", "forbidden_vocabulary", f"“{word}” would tell what is compared. Choose another name."
        )
