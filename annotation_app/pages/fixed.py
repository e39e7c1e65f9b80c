"""Parts of pages that are the same for every item and every person: rendered once in a process, then kept.

What is kept follows from the template, the language and the values given here, for the template sees nothing else: no
request, no page around it. Give it words of the interface, of a codebook or of a protocol, and never anything of an item,
a person or a sealed row: the time of an answer would tell whether somebody else has had the same.
"""

import json
from functools import lru_cache
from typing import Any

import orjson
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

KEPT = 1024


def fixed_part(template: str, **values: Any) -> SafeString:
    """Return a template's HTML for JSON values; raises TypeError for values of any other kind."""
    return _rendered(template, get_language(), orjson.dumps(values))


@lru_cache(maxsize=KEPT)
def _rendered(template: str, language: str | None, values: bytes) -> SafeString:
    return render_to_string(template, json.loads(values))
