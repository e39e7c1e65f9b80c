"""The job that builds a bundle: one snapshot of the database into a file of its own, which is offered once it is whole."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from annotation_app import registries
from annotation_app.errors import Absent, Refused
from annotation_app.models import ExportFile, Membership, Record, Study
from annotation_app.services.bundles import log, opened, records
from annotation_app.services.bundles.documents import documents_of
from annotation_app.services.bundles.manifest import manifest_of
from annotation_app.services.bundles.policy import policy_lines
from annotation_app.services.bundles.units import count_units, unit_lines
from annotation_app.services.bundles.writer import BundleWriter, open_bundle
from annotation_app.services.commitments import commitments_document
from annotation_app.services.exports import count_records, may_export, record_lines
from blinding import clock, jobs
from blinding.event_blocks import close_block
from blinding.events import record_event
from blinding.jobs import JobFailed, Progress
from blinding.models import Event, Job
from blinding.policy import Phase

KIND = "build_bundle"


def request_bundle(*, membership: Membership) -> ExportFile:
    """Queue a bundle. Raises Absent for who never exports, Refused before the lock."""
    may_export(membership)
    with transaction.atomic():
        file = ExportFile.objects.create(study_id=membership.study_id, asked_at=clock.now())
        jobs.enqueue(KIND, study=membership.study_id, subject=file.pk)
        record_event("bundle_requested", study=membership.study_id, actor=membership.pk, subject=file.pk)
    return file


def bundles_of(*, membership: Membership) -> list[ExportFile]:
    """Return the study's bundles, newest first. Raises Absent or Refused."""
    may_export(membership)
    return list(ExportFile.objects.filter(study=membership.study_id).order_by("-asked_at", "pk"))


def bundle_of(*, membership: Membership, uid: UUID) -> ExportFile:
    """Return one bundle. Raises Absent or Refused."""
    may_export(membership)
    file = ExportFile.objects.filter(study=membership.study_id, pk=uid).first()
    if file is None:
        raise Absent
    return file


def download_bundle(*, membership: Membership, uid: UUID) -> tuple[Path, datetime]:
    """Return where a whole bundle is and when it was built, and note that it was taken. Raises Absent or Refused."""
    file = bundle_of(membership=membership, uid=uid)
    path = Path(file.path) if file.path else None
    if file.ready_at is None or path is None or not path.exists():
        raise Refused("This bundle is not whole yet.", code="not_ready")
    record_event("bundle_downloaded", study=membership.study_id, actor=membership.pk, subject=file.pk)
    return path, file.ready_at


def build_bundle(job: Job, progress: Progress) -> None:
    """Write the bundle that a job names, then offer it: nobody ever gets half of one."""
    file = ExportFile.objects.select_related("study").get(pk=job.subject)
    final = Path(settings.TWINBLIND_EXPORTS) / f"{file.pk}.zip"
    part = final.with_suffix(".part")
    close_block(file.study_id)  # so that the log in the bundle is proven to its end
    try:
        with (
            _one_snapshot(),
            open_bundle(part, lambda lines: progress(lines, max(lines, progress.total))) as bundle,
        ):
            study = Study.objects.get(pk=file.study_id)
            if study.phase not in (Phase.LOCKED, Phase.UNBLINDED):
                raise JobFailed("The study is not locked any more.")
            progress(0, _expected_lines(study))
            write_bundle(bundle, study)
        digest, size = _digest_of(part)
        with transaction.atomic():
            progress.fence()
            part.replace(final)
            file.path, file.sha256, file.size, file.ready_at = str(final), digest, size, clock.now()
            file.save(update_fields=["path", "sha256", "size", "ready_at"])
            record_event(
                "bundle_ready", study=file.study_id, actor=None, subject=file.pk, facts={"sha256": digest}
            )
    finally:
        part.unlink(missing_ok=True)
    progress(progress.total, progress.total)


def write_bundle(bundle: BundleWriter, study: Study) -> None:
    """Write every file of a study's bundle, the manifest last. Raises JobFailed where counts differ from the database."""
    bundle.add("records.jsonl", record_lines(study))
    bundle.add("record_versions.jsonl", records.version_lines(study))
    bundle.add("incidents.jsonl", records.incident_lines(study))
    bundle.add("errata.jsonl", records.erratum_lines(study))
    bundle.add("units.csv", unit_lines(study))
    for part in registries.bundle_parts:
        for name, chunks in part(study):
            bundle.add(name, chunks)
    for name, document in documents_of(study):
        bundle.add_json(name, document)
    bundle.add_json("blinding_policy.json", policy_lines(study))
    bundle.add_json("deviations.json", log.deviations_of(study))
    bundle.add("events.jsonl", log.event_lines(study))
    bundle.add("event_blocks.jsonl", log.block_lines(study))
    if study.phase == Phase.UNBLINDED:
        _write_opened(bundle, study)
    else:
        bundle.add_json("commitments.json", commitments_document(study.pk))
    _require_whole(bundle, study)
    bundle.add_json("manifest.json", manifest_of(study, bundle.files, count_units(study)))


def _write_opened(bundle: BundleWriter, study: Study) -> None:
    bundle.add_json("commitments.json", opened.commitments_with_leaves(study))
    bundle.add("leaves.jsonl", opened.leaf_lines(study))
    bundle.add("allocation.json", opened.allocation_chunks(study))
    bundle.add("labels.jsonl", opened.label_lines(study))
    bundle.add("guesses.jsonl", opened.guess_lines(study))
    bundle.add_json("arm_figures.json", opened.figures_of(study))
    bundle.add_json("post_unblinding.json", log.changes_after(study))


def _require_whole(bundle: BundleWriter, study: Study) -> None:
    counts = {"records.jsonl": count_records(study), "record_versions.jsonl": _count_versions(study)}
    for name, expected in counts.items():
        if bundle.files[name].lines != expected:
            raise JobFailed(
                f"{name} would have {bundle.files[name].lines} lines where the database has {expected}."
            )
    published = bundle.files["records.jsonl"].sha256
    if study.phase == Phase.LOCKED and published != study.dataset_hash:
        raise JobFailed("The records are not those whose hash was published at the lock.")


def _expected_lines(study: Study) -> int:
    events = Event.objects.filter(study=study.pk).count()
    outputs = count_units(study)
    return (
        count_records(study)
        + _count_versions(study)
        + 2 * outputs
        + events
        + (2 * outputs if study.unblinded_at else 0)
    )


def _count_versions(study: Study) -> int:
    return Record.objects.filter(assignment__study=study, assignment__calibration=False).count()


@contextmanager
def _one_snapshot() -> Iterator[None]:
    """See the database as of one moment, so that all files agree; inside a transaction that is open, as that one sees it."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _digest_of(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        digest: Any = hashlib.file_digest(file, "sha256")
    return digest.hexdigest(), path.stat().st_size
