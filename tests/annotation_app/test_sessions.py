"""Who is signed in is read by statements of ours, under Django's rules."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from tests.factories import an_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    browser = Client()
    browser.force_login(an_account("vera"))
    assert browser.get("/account/").status_code == 200
    return browser


def is_signed_in(browser: Client) -> bool:
    return browser.get("/account/").status_code == 200


def test_a_session_ends_at_its_time(browser: Client) -> None:
    session = Session.objects.get()
    session.expire_date -= timedelta(days=15)
    session.save()
    assert not is_signed_in(browser)


def test_a_session_that_is_gone_or_altered_signs_nobody_in(browser: Client) -> None:
    Session.objects.update(session_data="altered")
    assert not is_signed_in(browser)
    Session.objects.all().delete()
    assert not is_signed_in(browser)


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "another"}])
def test_a_session_ends_with_the_account_or_its_password(browser: Client, change: dict[str, object]) -> None:
    User.objects.update(**change)
    assert not is_signed_in(browser)


def test_a_session_of_an_account_that_is_gone_signs_nobody_in(browser: Client) -> None:
    User.objects.all().delete()
    assert not is_signed_in(browser)
