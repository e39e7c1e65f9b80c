"""An upload leaves no label behind: not its packages of metadata, not its name, not when it is refused or its import breaks."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from annotation_app.log_format import LabelFreeFormatter
from annotation_app.models import Batch
from blinding.models import SealedOutput, SealedTask, StudyKey
from tests.blinding.dumps.house import House, a_house
from tests.blinding.dumps.search import dump, forms, found_in
from tests.blinding.dumps.upload import an_upload
from tests.factories import jsonl

pytestmark = pytest.mark.django_db
STEPS = ("import", "release")
WHERE = ("the database", "pg_dump", "the broker", "the folders")
PLACES = [*(f"{place} after the {step}" for step in STEPS for place in WHERE), "the log"]


@pytest.fixture(scope="module")
def house(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    with a_house(django_db_blocker, tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.mark.parametrize("place", PLACES)
def test_no_sealed_word_is_found_in_any_form(house: House, place: str) -> None:
    if place.startswith("pg_dump") and not house.places[place]:
        pytest.skip("no pg_dump fits this server; the copy of every table is searched all the same")
    assert found_in(house.places[place], house.upload.sentinels) == []


def test_what_was_searched_is_what_there_is(house: House) -> None:
    """Or nothing was found because nothing was looked at."""
    shown = house.upload.rows[0]["text"][:40]
    for step in STEPS:
        assert found_in(house.places[f"the database after the {step}"], [shown]) == [shown]
    assert b"import_batch" in house.places["the database after the import"]
    assert b"celery" in house.places["the broker after the import"]


@pytest.mark.parametrize("form", sorted(forms("zqmarigold")))
def test_a_word_would_be_found_in_each_form(house: House, form: bytes) -> None:
    with connection.cursor() as cursor:
        text = "x" + form.decode("latin-1").replace("\0", "")
        cursor.execute("UPDATE annotation_app_batch SET name = %s", [text])
        cursor.execute("UPDATE blinding_studykey SET id_secret = %s", [b"\1" + form])
    assert found_in(dump(), ["zqmarigold"]) == ["zqmarigold"]


def test_a_word_in_a_comment_of_the_schema_would_be_found(house: House) -> None:
    with connection.cursor() as cursor:
        cursor.execute("COMMENT ON TABLE annotation_app_batch IS 'first: zqquince'")
    assert found_in(dump(), ["zqquince"]) == ["zqquince"]


def test_a_refused_upload_leaves_no_trace(house: House) -> None:
    rows = [row | {"output_id": row["output_id"] + "zqagain"} for row in an_upload().rows[:4]]
    wrong = [rows[0], rows[0], rows[1] | {"condition": ""}, rows[2] | {"model": 7}, rows[3] | {"text": None}]
    batch = house.study.import_batch(jsonl(wrong))
    assert (batch.status, len(batch.errors)) == (Batch.Status.REJECTED, 4)
    assert found_in(dump(), [*house.upload.sentinels, "zqagain"]) == []


def test_a_fault_that_quotes_a_row_leaves_no_trace(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the log, as the product writes it, nor in what the job says of it."""
    rows = [row | {"output_id": f"zqonce{number}"} for number, row in enumerate(an_upload().rows[:4])]
    caplog.handler.setFormatter(LabelFreeFormatter())
    with patch("blinding.redaction.finder.Finder.find", side_effect=ValueError(str(rows[0]))):
        batch = house.study.import_batch(jsonl(rows))
    assert batch.status == Batch.Status.FAILED
    assert "ValueError" in caplog.text
    assert found_in(caplog.text.encode() + dump(), [*house.upload.sentinels, "zqonce"]) == []


def test_no_stretch_of_what_the_server_holds_is_a_key(house: House, settings: Any) -> None:
    """Neither the web process nor a superuser of the database opens a box with what they can read."""
    key = StudyKey.objects.get(study=house.study.study.pk)
    held = [bytes(key.wrapped), bytes(key.id_secret), bytes(key.public_key), settings.SECRET_KEY.encode()]
    boxes = [bytes(SealedOutput.objects.all()[0].labels), bytes(SealedTask.objects.all()[0].box)]
    stretches = {part[i : i + 32] for part in held for i in range(len(part) - 31)}
    assert len(stretches) > 100
    for opener in (SealedBox(PrivateKey(stretch)) for stretch in stretches):
        for box in boxes:
            with pytest.raises(CryptoError):
                opener.decrypt(box)
