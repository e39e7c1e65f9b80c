"""The event log for the monitor; records and bundles for the project author."""

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest

from annotation_app.models import ExportFile
from annotation_app.pages.event_words import KINDS, facts_in_words
from blinding import clock
from blinding.event_blocks import close_all_blocks
from blinding.models import Event
from tests.annotation_app.pages.reading import HTMX, body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows, run_jobs

pytestmark = pytest.mark.django_db


def events(study: StudyUnderTest, query: str = "") -> str:
    return text_of(study.client("monitor").get(study.page(f"events/{query}")))


def verify(study: StudyUnderTest, head: str = "") -> str:
    return text_of(study.client("monitor").post(study.page("events/"), {"do": "verify", "head": head}))


def streamed(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_the_log_is_told_in_words_with_pseudonyms() -> None:
    study = a_study(phase="coding")
    page = events(study)
    assert "Coding opened reason: A reason for the log." in page
    assert f"{study['project_author'].alias}, Project author" in page
    assert study.names["project_author"] not in page


def test_every_kind_of_event_that_a_study_has_seen_has_words() -> None:
    a_study(phase="locked", outputs=rows(tasks=1))
    assert set(Event.objects.values_list("kind", flat=True)) <= KINDS.keys()


def test_facts_are_told_in_a_line_and_hashes_cut() -> None:
    facts = {"reason": "done", "rows": 3, "deviation": False, "hash": "ab" * 32, "roots": {}, "empty": ""}
    assert facts_in_words(facts) == "reason: done, rows: 3, deviation: no, hash: abababababababab…"


def test_the_log_is_read_in_pages() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=8))
    study.code_all("primary_A"), study.code_all("primary_B")
    page = body_of(study.client("monitor").get(study.page("events/")))
    older = page.split('href="?before=')[1].split('"')[0]
    assert "Study made" not in page
    assert "Newer" in events(study, f"?before={older}")
    assert study.client("monitor").get(study.page("events/?before=nonsense")).status_code == 400


def test_the_chain_is_verified_and_a_hash_noted_earlier_counts() -> None:
    study = a_study(phase="coding")
    close_all_blocks()
    head = body_of(study.client("monitor").get(study.page("events/"))).split('class="hash">')[1][:64]
    assert "Nothing was altered." in verify(study)
    assert "Nothing was altered." in verify(study, head)
    assert "The log does not verify." in verify(study, "ab" * 32)
    typed = study.client("monitor").post(study.page("events/"), {"do": "verify", "head": "abc"})
    assert "A block’s hash is 64 letters" in text_of(typed, 422)
    assert 'value="abc"' in body_of(typed)


def test_before_the_lock_nothing_is_exported_and_the_page_says_so() -> None:
    study = a_study(phase="coding")
    page = text_of(study.client("project_author").get(study.page("exports/")), 409)
    assert "Records are exported once the data are locked." in page
    answer = study.client("project_author").post(study.page("exports/"), {"do": "bundle"})
    assert answer.status_code == 409


def test_records_are_downloaded_as_lines() -> None:
    study = a_study(phase="locked", outputs=rows())
    client = study.client("project_author")
    page = text_of(client.get(study.page("exports/")))
    assert "48 records" in page
    assert study.study.dataset_hash in page
    with clock.frozen_at(datetime(2031, 5, 5, 23, 30, tzinfo=UTC)):
        answer = client.get(study.page("exports/records.jsonl"))
    assert answer["Content-Disposition"] == 'attachment; filename="riverside-2031-05-05-records.jsonl"'
    lines = streamed(answer).splitlines()
    assert len({json.loads(line)["record_id"] for line in lines}) == 48


def test_a_bundle_is_built_by_a_job_and_offered_once_it_is_whole() -> None:
    study = a_study(phase="locked", outputs=rows(tasks=1))
    client, address = study.client("project_author"), study.page("exports/")
    assert client.post(address, {"do": "bundle"}).status_code == 302
    waiting = client.get(address, headers=HTMX)
    assert "every 2s" in body_of(waiting)
    assert "No worker is running." in text_of(waiting)
    file = ExportFile.objects.get()
    assert client.get(study.page(f"exports/{file.pk}/bundle.zip")).status_code == 409
    run_jobs()
    ready = client.get(address, headers=HTMX)
    assert "every 2s" not in body_of(ready)
    assert "Bundle of" in text_of(ready)
    ExportFile.objects.update(ready_at=datetime(2031, 5, 5, 23, 30, tzinfo=UTC))
    sent = client.get(study.page(f"exports/{file.pk}/bundle.zip"))
    assert sent["Content-Disposition"] == 'attachment; filename="riverside-2031-05-05-bundle.zip"'
    content = streamed(sent)
    assert "manifest.json" in ZipFile(BytesIO(content)).namelist()


def test_an_export_is_the_project_authors_and_of_the_own_study() -> None:
    study, other = a_study("riverside", phase="locked"), a_study("hillside", phase="locked")
    other.client("project_author").post(other.page("exports/"), {"do": "bundle"})
    run_jobs()
    file = ExportFile.objects.get()
    assert study.client("project_author").get(study.page(f"exports/{file.pk}/bundle.zip")).status_code == 404
    assert study.client("admin").post(study.page("exports/"), {"do": "bundle"}).status_code == 404
    assert study.client("project_author").post(study.page("exports/"), {"do": "nothing"}).status_code == 404
