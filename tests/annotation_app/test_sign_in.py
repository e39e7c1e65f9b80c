"""The brake on guessing passwords, at the page and at the interface; what another password ends."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from knox.models import AuthToken

from annotation_app.services import sign_in
from blinding import clock
from tests.annotation_app.pages.reading import text_of
from tests.factories import PASSWORD, a_study, an_account, with_token

pytestmark = pytest.mark.django_db

TOKEN = "/api/v1/auth/token/"
ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}


def ask_token(name: str, password: str, **where: str) -> Any:
    body = {"username": name, "password": password}
    return Client().post(TOKEN, body, content_type="application/json", **where)  # type: ignore[arg-type]


def ask_page(name: str, password: str) -> Any:
    return Client().post("/sign-in/", {"username": name, "password": password})


@pytest.mark.parametrize("name", ["vera", "nobody-of-that-name"])
@pytest.mark.parametrize(("ask", "wrong"), [(ask_token, 401), (ask_page, 422)])
def test_after_five_wrong_passwords_for_a_name_there_is_a_pause_for_all(
    name: str, ask: Any, wrong: int
) -> None:
    an_account("vera")
    with clock.frozen_at(clock.now()) as later:
        assert {ask(name, f"wrong {n}").status_code for n in range(5)} == {wrong}
        later(timedelta(minutes=4))
        for paused in (ask_token(name, PASSWORD), ask_page(name, PASSWORD), ask_page(name, "wrong")):
            assert paused.status_code == 429
            assert paused.headers["Retry-After"] == "360"
        assert "Wait 6 minutes" in text_of(ask_page(name, PASSWORD), 429)
        assert ask_token(name, PASSWORD).json()["code"] == "too_often"
        later(timedelta(minutes=6))
        assert ask_token(name, PASSWORD).status_code == (200 if name == "vera" else 401)


def test_a_right_password_clears_the_name_and_others_are_not_held_up() -> None:
    an_account("vera"), an_account("tim")
    for _round in range(3):
        assert {ask_page("vera", "wrong").status_code for _n in range(4)} == {422}
        assert ask_page("vera", PASSWORD).status_code == 302
    assert {ask_page("vera", "wrong").status_code for _n in range(5)} == {422}
    assert ask_page("tim", PASSWORD).status_code == 302


def test_an_address_may_be_wrong_more_often_over_all_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "PER_ADDRESS", 7)
    an_account("vera")
    assert {ask_token(f"name-{n}", "wrong").status_code for n in range(7)} == {401}
    assert ask_token("vera", PASSWORD).status_code == 429
    assert ask_token("vera", PASSWORD, **ELSEWHERE).status_code == 200


def test_behind_the_proxy_the_address_is_the_one_that_the_proxy_saw(settings: Any, rf: Any) -> None:
    request = rf.get("/", HTTP_X_FORWARDED_FOR="203.0.113.1, 198.51.100.2", **ELSEWHERE)
    assert sign_in.address_of(request) == "192.0.2.7"
    settings.TWINBLIND_HTTPS = True
    assert sign_in.address_of(request) == "198.51.100.2"


def test_neither_the_own_password_nor_a_members_can_be_guessed_elsewhere() -> None:
    study = a_study(phase="setup")
    an_account("vera")
    new = {"username": "vera", "role": "monitor"}
    url = study.url("members/")
    for n in range(5):
        assert study.api("admin").post(url, new | {"password": f"wrong {n}"}).status_code == 400
    assert study.api("admin").post(url, new | {"password": PASSWORD}).status_code == 429
    own = study.client("audit")
    change = {"do": "password", "new_password": "quite another long one"}
    for n in range(5):
        assert own.post("/account/", change | {"old_password": f"wrong {n}"}).status_code == 422
    assert own.post("/account/", change | {"old_password": PASSWORD}).status_code == 429


def test_another_password_ends_the_other_sessions_and_every_token() -> None:
    user = an_account("vera")
    here, there = Client(), Client()
    for browser in (here, there):
        browser.post("/sign-in/", {"username": "vera", "password": PASSWORD})
    program = with_token(ask_token("vera", PASSWORD).json()["token"])
    assert program.get("/api/v1/studies/").status_code == 200
    sent = {"do": "password", "old_password": PASSWORD, "new_password": "quite another long one"}
    assert here.post("/account/", sent).status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    assert program.get("/api/v1/studies/").status_code == 401
    assert not AuthToken.objects.filter(user=user).exists()


def test_accepting_an_invitation_ends_what_the_account_had() -> None:
    study = a_study(phase="setup")
    added = study.api("admin").post(study.url("members/"), {"username": "vera", "role": "monitor"}).json()
    study.names["vera"] = "vera"
    program, browser = study.api("vera"), study.client("vera")
    link = added["invitation_url"].partition("testserver")[2]
    password = {"password": "quite another long one", "again": "quite another long one"}
    assert Client().post(link, password).status_code == 302
    assert program.get(study.url()).status_code == 401
    assert browser.get("/account/").status_code == 302
