"""The Celery application: tasks only wake what the Job table holds, so nothing is kept in the broker."""

import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, setup_logging, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings")

app = Celery("twinblind")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def log_without_labels(**_: Any) -> None:
    """Log as the web process does: Celery's own set-up would print results and messages of exceptions."""
    logging.config.dictConfig(settings.LOGGING)


@heartbeat_sent.connect
def tell_that_a_worker_lives(**_: Any) -> None:
    """Pass on the heart beat of the worker's main loop, one every two seconds."""
    from annotation_app import health

    health.worker_beat()


@worker_shutting_down.connect
def tell_that_the_worker_leaves(**_: Any) -> None:
    """Say at once that no worker is there, unless another one beats again."""
    from annotation_app import health

    health.worker_left()
