"""Pages as people read them: the text of a status, errors, and what a form was answered."""

import re
from html import unescape
from typing import Any


def text_of(answer: Any, status: int = 200) -> str:
    """Return the page without tags and runs of blanks, after checking its status."""
    assert answer.status_code == status, (answer.status_code, body_of(answer)[:2000])
    words = re.sub(r"<[^>]+>", " ", body_of(answer))
    return " ".join(unescape(words).split())


def body_of(answer: Any) -> str:
    text: str = answer.content.decode()
    return text


HTMX = {"HX-Request": "true"}
