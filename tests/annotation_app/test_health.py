import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from annotation_app import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_worker() -> None:
    health.worker_left()


def test_everything_is_well_when_a_worker_beats(client: Client) -> None:
    health.worker_beat()
    response = client.get("/health/")
    assert response.status_code == 200
    assert response.json() == dict.fromkeys(["database", "broker", "worker", "migrations"], "ok")
    assert "no-store" in response["Cache-Control"]


def test_no_worker_is_told(client: Client) -> None:
    response = client.get("/health/")
    assert (response.status_code, response.json()["worker"]) == (503, "failing")
    assert health.worker_is_alive() is False


def test_a_worker_that_left_is_missed_at_once() -> None:
    health.worker_beat()
    assert health.worker_is_alive() is True
    health.worker_left()
    assert health.worker_is_alive() is False


def test_a_beat_ends_by_itself() -> None:
    health.worker_beat()
    assert 0 < health.broker().ttl(health.WORKER_KEY) <= 10


def test_an_unapplied_migration_is_told(client: Client) -> None:
    health.worker_beat()
    MigrationRecorder(connection).record_unapplied("sessions", "0001_initial")
    response = client.get("/health/")
    assert response.status_code == 503
    assert [name for name, state in response.json().items() if state != "ok"] == ["migrations"]
