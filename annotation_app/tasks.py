"""Celery's way in: each task is one call."""

from celery import shared_task

from annotation_app.services import records, unblinding


@shared_task(name="annotation_app.finalise_due_records", ignore_result=True)
def finalise_due_records() -> None:
    records.finalise_due_records()


@shared_task(name="annotation_app.lapse_unblindings", ignore_result=True)
def lapse_unblindings() -> None:
    unblinding.lapse_old_requests()
