"""What the check of task packages leaves with a batch, and what of it stands against a release."""

from annotation_app.models import Batch, Task


def task_obstacles(batch: Batch) -> list[str]:
    """Return what tasks of a batch in review stand against its release, in sentences."""
    missing = []
    staged = Task.objects.filter(pk__in=batch.staged.values("task"))
    if batch.is_main and staged.filter(calibration_split=True).exists():
        missing.append(
            "It holds outputs of the calibration split, which are coded in calibration batches only."
        )
    if staged.filter(voided_at__isnull=False).exists():
        missing.append(
            "It holds outputs of a task version that was voided. Discard it and upload it without them."
        )
    return missing


def forget_lint(batch: Batch) -> None:
    """Drop findings on task packages, which hint at closed labels: of this batch, and of uploads that were rejected."""
    batch.summary.pop("lint", None)
    batch.save(update_fields=["summary"])
    for rejected in Batch.objects.filter(study=batch.study_id, status=Batch.Status.REJECTED):
        kept = [error for error in rejected.errors if error["code"] != "metadata_invalid"]
        if kept != rejected.errors:
            rejected.errors = kept
            rejected.save(update_fields=["errors"])
