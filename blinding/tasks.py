"""Celery's way in: each task is one call."""

from celery import shared_task

from blinding import jobs


@shared_task(name="blinding.run_job", ignore_result=True)
def run_job(job_id: str) -> None:
    jobs.run(job_id)


@shared_task(name="blinding.sweep_jobs", ignore_result=True)
def sweep_jobs() -> None:
    jobs.sweep()
