"""The drift plot of a field as inline SVG: alpha over windows of position, or of calendar days."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adjudication.agreement.figures import RELIABLE, TENTATIVE, shown

Json = dict[str, Any]

LEFT, RIGHT, TOP, BOTTOM = 48, 588, 12, 286
LABELS = 6


@dataclass(frozen=True)
class Scale:
    """From alpha to y and from a window's number to x, in units of the view box."""

    low: float
    windows: int

    def y(self, value: float) -> float:
        return BOTTOM - (value - self.low) / (1 - self.low) * (BOTTOM - TOP)

    def x(self, window: int) -> float:
        return LEFT + (RIGHT - LEFT) * (window + 0.5) / self.windows


def drift_plot(
    field: Json, over: str, ident: str, thresholds: tuple[float, float] = (TENTATIVE, RELIABLE)
) -> str:
    """Return the plot of a field over `position` or `calendar`, empty where no window has an alpha.

    `ident` makes the ids of title and description unique on the page. By position, slot A is a line with
    round marks and its interval as a band, slot B a dashed line with square marks."""
    found = field["drift"][over]
    series = [found["a"], found["b"]] if over == "position" else [found]
    values = [v for windows in series for window in windows for v in _known(window)]
    if not values:
        return ""
    scale = Scale(min(0.2, math.floor(min(values) * 5 - 1e-9) / 5), max(map(len, series)))
    drawn = [_band(series[0], scale), *(_trend(windows, scale, n) for n, windows in enumerate(series))]
    axis = "position in the coder’s own order" if over == "position" else "day of the later code"
    title = f"Alpha of {field['label']} over {scale.windows} windows of {over}"
    return (
        f'<svg class="chart" viewBox="0 0 600 330" role="img" aria-labelledby="{ident}-t {ident}-d">'
        f'<title id="{ident}-t">{escape(title)}</title>'
        f'<desc id="{ident}-d">{escape(_description(series))}</desc>'
        f"{''.join(_grid(scale, thresholds))}{''.join(drawn)}"
        f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>'
        f"{''.join(_labels(max(series, key=len), scale, over))}"
        f'<text x="318.0" y="326" text-anchor="middle">{axis}</text></svg>'
    )


def _known(window: Json) -> list[float]:
    low = (window["interval"] or {}).get("low")
    return [value for value in (window["alpha"], low) if value is not None]


def _description(series: Sequence[Sequence[Json]]) -> str:
    """The numbers in words, for those who do not see the line."""
    names = ("Slot A", "Slot B") if len(series) == 2 else ("All",)
    parts = []
    for name, windows in zip(names, series, strict=True):
        told = ", ".join(
            f"{w['from']} to {w['to']}: {shown(w['alpha'], 2)} (n {w['units']})" for w in windows
        )
        parts.append(f"{name}: {told}.")
    return " ".join(parts)


def _grid(scale: Scale, thresholds: tuple[float, float]) -> Iterator[str]:
    ticks = [round(scale.low + 0.2 * k, 1) for k in range(round((0.4 - scale.low) / 0.2) + 1)]
    for name, values in (("gridline", [*ticks, 1.0]), ("rule", [*thresholds])):
        ink = ' class="t-ink"' if name == "rule" else ""
        for value in values:
            y = scale.y(value)
            text = "0" if value == 0 else shown(value, 3).rstrip("0").rstrip(".")
            yield f'<line class="{name}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text{ink} x="40" y="{y + 4:.1f}" text-anchor="end">{text}</text>'


def _band(windows: Sequence[Json], scale: Scale) -> str:
    drawn = ""
    for run in _runs(windows, lambda w: w["interval"] is not None and w["interval"]["high"] is not None):
        upper = [(scale.x(n), scale.y(windows[n]["interval"]["high"])) for n in run]
        lower = [(scale.x(n), scale.y(windows[n]["interval"]["low"])) for n in reversed(run)]
        drawn += f'<polygon class="band" points="{_points([*upper, *lower])}"/>'
    return drawn


def _trend(windows: Sequence[Json], scale: Scale, number: int) -> str:
    drawn = ""
    for run in _runs(windows, lambda w: w["alpha"] is not None):
        at = [(scale.x(n), scale.y(windows[n]["alpha"])) for n in run]
        name = "trend trend-2" if number else "trend"
        drawn += f'<polyline class="{name}" points="{_points(at)}"/>'
        drawn += "".join(_mark(x, y, number) for x, y in at)
    return drawn


def _mark(x: float, y: float, number: int) -> str:
    if number:
        return f'<rect class="pt pt-2" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    return f'<circle class="pt" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def _runs(windows: Sequence[Json], has: Any) -> list[list[int]]:
    """Numbers of neighbouring windows that have something to draw: a gap breaks the line."""
    runs: list[list[int]] = [[]]
    for number, window in enumerate(windows):
        if has(window):
            runs[-1].append(number)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _points(at: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in at)


def _labels(windows: Sequence[Json], scale: Scale, over: str) -> Iterator[str]:
    every = math.ceil(len(windows) / LABELS)
    for number in range(every - 1, len(windows), every):
        text = str(windows[number]["to"])
        text = text[5:] if over == "calendar" else text
        yield f'<text x="{scale.x(number):.1f}" y="304" text-anchor="middle">{escape(text)}</text>'
