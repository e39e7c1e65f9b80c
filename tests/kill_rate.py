"""How many of the leaks that are planted on purpose were caught: each test that plants one says so by the fixture `plants`."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

PROPERTY = "planted leak"
Plants = Callable[[str], None]


def kill_rate(reports: Iterable[Any]) -> list[str]:
    """Return lines on how many leaks were caught, of pytest's reports: all, and by where they were planted.

    A leak is caught if its test passes. Empty where none was planted.
    """
    caught: dict[str, list[bool]] = defaultdict(list)
    for report in reports:
        for name, where in getattr(report, "user_properties", ()):
            if name == PROPERTY and report.when == "call":
                caught[str(where)].append(report.passed)
    if not caught:
        return []
    together = [one for of_place in caught.values() for one in of_place]
    return [
        f"planted leaks: {sum(together)} of {len(together)} caught",
        *(f"  {where}: {sum(one)} of {len(one)}" for where, one in sorted(caught.items())),
    ]
