"""Figures as pages write them: rounded (the framework's own formatting cuts digits off), with a true minus sign."""

from collections.abc import Callable

from django.utils import formats
from django.utils.translation import gettext as _

NONE = "–"


def number(value: float, places: int = 0) -> str:
    """Write a number with so many decimals; none that rounds to zero has a minus."""
    text = formats.number_format(round(abs(value), places), places)
    return f"−{text}" if round(value, places) < 0 else text


def with_sign(difference: float, places: int) -> str:
    """Write a difference with its sign; one that rounds to zero has none."""
    text = number(difference, places)
    return f"+{text}" if round(difference, places) > 0 else text


def percent(share: float, places: int = 1) -> str:
    return _("%(n)s %%") % {"n": number(100 * share, places)}


def span(interval: tuple[float, float] | None, write: Callable[[float], str]) -> str:
    """Write an interval, a dash where there is none."""
    if interval is None:
        return NONE
    return _("%(low)s to %(high)s") % {"low": write(interval[0]), "high": write(interval[1])}
