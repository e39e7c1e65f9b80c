"""Making a study in the browser."""

import json
from typing import Any

import pytest
from django.test import Client

from annotation_app.models import Study
from tests.annotation_app.pages.reading import text_of
from tests.factories import an_account, signed_in

pytestmark = pytest.mark.django_db

PASSPHRASE = "seven herons at dusk"


@pytest.fixture
def founder() -> Client:
    return signed_in(an_account("founder", superuser=True))


def make(client: Client, **fields: str) -> Any:
    sent = {
        "title": "Riverside",
        "slug": "riverside",
        "passphrase": PASSPHRASE,
        "passphrase_again": PASSPHRASE,
        "protocol": "",
        "record_schema": "",
    }
    return client.post("/new-study/", sent | fields)


def test_the_founder_sees_the_recovery_sheet_once_and_is_the_admin(founder: Client) -> None:
    page = text_of(make(founder, protocol=json.dumps({"spacing": 5})))
    assert "Study “Riverside”" in page
    assert PASSPHRASE not in page
    study = Study.objects.get(slug="riverside")
    assert study.protocol["spacing"] == 5
    assert [m.role for m in study.memberships.all()] == ["admin"]
    assert "New study" in text_of(founder.get("/"))


def test_a_short_name_that_cannot_be_used_is_kept_as_it_was_typed(founder: Client) -> None:
    page = make(founder, slug="Straße 2026").content.decode()
    assert 'value="Straße 2026"' in page
    assert 'value="Riverside"' in page


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": ""}, "This field is required."),
        (
            {"slug": "River side"},
            "Short name : Write it with the letters a to z, digits, hyphens and underscores only, without blanks",
        ),
        ({"passphrase_again": "another one"}, "The two do not match."),
        ({"passphrase": "short", "passphrase_again": "short"}, "at least 10 characters"),
        ({"title": "Positive control"}, "would tell coders what is compared"),
        ({"protocol": "{"}, "This is not JSON"),
        ({"protocol": '{"spacing": "far"}'}, "spacing:"),
        ({"record_schema": "{}"}, "Record schema"),
    ],
)
def test_what_cannot_be_used_is_named_and_nothing_is_made(
    founder: Client, fields: dict[str, str], message: str
) -> None:
    assert message in text_of(make(founder, **fields), 422)
    assert not Study.objects.exists()


def test_a_short_name_is_taken_once(founder: Client) -> None:
    make(founder)
    assert "A study with this short name exists." in text_of(make(founder), 422)


def test_who_may_not_make_studies_finds_no_such_page() -> None:
    client = signed_in(an_account("somebody"))
    assert client.get("/new-study/").status_code == 404
    assert make(client).status_code == 404
    assert make(Client()).status_code == 302
