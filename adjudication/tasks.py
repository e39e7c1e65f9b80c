"""Celery's way in: each task is one call."""

from celery import shared_task

from adjudication.services import pairs


@shared_task(name="adjudication.compare_final_pairs", ignore_result=True)
def compare_final_pairs() -> None:
    pairs.compare_final_pairs()
