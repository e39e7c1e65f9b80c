"""Dots with intervals as inline SVG: positions in per cent, colours by class, no inline style, and no text but numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from django.utils.safestring import SafeString, mark_safe

from annotation_app.pages.figures import number, percent

Interval = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """The axis of a column of plots; `rule` is the value that stands for chance, where there is one."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    rule: float | None = None

    def at(self, value: float) -> str:
        """Position of a value, such as `72.25%`."""
        return f"{(value - self.low) / (self.high - self.low) * 100:.2f}%"

    def head(self) -> SafeString:
        """The header cell: the ticks, every other one of a class that narrow screens leave out."""
        names = ("", ' class="between"')
        marks = (
            f'<text{names[place % 2]} x="{self.at(value)}" y="24" text-anchor="middle">{text}</text>'
            for place, (value, text) in enumerate(self.ticks)
        )
        return _svg(marks)

    def row(self, value: float, interval: Interval | None, beside: float | None = None) -> SafeString:
        """One row: the value as a dot with its interval, and a second value as a short stroke below."""
        lines = [
            *(_line("gridline", self.at(tick), self.at(tick), "-1", "100%") for tick, _text in self.ticks),
            *(_line("rule", self.at(v), self.at(v), "-1", "100%") for v in (self.rule,) if v is not None),
            *self._interval(interval),
            f'<circle class="pt" cx="{self.at(value)}" cy="42%" r="4.5"/>',
        ]
        if beside is not None:
            lines.append(_line("beside", self.at(beside), self.at(beside), "64%", "96%"))
        return _svg(lines)

    def _interval(self, interval: Interval | None) -> list[str]:
        if interval is None:
            return []
        low, high = map(self.at, interval)
        caps = [_line("ci", end, end, "28%", "56%") for end in (low, high)]
        return [_line("ci", low, high, "42%", "42%"), *caps]


def shares_axis() -> Axis:
    """From 0 to 100 per cent."""
    marks = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Axis(0.0, 1.0, tuple((mark, percent(mark, 0)) for mark in marks))


def numbers_axis(low: float, high: float) -> Axis:
    """From `low` to `high`, in quarters; where both are one number, one unit around it."""
    if low >= high:
        low, high = low - 0.5, high + 0.5
    places = 0 if high - low >= 20 else 1 if high - low >= 2 else 2
    marks = [low + (high - low) * quarter / 4 for quarter in range(5)]
    return Axis(low, high, tuple((mark, number(mark, places)) for mark in marks))


def index_axis(ends: Sequence[float]) -> Axis:
    """From -1 to 1 with chance at 0; ends of intervals beyond that widen it, so that nothing is clipped."""
    low = min(-1.0, floor(5 * min(ends, default=0.0)) / 5)
    high = max(1.0, ceil(5 * max(ends, default=0.0)) / 5)
    marks = (-1.0, -0.5, 0.0, 0.5, 1.0)
    return Axis(low, high, tuple((mark, number(mark, 1)) for mark in marks), rule=0.0)


def _svg(marks: Iterable[str]) -> SafeString:
    return mark_safe(f'<svg aria-hidden="true">{"".join(marks)}</svg>')


def _line(name: str, x1: str, x2: str, y1: str, y2: str) -> str:
    return f'<line class="{name}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'
