import numpy as np
import pytest

from adjudication.agreement.encode import MISSING, AgreementInputError, encode
from adjudication.agreement.metric import Metric

NOMINAL, INTERVAL = Metric("nominal"), Metric("interval")


def refusal(data, metric=NOMINAL, **kwargs) -> AgreementInputError:
    with pytest.raises(AgreementInputError) as caught:
        encode(data, metric, **kwargs)
    return caught.value


def test_codes_are_places_in_the_domain_and_missing_is_none():
    coding = encode([["b", None, "a"], ["a", "a", "c"]], NOMINAL)
    assert coding.domain == ("a", "b", "c")
    assert coding.index.tolist() == [[1, MISSING, 0], [0, 0, 2]]


def test_a_label_spelled_nan_is_a_label():
    coding = encode([["nan", "a"], ["nan", "nan"]], NOMINAL)
    assert coding.domain == ("a", "nan")
    assert (coding.index != MISSING).all()


def test_floats_are_float64_with_nan_for_missing():
    codes = encode([[1, None, 3], [200, 2, 3]], INTERVAL).floats()
    assert codes.dtype == np.float64
    assert codes[0, 0] == 1
    assert codes[1, 0] == 200
    assert np.isnan(codes[0, 1])


def test_narrow_integers_do_not_wrap():
    data = np.array([[1, 3, 1, 2], [3, 1, 2, 2]], dtype=np.uint8)
    assert encode(data, INTERVAL).floats().tolist() == [[1, 3, 1, 2], [3, 1, 2, 2]]


def test_a_mask_is_missing():
    data = np.ma.masked_array([[1.0, 2.0], [1.0, 9.0]], mask=[[False, False], [False, True]])
    assert encode(data, INTERVAL).index.tolist() == [[0, 1], [0, MISSING]]


def test_booleans_are_values_of_their_own():
    assert encode([[True, False], [True, True]], NOMINAL, domain=[False, True]).index.tolist() == [
        [1, 0],
        [1, 1],
    ]
    assert refusal([[True, 1], [1, 0]]).code == "wrong_type"


def test_a_label_outside_the_domain_is_named_with_its_place():
    error = refusal([["a", "b"], ["a", "x"]], domain=["a", "b"], coders=["K4", "R9"], units=["u1", "u2"])
    assert (error.code, error.place) == ("label_outside_domain", "coder R9, unit u2")


def test_a_domain_value_declared_twice_is_refused():
    error = refusal([["a", "b"]], domain=["a", "b", "a"])
    assert error.code == "duplicate_domain_value"
    assert "'a'" in error.place


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_refused(value):
    error = refusal([[0.5, 0.25], [0.5, value]], INTERVAL)
    assert (error.code, error.place) == ("not_finite", "coder 2, unit 2")


@pytest.mark.parametrize("value", [-0.01, 1.01, 7])
def test_a_number_outside_its_bounds_is_refused(value):
    error = refusal([[0.5, value], [0.5, 1]], INTERVAL, bounds=(0, 1))
    assert (error.code, error.place) == ("outside_bounds", "coder 1, unit 2")


def test_a_negative_ratio_value_is_refused():
    assert refusal([[1, -1], [1, 2]], Metric("ratio")).code == "outside_bounds"


@pytest.mark.parametrize("data", [[1, 2, 3], "abc", ["ab", "cd"], np.array([1, 2, 3])])
def test_codes_without_two_axes_are_refused(data):
    assert refusal(data).code == "not_two_axes"


def test_rows_of_unequal_length_are_refused():
    assert refusal([["a", "b"], ["a"]]).code == "ragged"


def test_transposed_codes_are_refused_where_the_axes_are_named():
    assert refusal([["a", "b"], ["a", "b"], ["a", "c"]], coders=["K4", "R9"]).code == "axes"
    assert refusal([["a", "b"], ["a", "b"]], units=["u1", "u2", "u3"]).code == "axes"


def test_a_unit_named_twice_is_two_codes_on_one_unit():
    error = refusal([["a", "b"], ["a", "b"]], units=["u1", "u1"])
    assert (error.code, error.place) == ("two_codes_on_one_unit", "unit u1")


@pytest.mark.parametrize("value", [frozenset({"a"}), ["a"], b"a", object()])
def test_other_types_have_no_place_at_nominal_level(value):
    assert refusal([["a", value], ["a", "a"]]).code == "wrong_type"


@pytest.mark.parametrize("value", ["0.5", True])
def test_text_and_truth_are_no_numbers(value):
    assert refusal([[0.5, value], [0.5, 1]], INTERVAL).code == "wrong_type"


def test_a_set_holds_text():
    masi = Metric("set:masi")
    assert refusal([[["a"], "ab"], [[], []]], masi).code == "wrong_type"
    assert refusal([[["a"], [1]], [[], []]], masi).place == "coder 1, unit 2"
    assert encode([[["b", "a"], []], [["a", "b"], None]], masi).domain == (frozenset(), frozenset("ab"))


def test_ordinal_text_and_matrices_need_their_values_declared():
    assert refusal([["low", "high"]], Metric("ordinal")).code == "domain_required"
    matrix = Metric("matrix", ((0, 1), (1, 0)))
    assert refusal([["low", "high"]], matrix).code == "domain_required"
    assert (
        refusal([["low", "high"]], matrix, domain=["low", "mid", "high"]).code == "domain_and_matrix_differ"
    )


def test_a_numeric_domain_holds_finite_numbers():
    assert refusal([[1, 2]], INTERVAL, domain=[1, 2, float("nan")]).code == "wrong_type"
    assert encode([[1, 2]], INTERVAL, domain=[2, 1]).domain == (1, 2)


def test_values_taken_out_become_missing_and_leave_the_domain():
    coding = encode([["a", "x", "b"], ["x", "a", "b"]], NOMINAL).without(["a"])
    assert coding.domain == ("b", "x")
    assert coding.index.tolist() == [[MISSING, 1, 0], [1, MISSING, 0]]


def test_a_matrix_follows_the_values_that_are_kept():
    metric = Metric("matrix", ((0, 1, 0.5), (1, 0, 0.25), (0.5, 0.25, 0)))
    coding = encode([["a", "c"], ["b", "c"]], metric, domain=["a", "b", "c"]).without(["a"])
    assert coding.metric.matrix == ((0, 0.25), (0.25, 0))


@pytest.mark.parametrize(
    "matrix",
    [
        ((0, 1),),
        ((0, 1), (2, 0)),
        ((1, 0), (0, 1)),
        ((0, -1), (-1, 0)),
        ((0, float("nan")), (float("nan"), 0)),
    ],
)
def test_a_matrix_that_is_no_distance_is_refused(matrix):
    with pytest.raises(ValueError, match="distance"):
        Metric("matrix", matrix)


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="unknown level"):
        Metric("metric")
    with pytest.raises(ValueError, match="belongs"):
        Metric("nominal", ((0.0,),))
