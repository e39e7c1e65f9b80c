from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation_app.models import Batch
from annotation_app.services.commitments import commitments_of, published_commitments
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


def attach(study: StudyUnderTest, receipt: bytes = b"stamped", **fields: str) -> Any:
    given = {"batch": str(Batch.objects.get().pk), "file": SimpleUploadedFile("r.tsr", receipt), **fields}
    return study.client("project_author").post(study.page("evidence/"), given)


def test_a_study_without_a_release_says_that_nothing_is_committed_to() -> None:
    study = a_study()
    assert "Nothing is committed to yet" in text_of(study.client("monitor").get(study.page("evidence/")))


def test_a_receipt_is_attached_once_and_goes_with_the_commitments() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1))
    digest = commitments_of(membership=study["monitor"])[0].digest
    before = body_of(study.client("project_author").get(study.page("evidence/")))
    assert digest in before
    assert "Attach a receipt" in before
    assert attach(study, digest=digest.upper()).status_code == 302
    assert published_commitments(membership=study["monitor"])["batches"][0]["receipts"][0]["digest"] == digest
    after = text_of(study.client("project_author").get(study.page("evidence/")))
    assert "The receipt is attached." in after
    assert "Attach a receipt" not in after
    again = attach(study)
    assert "A receipt is attached to this commitment already." in text_of(again, 409)


def test_a_receipt_for_another_file_is_refused_beside_the_digest() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1))
    assert "This receipt is for another file" in text_of(attach(study, digest="0" * 64), 422)
    assert attach(study, receipt=b"").status_code == 422


def test_the_policy_is_shown_with_its_evidence_once_the_records_are_locked() -> None:
    coding = a_study("hillside", phase="coding", outputs=rows(tasks=1))
    assert "once the records are locked" in text_of(coding.client("monitor").get(coding.page("evidence/")))
    study = a_study(phase="locked", outputs=rows(tasks=1))
    for role in ("admin", "project_author", "monitor"):
        shown = body_of(study.client(role).get(study.page("evidence/")))
        assert "conditions_randomized_before_annotation: true" in shown
        assert "tests/blinding/test_allocation.py" in shown
