"""The key page: the second half, a changed passphrase, the recovery sheet that is shown once."""

from typing import Any

import pytest

from annotation_app.pages.keys import PROOFS
from annotation_app.services.keys import key_is_complete
from blinding.models import StudyKey
from tests.annotation_app.pages.reading import text_of
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, StudyUnderTest, a_study

pytestmark = pytest.mark.django_db

NEW = "twelve acorns under snow"


def half_open(study: StudyUnderTest) -> StudyUnderTest:
    """Take the project author's layer off, as if it had never been added."""
    from blinding import sealing

    key = StudyKey.objects.get(study=study.study.pk)
    key.wrapped, key.layers = sealing.open_outer(bytes(key.wrapped), AUTHOR_PASSPHRASE), 1
    key.save()
    return study


def post(study: StudyUnderTest, role: str, act: str, **fields: str) -> Any:
    return study.client(role).post(study.page("key/"), {"do": act, **fields})


def test_the_project_author_adds_a_half_and_sees_the_sheet_once() -> None:
    study = half_open(a_study())
    page = study.client("project_author").get(study.page("key/"))
    assert "missing: coding cannot begin" in text_of(page)
    sheet = text_of(post(study, "project_author", "add", passphrase=NEW, passphrase_again=NEW))
    assert "Print this sheet and lock it away" in sheet
    assert NEW not in sheet
    assert key_is_complete(study["project_author"])
    assert "It lies around the admin’s half." in text_of(study.client("admin").get(study.page("key/")))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"passphrase": NEW, "passphrase_again": "another"}, "The two do not match."),
        ({"passphrase": "short", "passphrase_again": "short"}, "at least 10 characters"),
    ],
)
def test_a_passphrase_is_typed_twice_and_long(fields: dict[str, str], message: str) -> None:
    study = half_open(a_study())
    assert message in text_of(post(study, "project_author", "add", **fields), 422)
    assert not key_is_complete(study["project_author"])


def test_a_second_half_is_added_once() -> None:
    study = a_study()
    page = text_of(post(study, "project_author", "add", passphrase=NEW, passphrase_again=NEW), 409)
    assert "in place already" in page


def test_the_admin_adds_no_second_half() -> None:
    study = half_open(a_study())
    assert post(study, "admin", "add", passphrase=NEW, passphrase_again=NEW).status_code == 404


def test_the_project_author_changes_the_passphrase() -> None:
    study = a_study()
    sent = {"old": AUTHOR_PASSPHRASE, "new": NEW, "new_again": NEW}
    assert post(study, "project_author", "change", **sent).status_code == 302
    assert "not the passphrase" in text_of(post(study, "project_author", "change", **sent), 409)


def test_the_recovery_sheet_stands_in_for_a_lost_passphrase() -> None:
    study = a_study()
    sent = {"code": study.recovery_sheets["project_author"], "new": NEW, "new_again": NEW}
    assert post(study, "project_author", "recover", **sent).status_code == 302
    changed = post(study, "project_author", "change", old=NEW, new=NEW, new_again=NEW)
    assert changed.status_code == 302


def test_the_admin_needs_the_other_half_once_it_is_there() -> None:
    study = a_study()
    sent = {"old": ADMIN_PASSPHRASE, "new": NEW, "new_again": NEW}
    assert "passphrase is needed as well" in text_of(post(study, "admin", "change", **sent), 409)
    assert post(study, "admin", "change", **sent, partner=AUTHOR_PASSPHRASE).status_code == 302


@pytest.mark.parametrize("act", PROOFS)
def test_a_renewal_needs_a_proof(act: str) -> None:
    study = a_study()
    assert "This field is required." in text_of(
        post(study, "project_author", act, new=NEW, new_again=NEW), 422
    )
