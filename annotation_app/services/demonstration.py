"""Who can sign in to the demonstration, as its loader wrote it down; nothing where there is none."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation_app.models import Study

FILE = "demonstration.json"


def sign_ins_path() -> Path:
    return Path(settings.TWINBLIND_DATA) / FILE


def shown_sign_ins() -> list[dict[str, Any]]:
    """Return [{role_label, username, password}, …] for the sign-in page of a demonstration.

    Nothing as soon as there is a study of anybody's own: its site administrator's password is among them.
    """
    if Study.objects.filter(demonstration=False).exists():
        return []
    try:
        return list(json.loads(sign_ins_path().read_text(encoding="utf-8"))["sign_ins"])
    except (OSError, ValueError, KeyError):
        return []
