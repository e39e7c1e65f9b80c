"""Celery's way in: each task is one call."""

from celery import shared_task

from blinding import event_blocks, jobs


@shared_task(name="blinding.run_job", ignore_result=True)
def run_job(job_id: str) -> None:
    jobs.run(job_id)


@shared_task(name="blinding.sweep_jobs", ignore_result=True)
def sweep_jobs() -> None:
    jobs.sweep()


@shared_task(name="blinding.close_event_blocks", ignore_result=True)
def close_event_blocks() -> None:
    event_blocks.close_all_blocks()
