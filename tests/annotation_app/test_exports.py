"""Records leave in pages, whole and once each, whatever the size of a page."""

import json
from typing import Any

import orjson
import pytest

from annotation_app.models import Assignment, Record
from annotation_app.record_schema import check_record
from annotation_app.record_schema.context import RecordContext
from annotation_app.services import exports
from annotation_app.services.exports import count_records, record_lines
from annotation_app.services.forms import schema_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(phase="locked", outputs=rows(3, 4))


@pytest.mark.parametrize("page", [1, 5, 24, 5_000])
def test_every_record_is_there_once_in_the_order_of_its_id(
    shared: StudyUnderTest, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE", page)
    chunks = list(record_lines(shared.study))
    assert all(chunk.endswith(b"\n") for chunk in chunks if chunk)
    found = [json.loads(line)["record_id"] for line in b"".join(chunks).splitlines()]
    wanted = Assignment.objects.filter(record_id__isnull=False, slot__in=["A", "B"]).values_list(
        "record_id", flat=True
    )
    assert found == sorted(str(record_id) for record_id in wanted)
    assert len(found) == count_records(shared.study) == 24


def test_lines_are_what_each_record_alone_would_be() -> None:
    tricky: list[dict[str, Any]] = [
        {"a": "x,\n,y", "b": orjson.Fragment('{"c": ",\\n,"}')},
        {"a": "[,\n]"},
        {},
        {"a": None},
    ]
    assert exports._lines(tricky) == b"".join(orjson.dumps(record) + b"\n" for record in tricky)
    assert exports._lines([]) == b""


def test_a_download_that_is_broken_off_leaves_the_connection_usable(
    shared: StudyUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE", 1)
    lines = record_lines(shared.study)
    next(lines)
    lines.close()  # type: ignore[attr-defined]
    assert Record.objects.count() == 24


def test_every_line_is_a_record_of_the_schema_in_its_order(shared: StudyUnderTest) -> None:
    schema = schema_of(shared.study)
    for line in b"".join(record_lines(shared.study)).splitlines():
        record = json.loads(line)
        control = record["gold_class_match"] != [] or record["task_id"] == "task-3"
        context = RecordContext(
            clusters=("C1", "C2"),
            proposed_cluster=None,
            positive_control=control,
            classes=("left bank", "right bank"),
        )
        assert check_record(schema, record, context) == []
        assert list(record) == [name for name in schema.document["properties"] if name in record]
