import logging

import pytest
from celery import current_app
from celery.signals import heartbeat_sent, setup_logging, worker_shutting_down

from annotation_app import health
from annotation_app.celery import app
from annotation_app.log_format import LabelFreeFormatter


def test_the_product_is_the_current_application() -> None:
    assert current_app.main == app.main == "twinblind"


def test_a_workers_heart_beat_reaches_the_pages_and_ends_with_it() -> None:
    health.worker_left()
    heartbeat_sent.send(sender=None)
    assert health.worker_is_alive()
    worker_shutting_down.send(sender=None)
    assert not health.worker_is_alive()


def test_a_worker_logs_as_the_web_process_does() -> None:
    """Celery sets up its own formats, which print results, only where nobody answers this signal."""
    assert setup_logging.send(sender=None)
    formats = {type(handler.formatter) for handler in logging.getLogger().handlers if handler.formatter}
    assert LabelFreeFormatter in formats


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task_ignore_result", True),
        ("task_acks_late", False),
        ("worker_prefetch_multiplier", 1),
        ("worker_hijack_root_logger", False),
        ("accept_content", ["json"]),
    ],
)
def test_the_broker_only_wakes(name: str, value: object) -> None:
    assert getattr(app.conf, name) == value
    assert app.conf.result_backend is None
