"""The pattern algebra against the package and against alpha by definition, in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudication.agreement import alpha
from adjudication.agreement.alpha import Alpha, Undefined
from adjudication.agreement.encode import encode
from adjudication.agreement.fast import SPARSE_FROM, distinct_columns, form_of, patterns_of
from adjudication.agreement.metric import Metric
from tests.adjudication.agreement import exact

LEVELS = {
    "nominal": lambda rows: exact.nominal,
    "ordinal": exact.ordinal,
    "interval": lambda rows: exact.interval,
    "ratio": lambda rows: exact.ratio,
}
SETS = {"set:masi": exact.masi, "set:overlap": exact.overlap, "set:dkpro-masi": exact.dkpro_masi}


def tables(values):
    """Coders × units, two to four coders, with missing values."""
    code = st.one_of(st.none(), values)
    return st.integers(2, 4).flatmap(
        lambda coders: st.integers(1, 9).flatmap(
            lambda units: st.lists(
                st.lists(code, min_size=units, max_size=units), min_size=coders, max_size=coders
            )
        )
    )


def agree(rows, metric, distance, **kwargs):
    expected = exact.exact_alpha(rows, distance)
    coding = encode(rows, metric, **kwargs)
    found = [alpha.estimate(coding, budget=budget) for budget in (0, 2**40)]
    if expected is None:
        assert all(isinstance(one, Undefined) for one in found)
        return
    by_patterns, by_package = found
    assert isinstance(by_patterns, Alpha)
    assert isinstance(by_package, Alpha)
    assert (by_patterns.computed_by, by_package.computed_by) == ("patterns", "krippendorff")
    assert by_patterns.value == pytest.approx(float(expected), abs=1e-9)
    assert by_package.value == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_patterns_package_and_definition_agree(level, data):
    rows = data.draw(tables(st.integers(0, 5)))
    agree(rows, Metric(level), LEVELS[level](rows))


@pytest.mark.parametrize("level", ["interval", "ratio"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_they_agree_on_fractions(level, data):
    rows = data.draw(tables(st.integers(0, 64).map(lambda n: n / 64)))
    agree(rows, Metric(level), LEVELS[level](rows))


@pytest.mark.parametrize("level", SETS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_they_agree_on_sets(level, data):
    rows = data.draw(tables(st.frozensets(st.sampled_from("abc"))))
    agree(rows, Metric(level), SETS[level])


@settings(deadline=None, max_examples=60)
@given(tables(st.sampled_from("abc")))
def test_they_agree_on_a_declared_matrix(rows):
    matrix = {frozenset("ab"): Fraction(1), frozenset("ac"): Fraction(1, 2), frozenset("bc"): Fraction(1, 4)}

    def distance(a, b):
        return Fraction(0) if a == b else matrix[frozenset((a, b))]

    declared = tuple(tuple(float(distance(a, b)) for b in "abc") for a in "abc")
    agree(rows, Metric("matrix", declared), distance, domain=list("abc"))


@settings(deadline=None, max_examples=60)
@given(tables(st.sampled_from("abcd")), st.randoms(use_true_random=False))
def test_alpha_does_not_depend_on_who_coded_or_in_which_order(rows, random):
    before = alpha.estimate(encode(rows, Metric("nominal")), budget=0)
    columns = [random.sample(column, len(column)) for column in map(list, zip(*rows, strict=True))]
    random.shuffle(columns)
    after = alpha.estimate(
        encode([list(row) for row in zip(*columns, strict=True)], Metric("nominal")), budget=0
    )
    if isinstance(before, Alpha):
        assert isinstance(after, Alpha)
        assert after.value == pytest.approx(before.value, abs=1e-12)
    else:
        assert after == before


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_weights_stand_for_repeated_units(level):
    rows = [[1, 2, 3, 2, 1], [1, 2, 2, 3, 3]]
    times = np.array([3, 0, 2, 4, 1])
    coding = encode(rows, Metric(level))
    patterns = patterns_of(coding.take(np.repeat(np.arange(5), times)))
    assert patterns.weights.sum() == times.sum()
    repeated = [np.repeat(row, times).tolist() for row in rows]
    form = form_of(coding, patterns)
    found = form.figures(form.sums(patterns).times(patterns.weights[None, :])).alpha()[0]
    assert found == pytest.approx(exact.exact_float(repeated, LEVELS[level](repeated)), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "ratio"])
def test_many_values_take_the_sparse_way_to_the_same_figure(level):
    rng = np.random.Generator(np.random.PCG64(11))
    first = rng.integers(0, 400, 70)
    rows = [first.tolist(), np.clip(first + rng.integers(-2, 3, 70), 0, 399).tolist()]
    coding = encode(rows, Metric(level), domain=range(400))
    patterns = patterns_of(coding)
    sums = form_of(coding, patterns).sums(patterns)
    assert sums.cells * sums.width > SPARSE_FROM * sums.value.size
    weights = np.stack([patterns.weights, np.zeros_like(patterns.weights), 2 * patterns.weights])
    assert sums.times(weights) == pytest.approx(weights @ sums.dense)
    agree(rows, Metric(level), LEVELS[level](rows), domain=range(400))


def test_far_from_zero_little_is_lost():
    rows = [[10**9 + value for value in row] for row in ([1, 2, 3, 3, 2], [1, 2, 3, 2, 2])]
    agree(rows, Metric("interval"), exact.interval)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3), st.integers(-1, 50)), min_size=1))
def test_distinct_columns_are_counted_as_a_dictionary_would(columns):
    found, counts = distinct_columns(np.array(columns, dtype=np.int64).T)
    counted = {column: columns.count(column) for column in columns}
    assert {tuple(column): int(n) for column, n in zip(found.T.tolist(), counts, strict=True)} == counted


def test_distinct_columns_of_many_wide_rows_do_not_overflow():
    rows = np.array([[2**40, 0, 2**40], [2**40, 1, 2**40], [7, 2, 7]], dtype=np.int64)
    found, counts = distinct_columns(rows)
    assert sorted(zip(map(tuple, found.T.tolist()), counts.tolist(), strict=True)) == [
        ((0, 1, 2), 1),
        ((2**40, 2**40, 7), 2),
    ]
