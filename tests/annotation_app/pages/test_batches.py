"""The admin's batches: upload, errors, review, release, discard."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation_app.health import worker_beat, worker_left
from annotation_app.models import Batch, Finding
from annotation_app.pages.batches import read_renames
from tests.annotation_app.pages.reading import HTMX, body_of, text_of
from tests.factories import StudyUnderTest, a_study, jsonl, rows, run_jobs

pytestmark = pytest.mark.django_db


def upload(study: StudyUnderTest, content: bytes, headers: Any = None, **fields: Any) -> Any:
    sent = {"name": "Spring", "purpose": "main", "mapping": "", **fields}
    file = SimpleUploadedFile("outputs.jsonl", content)
    return study.client("admin").post(study.page("batches/"), {**sent, "file": file}, headers=headers)


def test_an_upload_leads_to_the_page_of_its_batch() -> None:
    study = a_study()
    answer = upload(study, jsonl(rows()))
    assert answer["Location"] == study.page(f"batches/{study.study.batches.get().pk}/")


def test_a_script_is_told_where_the_batch_is() -> None:
    study = a_study()
    answer = upload(study, jsonl(rows()), headers=HTMX)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == study.page(f"batches/{study.study.batches.get().pk}/")


def test_columns_are_renamed_as_written() -> None:
    study = a_study()
    renamed = [
        {("generator" if name == "model" else name): value for name, value in row.items()} for row in rows()
    ]
    upload(study, jsonl(renamed), mapping="generator = model")
    run_jobs()
    assert study.study.batches.get().status == Batch.Status.IN_REVIEW


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", {}),
        ("generator = model", {"generator": "model"}),
        (" a=model , b = condition,", {"a": "model", "b": "condition"}),
    ],
)
def test_renames_are_pairs_with_commas(text: str, read: dict[str, str]) -> None:
    assert read_renames(text) == read


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mapping": "generator"}, "Write pairs such as"),
        ({"mapping": "generator = nonsense"}, "nonsense"),
        ({"mapping": "a = model, a = condition"}, "is renamed twice"),
        ({"name": "positive control"}, "would tell what is compared"),
    ],
)
def test_an_upload_that_cannot_be_taken_says_why_in_the_form(fields: dict[str, str], message: str) -> None:
    study = a_study()
    assert message in text_of(upload(study, jsonl(rows()), **fields), 422)
    assert message in text_of(upload(study, jsonl(rows()), headers=HTMX, **fields), 422)
    assert not study.study.batches.exists()


def test_an_upload_after_coding_is_closed_is_refused() -> None:
    study = a_study(phase="coding")
    study.to("review")
    assert "Coding is closed" in text_of(upload(study, jsonl(rows())), 409)


def test_a_rejected_batch_lists_its_errors_without_a_sealed_value() -> None:
    study = a_study()
    bad = rows()
    bad[3]["text"] = ""
    bad[5]["condition"] = 7
    batch = study.import_batch(bad)
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    assert "Nothing was imported" in page
    assert "2 errors" in page
    assert "empty_text" in page
    assert "meadow" not in page


def test_a_batch_nobody_works_on_says_so() -> None:
    study = a_study()
    upload(study, jsonl(rows()))
    batch = study.study.batches.get()
    worker_left()
    assert "No worker is running." in text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    worker_beat()
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    worker_left()
    assert "No worker is running." not in page


def test_the_bar_is_a_part_of_the_page_until_the_job_has_ended() -> None:
    study = a_study()
    upload(study, jsonl(rows()))
    address = study.page(f"batches/{study.study.batches.get().pk}/progress/")
    client = study.client("admin")
    part = client.get(address, headers=HTMX)
    assert "<progress" in body_of(part)
    assert "<html" not in body_of(part)
    assert client.get(address).status_code == 302
    run_jobs()
    assert client.get(address, headers=HTMX)["HX-Refresh"] == "true"


def test_a_term_is_masked_or_kept_by_its_buttons() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch(rows())
    client, address = study.client("admin"), study.page(f"batches/{batch.pk}/finding/")
    term = Finding.objects.get(batch=batch, kind="lexicon")
    sent = {"term": term.term, "kind": "lexicon", "accepted": "false"}
    part = client.post(address, sent, headers=HTMX)
    assert body_of(part).lstrip().startswith("<form")
    assert "by default" not in text_of(part)
    assert not Finding.objects.get(pk=term.pk).accepted
    plain = client.post(address, sent | {"accepted": "true"})
    assert plain["Location"] == study.page(f"batches/{batch.pk}/")
    assert Finding.objects.get(pk=term.pk).accepted


def test_an_unknown_term_is_absent_and_a_decision_needs_a_value() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch(rows())
    client, address = study.client("admin"), study.page(f"batches/{batch.pk}/finding/")
    assert client.post(address, {"term": "nobody", "accepted": "true"}).status_code == 404
    assert client.post(address, {"term": "ChatGPT", "accepted": "perhaps"}).status_code == 400


def test_the_review_shows_terms_in_context_and_no_label_beside_them() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch(rows())
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    assert "ChatGPT lexicon 1 in 1" in page
    assert "Release 24 outputs" in page
    for label in ("meadow", "harbour", "quartz-1", "tides", "kappa-0", "out-1-1"):
        assert label not in page


def test_the_page_says_what_becomes_of_each_column() -> None:
    study = a_study()
    batch = study.import_batch([row | {"prompt": "You are in the arm meadow."} for row in rows()])
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    assert "Shown to coders text , task_statement" in page
    assert "Shown as a random code task_id , auto_cluster_id" in page
    assert "prompt A column that the product does not know is sealed." in page
    assert "You are in the arm" not in page


def test_a_rejected_file_says_which_columns_it_has() -> None:
    study = a_study()
    batch = study.import_batch([{"output_id": "out-1", "tekst": "It rains."}])
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    assert "Nothing was imported" in page
    assert "Sealed output_id , tekst" in page


def test_a_release_needs_the_list_of_terms_confirmed() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch(rows())
    client, address = study.client("admin"), study.page(f"batches/{batch.pk}/release/")
    text_of(client.post(address), 422)
    client.post(address, {"confirmed": "on"})
    run_jobs()
    page = text_of(client.get(study.page(f"batches/{batch.pk}/")))
    assert "Root over 24 salted leaves" in page


def test_a_release_before_coding_is_refused_in_the_form() -> None:
    study = a_study()
    batch = study.import_batch(rows())
    answer = study.client("admin").post(study.page(f"batches/{batch.pk}/release/"), {"confirmed": "on"})
    assert "once the project author has opened coding" in text_of(answer, 409)


def test_a_batch_with_one_arm_is_released_with_a_reason_only() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch([row | {"condition": "meadow", "model": "quartz-1"} for row in rows()])
    client, address = study.client("admin"), study.page(f"batches/{batch.pk}/release/")
    text_of(client.post(address, {"confirmed": "on"}), 422)
    assert client.post(address, {"confirmed": "on", "reason": "Only this arm exists."}).status_code == 302


def test_the_commitment_of_a_released_batch_is_downloaded() -> None:
    study = a_study(phase="coding", outputs=rows())
    batch = study.study.batches.get()
    client = study.client("admin")
    manifest = client.get(study.page(f"batches/{batch.pk}/commitment/")).json()
    assert manifest["leaf_count"] == 24
    assert manifest["merkle_root"] in text_of(client.get(study.page(f"batches/{batch.pk}/")))


def test_a_batch_is_discarded_and_a_released_one_stays() -> None:
    study = a_study(phase="coding", outputs=rows())
    released = study.study.batches.get()
    other = study.import_batch([_renamed(row) for row in rows(tasks=1)])
    client = study.client("admin")
    assert client.post(study.page(f"batches/{other.pk}/"), {"do": "discard"}).status_code == 302
    other.refresh_from_db()
    assert other.status == Batch.Status.DISCARDED
    assert client.post(study.page(f"batches/{released.pk}/"), {"do": "discard"}).status_code == 409


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"output_id": f"other {row['output_id']}", "task_id": f"other {row['task_id']}"}


def test_a_batch_of_another_study_is_absent() -> None:
    mine, other = a_study("riverside", phase="coding"), a_study("hillside", phase="coding")
    batch = other.import_batch(rows())
    for rest in ("", "progress/", "commitment/"):
        assert mine.client("admin").get(mine.page(f"batches/{batch.pk}/{rest}")).status_code == 404
    for rest in ("finding/", "release/"):
        sent = {"term": "ChatGPT", "accepted": "true", "confirmed": "on"}
        assert mine.client("admin").post(mine.page(f"batches/{batch.pk}/{rest}"), sent).status_code == 404
