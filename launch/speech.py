"""What the launcher says to the person at the terminal."""

import contextlib
import sys


class Trouble(Exception):
    """Something that a person can put right; the message says how, and no traceback is shown."""


def say(text: str) -> None:
    """Print a line at once; a terminal that is gone is no reason to leave children behind."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def warn(text: str) -> None:
    """Print a line to the error output at once."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
