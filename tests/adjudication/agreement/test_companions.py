import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adjudication.agreement import companions
from adjudication.agreement.encode import Coding, encode
from adjudication.agreement.equivalents import MetricName, form_for
from adjudication.agreement.fast import patterns_of
from adjudication.agreement.metric import Metric

NOMINAL = Metric("nominal")

# Stuart (1955): unaided distance vision of 7 477 women, right eye against left
VISION = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]
# irrCAC's documentation, three abstractors' ectopic pregnancies
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def coding_of(table) -> Coding:
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return Coding(np.array(cells, dtype=np.int64).T, tuple(range(len(table))), NOMINAL)


def test_confusion_has_the_first_coder_in_rows():
    coding = encode([["a", "a", "b", None], ["a", "b", "b", "a"]], NOMINAL)
    assert companions.confusion(coding.index[0], coding.index[1], 2).tolist() == [[1, 1], [0, 1]]


def test_kappa_and_ac1_of_two_raters_worked_by_hand():
    # [[20, 5], [10, 15]]: p_o .7; kappa's p_e .5; AC1's p_e 2·.55·.45
    table = np.array([[20, 5], [10, 15]], dtype=np.float64)
    assert companions.cohen_kappa(table) == pytest.approx(0.4)
    coding = coding_of([[20, 5], [10, 15]])
    assert companions.percent_agreement(coding) == pytest.approx(0.7)
    assert companions.gwet_ac1(coding, 2) == pytest.approx((0.7 - 0.495) / 0.505)


def test_kappa_and_ac1_of_the_abstractors():
    coding = coding_of(ABSTRACTORS)
    assert companions.percent_agreement(coding) == pytest.approx(0.89)
    assert companions.cohen_kappa(np.array(ABSTRACTORS, dtype=np.float64)) == pytest.approx(
        0.7964094, abs=1e-7
    )
    assert companions.gwet_ac1(coding, 3) == pytest.approx(0.8493305, abs=1e-7)


def test_ac1_changes_with_the_declared_categories():
    coding = coding_of([[20, 5], [10, 15]])
    assert companions.gwet_ac1(coding, 5) == pytest.approx((0.7 - 0.495 / 4) / (1 - 0.495 / 4))


def test_agreement_of_three_coders_is_over_pairs():
    # unit 1: a a b (1 of 3 pairs), unit 2: a a (1 of 1), unit 3 has one code only
    coding = encode([["a", "a", "b"], ["a", "a", None], ["b", None, None]], NOMINAL)
    assert companions.percent_agreement(coding) == pytest.approx((1 / 3 + 1) / 2)


def test_what_is_not_there_has_no_companions():
    empty = encode([[], []], NOMINAL)
    assert companions.percent_agreement(empty) is None
    assert companions.gwet_ac1(empty, 3) is None
    assert companions.gwet_ac1(coding_of([[3]]), 1) is None
    assert companions.cohen_kappa(np.zeros((2, 2))) is None
    assert companions.cohen_kappa(np.array([[5.0, 0], [0, 0]])) is None


def test_stuart_1955_vision():
    found = companions.stuart_maxwell(np.array(VISION, dtype=np.float64))
    assert found is not None
    assert found.df == 3
    assert found.statistic == pytest.approx(11.957, abs=5e-4)
    assert found.p == pytest.approx(0.0075, abs=5e-5)


def test_two_values_give_mcnemar():
    # (10 − 5)² / (10 + 5)
    found = companions.stuart_maxwell(np.array([[20.0, 5], [10, 15]]))
    assert found is not None
    assert (found.statistic, found.df) == pytest.approx((25 / 15, 1))


def test_values_that_nobody_confused_do_not_count():
    wide = np.zeros((4, 4))
    wide[np.ix_([0, 2], [0, 2])] = [[20, 5], [10, 15]]
    wide[3, 3] = 7
    assert companions.stuart_maxwell(wide) == companions.stuart_maxwell(np.array([[20.0, 5], [10, 15]]))
    assert companions.stuart_maxwell(np.diag([3.0, 4.0])) is None


@pytest.mark.parametrize(
    ("statistic", "df", "p"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (23.209, 10, 0.01), (0, 4, 1)],
)
def test_chi_square_tail_against_printed_tables(statistic, df, p):
    assert companions.chi_square_tail(statistic, df) == pytest.approx(p, abs=5e-5)


def test_mean_difference_and_limits_of_agreement():
    # differences .1 .3 .2, sd .1
    found = companions.mean_difference(np.array([0.1, 0.2, 0.5, np.nan]), np.array([0.2, 0.5, 0.7, 0.1]))
    assert found is not None
    assert (found.n, found.mean, found.sd) == pytest.approx((3, 0.2, 0.1))
    assert (found.low, found.high) == pytest.approx((0.2 - 0.196, 0.2 + 0.196))
    assert companions.mean_difference(np.array([0.1]), np.array([0.2])) is None


def test_kappa_is_for_every_pair_of_persons():
    coding = encode([list("aabbab"), list("abbbab")], NOMINAL)
    first, second = ["K4", "K4", "K4", "M1", "M1", "M1"], ["R9"] * 6
    one, two = companions.coder_pairs(coding, first, second)
    assert (one.first, one.second, one.units) == ("K4", "R9", 3)
    assert one.agreement == pytest.approx(2 / 3)
    assert one.kappa == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert (two.first, two.units, two.kappa) == ("M1", 3, 1)


@settings(deadline=None, max_examples=60)
@given(arrays(np.int64, (3, 3), elements=st.integers(0, 9)))
def test_equivalents_in_the_pattern_algebra_are_the_coefficients(table):
    coding = coding_of(table) if table.any() else None
    if coding is None:
        return
    counts = table.astype(np.float64)
    patterns = patterns_of(coding, ordered=True)
    expected: dict[MetricName, float | None] = {
        "cohen_kappa": companions.cohen_kappa(counts),
        "gwet_ac1": companions.gwet_ac1(coding, 3),
        "percent_agreement": companions.percent_agreement(coding),
    }
    for metric, value in expected.items():
        form = form_for(metric, coding, patterns)
        found = form.figures(form.sums(patterns).times(patterns.weights[None, :])).alpha()[0]
        assert (None if np.isnan(found) else found) == (
            None if value is None else pytest.approx(value, abs=1e-9)
        )
