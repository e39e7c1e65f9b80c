"""The searches of a stolen copy can fail: every leak that is planted in what is stored is found. The rate is printed."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from nacl.bindings import sodium_pad
from redis import Redis

from annotation_app.models import StagedOutput
from annotation_app.services.batches import staging
from blinding import entropy, sealing
from blinding.models import SealedOutput
from tests.blinding.test_dump import (
    arms_by_output,
    everything,
    heap_order,
    hits,
    lengths_that_tell,
    outputs,
    p_of_order,
)
from tests.factories import StudyUnderTest, a_study
from tests.kill_rate import Plants

pytestmark = pytest.mark.django_db
STAGED, SEALED = ("annotation_app_stagedoutput", "id"), ("blinding_sealedoutput", "output")
KEPT_IN_BROKER = "twinblind:planted"


@dataclass(frozen=True)
class Stolen:
    """A copy of the machine after an import, and the arm of each output as only both passphrases tell it."""

    caplog: pytest.LogCaptureFixture
    arms: dict[Any, bool]


Search = Callable[[Stolen], bool]
Plant = Callable[[], Any]  # gives a context manager


def by_length(stolen: Stolen) -> bool:
    tables = ((StagedOutput, "id"), (SealedOutput, "output"))
    return any(lengths_that_tell(model, key, stolen.arms) for model, key in tables)


def by_order(stolen: Stolen) -> bool:
    """Where the rows lie on the disk."""
    return any(p_of_order(heap_order(*place, stolen.arms)) < 0.01 for place in (STAGED, SEALED))


def by_key(stolen: Stolen) -> bool:
    """What sorting by a table's own keys gives."""
    return any(p_of_order(key_order(*place, stolen.arms)) < 0.01 for place in (STAGED, SEALED))


def by_words(stolen: Stolen) -> bool:
    return hits(everything(stolen.caplog)) != []


SEARCHES: tuple[Search, ...] = (by_length, by_order, by_key, by_words)


def key_order(table: str, column: str, arms: dict[Any, bool]) -> list[bool]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT "{column}" FROM "{table}" ORDER BY id')
        return [arms[row[0]] for row in cursor.fetchall()]


def unpadded_boxes() -> Any:
    return patch.object(sealing, "pad_to", lambda data, size: sodium_pad(data, 1))


def serial_keys() -> Any:
    def in_series(purpose: str, batch: UUID, n: int) -> list[UUID]:
        start = int.from_bytes(purpose.encode()[:1] + bytes(15), "big")
        return [UUID(int=start + number, version=4) for number in range(n)]

    return patch.object(staging, "_keys", in_series)


def order_of_the_file() -> Any:
    return patch.object(staging, "_INTO_TABLES", staging._INTO_TABLES.replace("ORDER BY id", ""))


def upload_kept() -> Any:
    return patch.object(Path, "unlink", lambda path, missing_ok=False: None)


def labels_in_the_summary() -> Any:
    summary = staging.Staging.summary
    return patch.object(
        staging.Staging,
        "summary",
        lambda self: summary(self) | {"arms": sorted(self._checked.labels["model"])},
    )


def row_in_a_debug_line() -> Any:
    def take(row: Any) -> dict[str, Any]:
        logging.getLogger("annotation_app").debug("sealing %s", row.condition)
        return fields(row)

    fields = staging.sealed_fields
    return patch.object(staging, "sealed_fields", take)


def label_in_the_broker() -> Any:
    def take(row: Any) -> dict[str, Any]:
        with Redis.from_url(settings.REDIS_URL) as broker:
            broker.set(KEPT_IN_BROKER, row.condition)
        return fields(row)

    fields = staging.sealed_fields
    return patch.object(staging, "sealed_fields", take)


PLANTED: dict[str, tuple[Plant, Search]] = {
    "boxes without padding": (unpadded_boxes, by_length),
    "serial keys": (serial_keys, by_key),
    "rows in the order of the file": (order_of_the_file, by_order),
    "an upload that is kept": (upload_kept, by_words),
    "labels in a batch's summary": (labels_in_the_summary, by_words),
    "a label in a line of the log": (row_in_a_debug_line, by_words),
    "a label in the broker": (label_in_the_broker, by_words),
}


@pytest.fixture
def study() -> Iterator[StudyUnderTest]:
    folder = Path(settings.TWINBLIND_UPLOADS)
    before = set(folder.glob("*"))
    with entropy.replayed(b"another fixed history"):
        yield a_study(phase="coding")
    with Redis.from_url(settings.REDIS_URL) as broker:
        broker.delete(KEPT_IN_BROKER)
    for path in set(folder.glob("*")) - before:
        path.unlink()


@pytest.mark.parametrize("name", PLANTED)
def test_a_leak_in_what_is_stored_is_found(
    study: StudyUnderTest, caplog: pytest.LogCaptureFixture, plants: Plants, name: str
) -> None:
    plants("in what is stored")
    plant, search = PLANTED[name]
    with plant():
        stolen = imported(study, caplog)
    assert search(stolen)


def test_nothing_is_found_where_nothing_was_planted(
    study: StudyUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    stolen = imported(study, caplog)
    assert [search.__name__ for search in SEARCHES if search(stolen)] == []


def imported(study: StudyUnderTest, caplog: pytest.LogCaptureFixture) -> Stolen:
    caplog.set_level(logging.DEBUG)
    batch = study.import_batch(outputs())
    assert batch.status == "in_review", batch.errors
    return Stolen(caplog, arms_by_output(study))
