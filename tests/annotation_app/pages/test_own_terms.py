"""A term that the admin adds at review: counted first, masked at release, taken out again; by page and by program."""

import re
from typing import Any

import pytest

from annotation_app.models import Batch, Finding, Output, StagedOutput
from blinding.models import Event
from tests.annotation_app.pages.reading import HTMX, text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


def reviewed() -> tuple[StudyUnderTest, Batch]:
    """A batch in which two outputs name a lab, one of them twice, one beside a term of the lexicon."""
    study = a_study(phase="coding")
    given = rows()
    given[0]["text"] = "At Kestrel Labs we say: ask kestrel-labs."
    given[5]["text"] = "ChatGPT was not made by Kestrel Labs."
    return study, study.import_batch(given)


def send(study: StudyUnderTest, batch: Batch, do: str, term: str = "kestrel labs", **more: Any) -> Any:
    sent = {"do": do, "term": term, "reason": "The lab that made one of them.", **more}
    return study.client("admin").post(study.page(f"batches/{batch.pk}/finding/"), sent)


def spans(batch: Batch) -> list[list[list[int]]]:
    return [staged.spans for staged in StagedOutput.objects.filter(batch=batch).order_by("pk")]


def test_a_term_is_counted_and_shown_in_context_before_anything_changes() -> None:
    study, batch = reviewed()
    before = spans(batch)
    page = text_of(send(study, batch, "preview", reason=""))
    assert "kestrel labs stands in 3 places. 2 outputs have it. Nothing is changed yet." in page
    assert "ChatGPT was not made by Kestrel Labs . …" in page
    assert "meadow" not in page
    assert spans(batch) == before
    assert not Finding.objects.filter(kind="own").exists()
    assert not Event.objects.filter(kind="term_added").exists()


def test_a_term_is_added_reviewed_like_others_and_masked_at_release() -> None:
    study, batch = reviewed()
    assert send(study, batch, "add").status_code == 302
    finding = Finding.objects.get(kind="own")
    assert (finding.term, finding.count, finding.outputs, finding.accepted) == ("kestrel labs", 3, 2, True)
    assert finding.reason == "The lab that made one of them."
    page = text_of(study.client("admin").get(study.page(f"batches/{batch.pk}/")))
    assert "kestrel labs added at review The lab that made one of them. 3 in 2" in page
    study.release(batch)
    texts = set(Output.objects.filter(batch=batch).values_list("text", "masks"))
    assert ("At [name removed] we say: ask [name removed].", 2) in texts
    assert ("[name removed] was not made by [name removed].", 2) in texts


def test_a_term_that_is_kept_after_all_is_not_masked() -> None:
    study, batch = reviewed()
    send(study, batch, "add")
    address = study.page(f"batches/{batch.pk}/finding/")
    study.client("admin").post(address, {"term": "kestrel labs", "kind": "own", "accepted": "false"})
    study.release(batch)
    assert Output.objects.filter(batch=batch, text__contains="Kestrel Labs").count() == 2


def test_a_term_is_taken_out_and_nothing_of_it_is_left() -> None:
    study, batch = reviewed()
    before = spans(batch)
    send(study, batch, "add")
    assert spans(batch) != before
    part = study.client("admin").post(
        study.page(f"batches/{batch.pk}/finding/"), {"do": "remove", "term": "kestrel labs"}, headers=HTMX
    )
    assert part["HX-Refresh"] == "true"
    assert spans(batch) == before
    assert not Finding.objects.filter(kind="own").exists()
    assert send(study, batch, "add").status_code == 302  # a second thought


def test_a_term_of_the_redaction_is_not_taken_out() -> None:
    study, batch = reviewed()
    assert send(study, batch, "remove", "ChatGPT").status_code == 404
    assert Finding.objects.filter(term="ChatGPT").exists()


@pytest.mark.parametrize(
    ("term", "reason", "message"),
    [
        ("", "Why not.", "Term to mask : This field is required."),
        ("kestrel", " ", "Reason to mask it : This field is required."),
        ("x", "Why not.", "less would stand everywhere"),
        ("x" * 201, "Why not.", "at most 200 characters"),
        ("puffin", "Why not.", "No text of this batch has this term."),
    ],
)
def test_what_cannot_be_added_says_why_and_is_kept_in_the_form(term: str, reason: str, message: str) -> None:
    study, batch = reviewed()
    answer = send(study, batch, "add", term, reason=reason)
    assert message in text_of(answer, 422)
    assert f'value="{term}"' in answer.content.decode()
    assert not Finding.objects.filter(kind="own").exists()


def test_a_term_is_added_once() -> None:
    study, batch = reviewed()
    send(study, batch, "add")
    assert "This term is in the list already." in text_of(send(study, batch, "add"), 422)
    assert Finding.objects.filter(kind="own").count() == 1


def test_after_the_review_no_term_is_added_or_taken_out() -> None:
    study, batch = reviewed()
    send(study, batch, "add")
    study.release(batch)
    for do in ("preview", "add", "remove"):
        assert send(study, batch, do).status_code == 409


def test_the_log_says_that_a_term_was_added_and_not_which() -> None:
    study, batch = reviewed()
    send(study, batch, "add")
    subject = Finding.objects.get(kind="own").pk
    send(study, batch, "remove")
    for kind in ("term_added", "term_removed"):
        event = Event.objects.get(kind=kind)
        assert (event.actor, event.subject, event.facts) == (study["admin"].pk, subject, {})


def test_another_studys_admin_and_other_roles_find_nothing() -> None:
    study, batch = reviewed()
    other = a_study("hillside")
    sent = {"do": "add", "term": "kestrel", "reason": "Why not."}
    assert other.client("admin").post(other.page(f"batches/{batch.pk}/finding/"), sent).status_code == 404
    for role in ("project_author", "primary_A", "adjudicator", "monitor"):
        assert study.client(role).post(study.page(f"batches/{batch.pk}/finding/"), sent).status_code == 404
    assert not Finding.objects.filter(kind="own").exists()


def test_programs_look_add_and_take_out() -> None:
    study, batch = reviewed()
    program, address = study.api("admin"), study.url(f"batches/{batch.pk}/findings/")
    seen = program.post(address, {"term": "kestrel labs", "preview": True}, format="json")
    assert (seen.status_code, seen.json()["count"], seen.json()["outputs"]) == (200, 3, 2)
    assert (
        program.post(address, {"term": "kestrel labs"}, format="json").status_code == 400
    )  # without a reason
    added = program.post(address, {"term": "kestrel labs", "reason": "The lab."}, format="json")
    assert (added.status_code, added.json()["kind"], added.json()["accepted"]) == (201, "own", True)
    assert added.json() in program.get(address).json()
    kept = program.patch(address, {"term": "kestrel labs", "kind": "own", "accepted": False}, format="json")
    assert kept.json()["accepted"] is False
    assert program.delete(address, {"term": "kestrel labs"}, format="json").status_code == 204
    assert program.delete(address, {"term": "kestrel labs"}, format="json").status_code == 404


def test_its_reason_and_the_one_for_the_release_are_two_fields() -> None:
    study = a_study(phase="coding")
    batch = study.import_batch([row | {"condition": "inland", "model": "tin"} for row in rows()])
    page = study.client("admin").get(study.page(f"batches/{batch.pk}/")).content.decode()
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert {"id_reason", "own-reason"} <= set(ids)
    assert len(ids) == len(set(ids))
