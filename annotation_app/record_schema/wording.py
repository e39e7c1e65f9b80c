"""What this package says, in the reader's language. It knows no framework: the product plugs its catalogue in, and without
one the words stay English. What a validator of JSON Schema says in its own words is not the product's to translate.
"""

from collections.abc import Callable

_catalogue: Callable[[str], str] = str


def use(catalogue: Callable[[str], str]) -> None:
    """Have every message looked up in `catalogue` from now on, at the moment it is made."""
    global _catalogue
    _catalogue = catalogue


def gettext(message: str) -> str:
    return _catalogue(message)


def gettext_noop(message: str) -> str:
    """Mark a message that is looked up later."""
    return message
