from fractions import Fraction

import numpy as np
import pytest

from adjudication.agreement.metric import Metric, distance_of
from tests.adjudication.agreement import exact

EMPTY, A, B, AB, AC, ABC = (frozenset(text) for text in ("", "a", "b", "ab", "ac", "abc"))
SETS = [EMPTY, A, B, AB, AC, ABC]


@pytest.mark.parametrize(
    ("one", "two", "overlap", "masi", "dkpro"),
    [
        (EMPTY, EMPTY, 0, 0, 0),
        (A, A, 0, 0, 0),
        (EMPTY, A, Fraction(1, 3), 1, Fraction(1, 3)),
        (A, AB, Fraction(1, 3), Fraction(2, 3), Fraction(1, 6)),
        (AB, AC, Fraction(2, 3), Fraction(8, 9), Fraction(4, 9)),
        (AB, ABC, Fraction(1, 3), Fraction(5, 9), Fraction(1, 9)),
        (A, B, 1, 1, 1),
    ],
)
def test_set_distances_worked_by_hand(one, two, overlap, masi, dkpro):
    i, j = np.array([SETS.index(one)]), np.array([SETS.index(two)])
    for level, expected in (("overlap", overlap), ("masi", masi), ("dkpro-masi", dkpro)):
        distance = distance_of(Metric(f"set:{level}"), SETS, np.zeros(0))
        assert distance(i, j)[0] == pytest.approx(float(expected), abs=1e-15)
        assert distance(j, i)[0] == pytest.approx(float(expected), abs=1e-15)


def test_ratio_of_two_zeros_is_no_distance():
    distance = distance_of(Metric("ratio"), (0, 1, 3), np.array([0.0, 1.0, 3.0]))
    found = distance(np.array([0, 0, 1]), np.array([0, 1, 2]))
    assert found.tolist() == [0, 1, float(exact.ratio(1, 3))]


def test_every_level_names_its_formula():
    assert "1 − J·M" in Metric("set:masi").name
    assert Metric("set:masi").name != Metric("set:dkpro-masi").name
