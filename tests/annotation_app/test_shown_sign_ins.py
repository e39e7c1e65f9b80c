"""The sign-in page of a demonstration names its people, until the server holds a study of anybody's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation_app.models import Study
from annotation_app.services.demonstration import shown_sign_ins, sign_ins_path
from tests.annotation_app.pages.reading import text_of
from tests.factories import a_study

pytestmark = pytest.mark.django_db

ADA = {"role_label": "Admin", "username": "ada", "password": "shown to everybody"}


@pytest.fixture(autouse=True)
def _demonstration(settings: Any, tmp_path: Path) -> None:
    settings.TWINBLIND_DATA = tmp_path
    sign_ins_path().write_text(json.dumps({"sign_ins": [ADA]}), encoding="utf-8")


def test_a_demonstration_shows_who_can_sign_in() -> None:
    a_study(phase="setup")
    Study.objects.update(demonstration=True)
    assert shown_sign_ins() == [ADA]
    assert ADA["password"] in text_of(Client().get("/sign-in/"))


def test_nothing_is_shown_once_there_is_a_study_of_ones_own() -> None:
    a_study(phase="setup")
    Study.objects.update(demonstration=True)
    a_study("hillside", phase="setup")
    assert shown_sign_ins() == []
    assert ADA["password"] not in text_of(Client().get("/sign-in/"))
