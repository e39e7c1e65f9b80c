"""What a browser is told with every answer."""

import pytest
from django.conf import settings
from django.test import Client

pytestmark = pytest.mark.django_db


def test_nothing_but_our_own_files_may_load_or_be_sent_to(client: Client) -> None:
    policy = client.get("/health/")["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert {directives[name] for name in ("default-src", "frame-ancestors", "base-uri")} == {"'none'"}
    own = ("script-src", "style-src", "img-src", "font-src", "connect-src", "form-action")
    assert {directives[name] for name in own} == {"'self'"}


def test_an_answer_is_not_sniffed_framed_or_named_to_others(client: Client) -> None:
    response = client.get("/health/")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    # With `no-referrer` a browser sends `Origin: null` with a form, which the CSRF check refuses.
    assert response["Referrer-Policy"] == "same-origin"


def test_cookies_are_out_of_reach_for_scripts_and_other_sites() -> None:
    assert settings.SESSION_COOKIE_HTTPONLY is settings.CSRF_COOKIE_HTTPONLY is True
    assert settings.SESSION_COOKIE_SAMESITE == settings.CSRF_COOKIE_SAMESITE == "Lax"


def test_answers_are_neither_compressed_nor_tagged() -> None:
    """The length of a compressed secret beside chosen text, or a tag of hidden content, can tell it."""
    names = " ".join(settings.MIDDLEWARE)
    assert "GZip" not in names
    assert "ConditionalGet" not in names


def test_uploads_are_private() -> None:
    assert settings.FILE_UPLOAD_TEMP_DIR.stat().st_mode & 0o777 == 0o700
