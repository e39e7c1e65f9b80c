"""Figures as pages write them."""

from annotation_app.pages.figures import NONE, number, percent, span, with_sign


def test_figures_are_rounded_not_cut() -> None:
    assert (percent(2 / 3), percent(0.0016), percent(1.0)) == ("66.7 %", "0.2 %", "100.0 %")
    assert (number(-0.456, 2), number(-0.001, 2), number(1234.6)) == ("−0.46", "0.00", "1235")
    assert (with_sign(0.26, 1), with_sign(-0.26, 1), with_sign(0.04, 1)) == ("+0.3", "−0.3", "0.0")


def test_an_interval_is_written_from_end_to_end() -> None:
    assert span((-0.25, 0.5), lambda end: number(end, 2)) == "−0.25 to 0.50"
    assert span(None, str) == NONE
