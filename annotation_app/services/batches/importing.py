"""The import job: check the whole file, then clean, find spans, seal and store. All or nothing; plain labels exist only here."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from annotation_app.batch_file import (
    CheckResult,
    Control,
    KnownStudy,
    Opened,
    RowError,
    UploadRefused,
    check_file,
    open_upload,
)
from annotation_app.models import Batch, Output, Study, Task
from annotation_app.services.batches.limits import limits
from annotation_app.services.batches.sealer import label_size
from annotation_app.services.batches.staging import Staging, sealed_fields
from annotation_app.services.batches.tasks import check_task_files, check_tasks_against_outputs
from annotation_app.services.batches.upload import ACCEPTED, upload_path
from blinding import sealing
from blinding.events import record_event
from blinding.jobs import JobFailed, Progress
from blinding.models import Job, StudyKey, UsedOutputId
from blinding.redaction.unicode import clean


def import_batch(job: Job, progress: Progress) -> None:
    """Read the upload of batch `job.subject`: rejected with row errors, or in review with everything sealed."""
    batch = Batch.objects.select_related("study").get(pk=job.subject)
    path = upload_path(batch.pk)
    if not path.exists():
        raise JobFailed("The uploaded file is gone. Upload it again.")
    Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.CHECKING)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # One import at a time in a study: ids, statements and controls are compared across batches.
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 2))", [f"import {batch.study_id}"]
            )
            _check_and_take(batch, progress)
    finally:
        path.unlink(missing_ok=True)


def import_failed(job: Job) -> None:
    """Put the batch into the state that says so; its upload is gone."""
    upload_path(job.subject).unlink(missing_ok=True)
    Batch.objects.filter(pk=job.subject).update(status=Batch.Status.FAILED)


def _check_and_take(batch: Batch, progress: Progress) -> None:
    def halves(second: int) -> Any:
        return lambda done, total: progress(done + second * total, 2 * total)

    try:
        opened = open_upload(upload_path(batch.pk), f"upload{batch.extension}", limits())
        checked = check_file(
            opened,
            batch.mapping,
            clean=clean,
            known=known_study(batch.study),
            check_tasks=lambda files: check_task_files(batch.study, files),
            label_box_size=lambda row: label_size(sealed_fields(row), row.rest()),
            progress=halves(0),
        )
    except UploadRefused as refusal:
        checked = CheckResult(0, [refusal.as_error()], 1, [])
        opened = None
    checked = _with_task_errors(batch, checked)
    if opened is None or checked.errors_total:
        _reject(batch, checked, progress)
    else:
        _take(batch, opened, checked, progress, halves(1))


def _with_task_errors(batch: Batch, checked: CheckResult) -> CheckResult:
    """Put errors of whole tasks before those of rows."""
    errors = check_tasks_against_outputs(batch, checked.tasks, checked.metadata)
    if not errors:
        return checked
    listed = [*errors, *checked.errors][: limits().errors_listed]
    return replace(checked, errors=listed, errors_total=checked.errors_total + len(errors))


def known_study(study: Study) -> KnownStudy:
    """Return what a file must not contradict: ids used, statements, controls and tasks of the study."""
    statements, materials, controls, ids = {}, {}, {}, set()
    released = Exists(Output.objects.filter(task=OuterRef("pk")))
    for task in Task.objects.filter(study=study).annotate(released=released):
        key = (task.task_id, task.task_version or None)
        ids.add(task.task_id)
        if task.statement:
            statements[key] = task.statement
        if task.reference_material:
            materials[key] = task.reference_material
        if task.released or task.positive_control:
            controls[key] = Control(task.positive_control or None, tuple(task.classes) or None)
    return KnownStudy(_used_ids(study), statements, materials, controls, ids)


def _used_ids(study: Study) -> Callable[[list[str]], set[str]]:
    """Return what tells which of some ids earlier batches used; a study's first import is asked about nothing."""
    used = UsedOutputId.objects.filter(study=study.pk)
    if not used.exists():
        return lambda wanted: set()
    secret = bytes(StudyKey.objects.values_list("id_secret", flat=True).get(study=study.pk))

    def among(wanted: list[str]) -> set[str]:
        digests = {sealing.duplicate_key(secret, output_id): output_id for output_id in wanted}
        found = used.filter(digest__in=list(digests)).values_list("digest", flat=True)
        return {digests[bytes(digest)] for digest in found}

    return among


def _reject(batch: Batch, checked: CheckResult, progress: Progress) -> None:
    progress.fence()
    batch.status = Batch.Status.REJECTED
    batch.errors = [_error(e) for e in checked.errors]
    batch.errors_total = checked.errors_total
    batch.warnings, batch.summary = _warnings(checked), {"columns": asdict(checked.columns)}
    batch.save(update_fields=["status", "errors", "errors_total", "warnings", "summary"])
    record_event(
        "batch_rejected",
        study=batch.study_id,
        actor=None,
        subject=batch.pk,
        facts={"errors": checked.errors_total},
    )


def _take(batch: Batch, opened: Opened, checked: CheckResult, progress: Progress, shown: Any) -> None:
    if Batch.objects.filter(study=batch.study_id, sha256=batch.sha256, status__in=ACCEPTED).exists():
        again = RowError(None, None, "already_uploaded", "The same bytes were accepted in this study before.")
        _reject(batch, CheckResult(0, [again], 1, []), progress)
        return
    staging = Staging(batch, checked)
    staging.store(opened, shown)
    progress.fence()
    batch.status, batch.rows, batch.warnings = Batch.Status.IN_REVIEW, checked.rows, _warnings(checked)
    batch.errors, batch.errors_total = [], 0
    batch.summary = staging.summary() | {"columns": asdict(checked.columns)}
    batch.arms_warning = staging.has_one_arm
    batch.save(
        update_fields=["status", "rows", "warnings", "errors", "errors_total", "summary", "arms_warning"]
    )
    record_event(
        "batch_imported", study=batch.study_id, actor=None, subject=batch.pk, facts={"rows": checked.rows}
    )


def _error(error: RowError) -> dict[str, Any]:
    shown = {"row": error.row, "column": error.column, "code": error.code, "message": error.message}
    return shown | ({"path": error.path} if error.path else {})


def _warnings(checked: CheckResult) -> list[dict[str, Any]]:
    return [{"code": w.code, "count": w.count, "rows": list(w.rows)} for w in checked.warnings]
