"""What was promised can be taken outside, and the receipt of that comes back, once."""

import hashlib
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction

from blinding import verify
from blinding.models import Commitment, Event
from tests.annotation_app.conftest import anew
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(phase="coding", outputs=rows(tasks=1, per_task=3))


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def batch_of(study: StudyUnderTest) -> str:
    return str(Commitment.objects.get(study=study.study.pk).batch)


def test_the_file_is_what_the_verifier_reads(made: StudyUnderTest, tmp_path: Path) -> None:
    sent = made.api("project_author").get(made.url("commitments/"))
    assert sent.headers["Content-Disposition"] == 'attachment; filename="commitments.json"'
    (tmp_path / "commitments.json").write_bytes(sent.content)
    (batch,) = verify.read_commitments(verify.Bundle(tmp_path)).values()
    assert (batch.root, batch.count) == (Commitment.objects.get().merkle_root, 3)
    for label in (b"meadow", b"harbour", b"quartz", b"out-1", b"river"):
        assert label not in sent.content


def test_the_digest_is_that_of_the_manifest_s_bytes(made: StudyUnderTest) -> None:
    api = made.api("admin")
    (row,) = api.get(made.url("commitments/digests/")).json()
    content = api.get(made.url(f"commitments/{row['batch']}/")).content
    assert hashlib.sha256(content).hexdigest() == row["digest"]
    assert json.loads(content)["merkle_root"] == row["merkle_root"]


def test_a_receipt_is_attached_once_and_travels_with_the_manifest(
    made: StudyUnderTest, tmp_path: Path
) -> None:
    api, batch = made.api("project_author"), batch_of(made)
    (row,) = api.get(made.url("commitments/digests/")).json()
    url = made.url(f"commitments/{batch}/receipt/")

    def attach(**more: str) -> int:
        receipt = SimpleUploadedFile("stamp.tsr", b"a stamp from outside")
        return api.post(url, {"file": receipt, **more}, format="multipart").status_code

    assert attach(digest="0" * 64) == 400
    assert attach(digest=row["digest"]) == 201
    assert attach() == 409
    (tmp_path / "commitments.json").write_bytes(api.get(made.url("commitments/")).content)
    (read,) = verify.read_commitments(verify.Bundle(tmp_path)).values()
    assert read.manifest["receipts"][0]["digest"] == row["digest"]
    assert Event.objects.get(kind="receipt_attached").facts == {"digest": row["digest"]}
    with pytest.raises(IntegrityError), transaction.atomic():
        Commitment.objects.update(merkle_root="0" * 64)


def test_who_may_read_and_who_may_attach(made: StudyUnderTest) -> None:
    batch = batch_of(made)
    places = ["commitments/", "commitments/digests/", f"commitments/{batch}/"]
    for name, status in {
        "admin": 200,
        "project_author": 200,
        "monitor": 200,
        "primary_A": 404,
        "adjudicator": 404,
    }.items():
        assert {made.api(name).get(made.url(place)).status_code for place in places} == {status}
    for name in ("monitor", "primary_A"):
        receipt = SimpleUploadedFile("stamp.tsr", b"a stamp")
        sent = made.api(name).post(made.url(f"{places[2]}receipt/"), {"file": receipt}, format="multipart")
        assert sent.status_code == 404
