"""Where controls stand on the page: two columns and a foot, the same places on every output."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import NUMERIC, Kind

SHORT_LABEL = 20
MOST_IN_TWO_COLUMNS = 5


@dataclass(frozen=True)
class Layout:
    """Keys of controls in the order of the page; a cluster decision's notes have a place of their own."""

    columns: tuple[tuple[str, ...], tuple[str, ...]]
    foot: tuple[str, ...]


def is_dense(control: Control) -> bool:
    """Say whether the options stand two in a row: up to five, all short."""
    few = len(control.options) <= MOST_IN_TWO_COLUMNS
    return (
        control.kind is Kind.RADIO
        and few
        and all(len(option.label) <= SHORT_LABEL for option in control.options)
    )


def lay_out(controls: Sequence[Control]) -> Layout:
    """Place controls: one number and the flag in the foot; classes, which some outputs lack, then texts left.

    What remains fills the left column, then the right, so that the higher of the two is as low as possible.
    """
    number = next((control for control in controls if control.kind in NUMERIC), None)
    foot = [control for control in controls if control is number or control.kind is Kind.FLAG]
    sometimes = [control for control in controls if control.kind is Kind.CHECKS]
    texts = [control for control in controls if control.kind is Kind.TEXT]
    notes = [
        child
        for control in controls
        if control.kind is Kind.CLUSTER
        for child in control.children
        if child.kind is Kind.TEXT
    ]
    apart = {control.key for control in (*foot, *sometimes, *texts)}
    rest = [control for control in controls if control.key not in apart]
    tail = [*sometimes, *notes, *texts]
    split = _best_split([_rows(control) for control in rest], sum(_rows(control) for control in tail))
    foot.sort(key=lambda control: control.kind is Kind.FLAG)
    return Layout(
        (_keys([*rest[:split], *tail]), _keys(rest[split:])),
        _keys(foot),
    )


def _keys(controls: Sequence[Control]) -> tuple[str, ...]:
    return tuple(control.key for control in controls)


def _best_split(heights: Sequence[int], left_extra: int) -> int:
    """Return how many of `heights` go left, `left_extra` rows being there anyway."""
    splits = range(len(heights) + 1)
    return min(splits, key=lambda split: max(sum(heights[:split]) + left_extra, sum(heights[split:])))


def _rows(control: Control) -> int:
    """Return the height of a control in rows of options, its name included."""
    if control.kind is Kind.FIELDSET:
        return 1 + sum(_rows(child) for child in control.children)
    if control.kind is Kind.CLUSTER:
        return 2 + len(control.options)
    if control.kind is Kind.RADIO:
        return 1 + (-(-len(control.options) // 2) if is_dense(control) else len(control.options))
    return 3 if control.kind in (Kind.CHECKS, Kind.TEXT) else 2
