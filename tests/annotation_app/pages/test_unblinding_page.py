"""The ceremony in the browser: who may do what, what is refused, and that both passphrases are needed."""

from typing import Any

import pytest

from annotation_app.health import worker_left
from blinding.models import StudyKey, UnblindingRequest
from tests.annotation_app.ceremony import a_worker
from tests.annotation_app.pages.reading import HTMX, text_of
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, PASSWORD, StudyUnderTest, a_study, rows

REASON = "The analysis as registered."


def post(study: StudyUnderTest, role: str, do: str, **fields: str) -> Any:
    return study.client(role).post(study.page("unblinding/"), {"do": do, **fields})


def ask(study: StudyUnderTest, **fields: str) -> Any:
    sent = {"reason": REASON, "password": PASSWORD, "passphrase": AUTHOR_PASSPHRASE, **fields}
    return post(study, "project_author", "request", **sent)


def approve(study: StudyUnderTest, **fields: str) -> Any:
    sent = {"password": PASSWORD, "passphrase": ADMIN_PASSPHRASE, "confirmed": "on", **fields}
    return post(study, "admin", "approve", **sent)


def page(study: StudyUnderTest, role: str) -> str:
    return text_of(study.client(role).get(study.page("unblinding/")))


@pytest.mark.django_db
def test_before_the_lock_nothing_can_be_asked_for() -> None:
    study = a_study(phase="coding")
    assert "The data are not locked yet." in page(study, "project_author")
    assert "Only locked data can be unblinded." in text_of(ask(study), 409)


@pytest.mark.django_db
def test_the_project_author_asks_and_the_admin_reads_why() -> None:
    study = a_study(phase="locked", outputs=rows(tasks=1))
    assert ask(study).status_code == 302
    shown = page(study, "admin")
    assert REASON in shown
    assert "The whole study: 1 batch, 8 outputs" in shown
    assert "Open the seals" in shown
    assert "Open the seals" not in page(study, "project_author").split("1. Request")[1]
    assert "answer the request to unblind" in text_of(study.client("admin").get(study.page()))
    assert "waiting for the admin" in page(study, "monitor")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"reason": ""}, 422, "This field is required."),
        ({"password": "not mine at all"}, 409, "This is not the password of your account."),
        ({"passphrase": ADMIN_PASSPHRASE}, 409, "This is not the passphrase."),
    ],
)
def test_a_request_needs_a_reason_and_both_secrets(fields: dict[str, str], status: int, message: str) -> None:
    study = a_study(phase="locked")
    assert message in text_of(ask(study, **fields), status)
    assert StudyKey.objects.get().layers == 2
    assert not UnblindingRequest.objects.exists()


@pytest.mark.django_db
def test_after_a_few_wrong_passphrases_there_is_a_pause() -> None:
    study = a_study(phase="locked")
    for _ in range(5):
        ask(study, passphrase="quite another one")
    assert "5 wrong attempts." in text_of(ask(study), 429)


@pytest.mark.django_db
def test_a_request_is_taken_back_or_refused_and_the_key_has_both_layers_again() -> None:
    study = a_study(phase="locked")
    ask(study)
    assert ask(study).status_code == 409
    assert post(study, "project_author", "withdraw").status_code == 302
    assert "taken back" in page(study, "project_author")
    ask(study)
    assert post(study, "admin", "refuse", reason="Not yet.").status_code == 302
    assert "refused: Not yet." in page(study, "project_author")
    assert StudyKey.objects.get().layers == 2
    assert post(study, "admin", "refuse", reason="Again.").status_code == 409


@pytest.mark.django_db
def test_an_approval_is_confirmed_and_needs_a_worker() -> None:
    study = a_study(phase="locked")
    assert approve(study).status_code == 409
    ask(study)
    text_of(approve(study, confirmed=""), 422)
    worker_left()
    assert "No worker is running" in text_of(approve(study), 409)
    assert UnblindingRequest.objects.get().state == "requested"


@pytest.mark.django_db
def test_nobody_does_the_others_part() -> None:
    study = a_study(phase="locked")
    assert post(study, "admin", "request").status_code == 404
    ask(study)
    assert post(study, "project_author", "approve").status_code == 404
    for role in ("monitor", "primary_A"):
        for do in ("request", "approve", "withdraw", "refuse"):
            assert post(study, role, do).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_seals_are_opened_and_the_page_says_so() -> None:
    study = a_study(phase="locked", outputs=rows(tasks=1))
    ask(study)
    with a_worker():
        assert approve(study).status_code == 302
    assert study.study.phase == "unblinded"
    shown = page(study, "admin")
    assert "unblinded" in shown
    assert "not started" not in shown
    done = study.client("admin").get(study.page("unblinding/"), headers=HTMX)
    assert done["HX-Refresh"] == "true"
    assert "The study is unblinded" in text_of(study.client("project_author").get(study.page()))
