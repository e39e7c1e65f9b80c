"""Shares with an interval over tasks."""

import pytest

from blinding.shares import ratios


def test_a_share_is_the_sum_over_tasks() -> None:
    (share,) = ratios([[1], [3]], [4, 4], seed=1)
    assert share.value == 0.5


def test_equal_tasks_leave_nothing_to_resample() -> None:
    yes, no = ratios([[1, 3], [1, 3], [1, 3]], [4, 4, 4], seed=1)
    assert (yes.value, yes.interval) == (0.25, (0.25, 0.25))
    assert (no.value, no.interval) == (0.75, (0.75, 0.75))


def test_two_opposite_tasks_span_everything() -> None:
    """Of two tasks, one all yes and one all no, a quarter of the resamples takes the one twice, a quarter the other."""
    (share,) = ratios([[4], [0]], [4, 4], seed=1)
    assert (share.value, share.interval) == (0.5, (0.0, 1.0))


def test_one_task_has_no_interval() -> None:
    (share,) = ratios([[1]], [4], seed=1)
    assert (share.value, share.interval) == (0.25, None)


def test_larger_tasks_weigh_more() -> None:
    (share,) = ratios([[9], [0]], [9, 1], seed=1)
    assert share.value == 0.9


def test_the_interval_is_near_the_binomial_one_where_each_task_has_one_output() -> None:
    """40 of 100: the normal interval is 0.4 ± 1.96 · √(0.24 / 100) = 0.304 … 0.496."""
    (share,) = ratios([[1]] * 40 + [[0]] * 60, [1] * 100, seed=7, resamples=20_000)
    assert share.interval == pytest.approx((0.304, 0.496), abs=0.012)


def test_many_tasks_are_drawn_in_parts_and_give_as_good_an_interval() -> None:
    """400 of 1000: 0.4 ± 1.96 · √(0.24 / 1000) = 0.370 … 0.430."""
    (share,) = ratios([[1]] * 400 + [[0]] * 600, [1] * 1000, seed=7)
    assert share.interval == pytest.approx((0.370, 0.430), abs=0.005)


def test_the_same_seed_gives_the_same_interval() -> None:
    table, sizes = [[1], [2], [5]], [5, 5, 5]
    assert ratios(table, sizes, seed=3) == ratios(table, sizes, seed=3)


@pytest.mark.parametrize(("table", "sizes"), [([], []), ([[1]], [0]), ([[1], [2]], [3])])
def test_tasks_without_outputs_are_refused(table: list[list[float]], sizes: list[float]) -> None:
    with pytest.raises(ValueError, match="task"):
        ratios(table, sizes, seed=1)
