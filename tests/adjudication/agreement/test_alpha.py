"""Published tables, typed anew, and tables small enough to work by hand."""

import numpy as np
import pytest

from adjudication.agreement.alpha import (
    Alpha,
    Undefined,
    category_alphas,
    coincidences,
    estimate,
    package_bytes,
)
from adjudication.agreement.encode import encode
from adjudication.agreement.metric import Metric

NOMINAL = Metric("nominal")

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: A two coders, binary; B two, nominal;
# C and D four coders, twelve units, missing values (0 stands for a missing one here)
TWO_BINARY = ("0100000010", "1110010000")
TWO_NOMINAL = ("aabbdcccedda", "babbbcccedDd".lower())
FOUR_MISSING = ("123321412000", "123322412503", "033323422510", "123324412510")


def letters(rows):
    return [list(row) for row in rows]


def digits(rows):
    return [[int(digit) or None for digit in row] for row in rows]


def value(data, level, **kwargs):
    found = estimate(encode(data, Metric(level), **kwargs))
    assert isinstance(found, Alpha)
    return found.value


def test_krippendorff_2011_binary():
    assert value(letters(TWO_BINARY), "nominal") == pytest.approx(0.095, abs=5e-4)


def test_krippendorff_2011_nominal():
    assert value(letters(TWO_NOMINAL), "nominal") == pytest.approx(0.692, abs=5e-4)


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
@pytest.mark.parametrize("budget", [0, 2**40])
def test_krippendorff_2011_four_coders_with_missing_values(level, expected, budget):
    found = estimate(encode(digits(FOUR_MISSING), Metric(level)), budget=budget)
    assert isinstance(found, Alpha)
    assert found.value == pytest.approx(expected, abs=6e-4)
    assert (found.units, found.values) == (11, 40)
    assert found.computed_by == ("krippendorff" if budget else "patterns")


def test_ordinal_ranks_follow_the_declared_order_of_texts():
    words = {1: "none", 2: "few", 3: "some", 4: "many", 5: "all"}
    data = [[words.get(code) for code in row] for row in digits(FOUR_MISSING)]
    assert value(data, "ordinal", domain=list(words.values())) == pytest.approx(0.815, abs=6e-4)


def test_observed_and_expected_disagreement_of_one_coder_against_another():
    # values a a a b: D_o = 1/2, D_e = 2·3·1 / (4·3) = 1/2
    assert estimate(encode([["a", "a"], ["a", "b"]], NOMINAL)) == Alpha(0.0, 0.5, 0.5, 2, 4, "krippendorff")


def test_alpha_below_zero_is_never_clipped():
    # values 1 1 2 2, no unit agrees: D_o = 1, D_e = 2·2·2 / (4·3) = 2/3
    assert value([["a", "b"], ["b", "a"]], "nominal") == pytest.approx(-0.5)


def test_narrow_integers_at_interval_level():
    # D_o = (4 + 4 + 1 + 0) / 4; values 1 3 1 2 3 1 2 2: D_e = 2·(8·33 − 15²) / (8·7)
    data = np.array([[1, 3, 1, 2], [3, 1, 2, 2]], dtype=np.uint8)
    assert value(data, "interval") == pytest.approx(1 - (9 / 4) / (78 / 56))


def test_a_declared_value_that_nobody_used_changes_nothing():
    data = [list("aabbb"), list("abbbb")]
    assert value(data, "nominal") == value(data, "nominal", domain=list("abcd")) == pytest.approx(4 / 7)


def test_a_distance_matrix_of_ones_is_nominal():
    ones = Metric("matrix", tuple(tuple(float(i != j) for j in range(5)) for i in range(5)))
    found = estimate(encode(letters(TWO_NOMINAL), ones, domain=list("abcde")))
    assert isinstance(found, Alpha)
    assert found.value == pytest.approx(value(letters(TWO_NOMINAL), "nominal"), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "fewer_than_two_coders"),
        ([[1, 2, 3]], "fewer_than_two_coders"),
        ([[], []], "no_pairable_units"),
        ([[1, None], [None, 2]], "no_pairable_units"),
        ([[1, 1], [1, 1]], "no_variation"),
        ([[3], [3]], "no_variation"),
        ([[1, 2, 2], [1, None, None]], "no_variation"),
    ],
)
def test_what_has_no_alpha_says_why(level, data, reason):
    assert estimate(encode(data, Metric(level))) == Undefined(reason)


def test_sets_that_are_all_empty_do_not_vary():
    assert estimate(encode([[[], []], [[], []]], Metric("set:masi"))) == Undefined("no_variation")


def test_the_package_is_left_where_its_arrays_grow_too_large():
    # 2 400 units with as many values: 3·2400·2400²·8 bytes, far over 256 MB
    assert package_bytes(2400, 2400) == 331_776_000_000
    rng = np.random.Generator(np.random.PCG64(5))
    first = rng.random(2400)
    found = estimate(
        encode([first.tolist(), (first + rng.normal(0, 0.1, 2400)).tolist()], Metric("interval"))
    )
    assert isinstance(found, Alpha)
    assert found.computed_by == "patterns"


def test_the_coincidence_matrix_of_krippendorff_2011():
    # section B prints it: the diagonal 2 4 6 4 2, one a–b pair, b–d and a–d
    matrix = coincidences(encode(letters(TWO_NOMINAL), NOMINAL))
    assert np.diag(matrix).tolist() == [2, 4, 6, 4, 2]
    assert matrix.sum() == 24
    assert (matrix == matrix.T).all()
    assert [matrix[0, 1], matrix[1, 3], matrix[0, 3]] == [1, 1, 1]


def test_coincidences_weigh_units_by_their_values():
    # one unit a a b: each of 6 ordered pairs counts 1/2
    assert coincidences(encode([["a"], ["a"], ["b"]], NOMINAL)).tolist() == [[1, 1], [1, 0]]


def test_each_category_against_the_rest():
    # a: n_c 3, o_cc 2, n 6: 1 − 5·1/(3·3); the same for b; c was declared and never used
    matrix = coincidences(encode([["a", "b", "a"], ["a", "b", "b"]], NOMINAL, domain=["a", "b", "c"]))
    assert category_alphas(matrix) == [pytest.approx(4 / 9), pytest.approx(4 / 9), None]
