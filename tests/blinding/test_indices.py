"""Bang's and James's indices against published counts, the R package BI 1.2.0, and cases worked by hand."""

from math import isclose

import pytest

from blinding import indices
from blinding.indices import Counts, Guess, Index, bang, james

# Rows: guess first arm, guess second arm, don't know; columns: true arm. CRISP is Bang 2004 table 7, SOX is
# Houweling 2014 table 2. Values of the R package, then: James, Bang in the first arm, Bang in the second.
CASES = {
    "CRISP": ((82, 27), (25, 29), (170, 83)),
    "SOX investigators": ((48, 22), (4, 30), (330, 319)),
    "SOX coordinators": ((94, 52), (11, 44), (289, 284)),
    "SOX patients": ((143, 104), (14, 57), (188, 175)),
    "random": ((50, 50), (50, 50), (0, 0)),
    "wishful": ((60, 60), (20, 20), (20, 20)),
    "all right": ((50, 0), (0, 50), (0, 0)),
    "all wrong": ((0, 50), (50, 0), (0, 0)),
    "all do not know": ((0, 0), (0, 0), (10, 10)),
    "near opposite": ((1, 49), (49, 1), (2, 2)),
}
JAMES = {
    "CRISP": (0.74792754, 0.021737398, 0.705323, 0.790532),
    "SOX investigators": (0.89641434, 0.010917577, 0.875016, 0.917812),
    "SOX coordinators": (0.8233896, 0.013286631, 0.797348, 0.849431),
    "SOX patients": (0.70511629, 0.01594075, 0.673873, 0.736360),
    "random": (0.5, 0.035355339, 0.430705, 0.569295),
    "wishful": (0.6, 0.03082207, 0.539590, 0.660410),
    "all right": (0, 0, 0, 0),
    "all wrong": (1, 0, 1, 1),
    "all do not know": (1, 0, 1, 1),
    "near opposite": (0.98076923, 0.013466821, 0.954375, 1.007164),
}
BANG = {
    ("CRISP", 0): (0.205776173, 0.035237090, 0.136713, 0.274840, 0.147816, 0.263736),
    ("CRISP", 1): (0.014388489, 0.053822962, -0.091103, 0.119880, -0.074142, 0.102919),
    ("SOX investigators", 0): (0.115183246, 0.017933740, 0.080034, 0.150333, 0.085685, 0.144682),
    ("SOX investigators", 1): (0.021563342, 0.019404667, -0.016469, 0.059596, -0.010354, 0.053481),
    ("SOX coordinators", 0): (0.210659898, 0.023743547, 0.164123, 0.257196, 0.171605, 0.249715),
    ("SOX coordinators", 1): (-0.021052632, 0.025761475, -0.071544, 0.029439, -0.063426, 0.021321),
    ("SOX patients", 0): (0.373913043, 0.030229149, 0.314665, 0.433161, 0.324191, 0.423636),
    ("SOX patients", 1): (-0.139880952, 0.036984552, -0.212369, -0.067393, -0.200715, -0.079047),
    ("random", 0): (0, 0.1, -0.195996, 0.195996, -0.164485, 0.164485),
    ("random", 1): (0, 0.1, -0.195996, 0.195996, -0.164485, 0.164485),
    ("wishful", 0): (0.4, 0.08, 0.243203, 0.556797, 0.268412, 0.531588),
    ("wishful", 1): (-0.4, 0.08, -0.556797, -0.243203, -0.531588, -0.268412),
    ("all right", 0): (1, 0, 1, 1, 1, 1),
    ("all right", 1): (1, 0, 1, 1, 1, 1),
    ("all wrong", 0): (-1, 0, -1, -1, -1, -1),
    ("all wrong", 1): (-1, 0, -1, -1, -1, -1),
    ("all do not know", 0): (0, 0, 0, 0, 0, 0),
    ("all do not know", 1): (0, 0, 0, 0, 0, 0),
    ("near opposite", 0): (-0.92307692, 0.045881841, -1.013004, -0.833150, -0.998546, -0.847608),
    ("near opposite", 1): (-0.92307692, 0.045881841, -1.013004, -0.833150, -0.998546, -0.847608),
}
EIGHT_DIGITS, SIX_DIGITS = 5.1e-9, 5.1e-7


def close(found: float, expected: float, tolerance: float) -> bool:
    return isclose(found, expected, rel_tol=0, abs_tol=tolerance)


def known(index: Index | None) -> Index:
    assert index is not None
    return index


def counts_of(case: str, arm: int) -> Counts:
    first, second, dont_know = CASES[case]
    right, wrong = (first, second)[arm], (second, first)[arm]
    return Counts(right[arm], wrong[arm], dont_know[arm])


@pytest.mark.parametrize("case", CASES)
def test_james_is_what_the_reference_gives(case):
    value, se, low, high = JAMES[case]
    found = known(james(*CASES[case]))
    assert close(found.value, value, EIGHT_DIGITS)
    assert close(found.se, se, EIGHT_DIGITS)
    assert close(found.interval()[0], low, SIX_DIGITS)
    assert close(found.interval()[1], high, SIX_DIGITS)


@pytest.mark.parametrize(("case", "arm"), BANG)
def test_bang_is_what_the_reference_gives(case, arm):
    value, se, low, high, lower, upper = BANG[case, arm]
    found = known(bang(counts_of(case, arm)))
    assert close(found.value, value, EIGHT_DIGITS)
    assert close(found.se, se, EIGHT_DIGITS)
    for limit, expected in zip(
        (*found.interval(), found.lower(), found.upper()), (low, high, lower, upper), strict=True
    ):
        assert close(limit, expected, SIX_DIGITS)


def test_intervals_are_not_clipped():
    assert known(james(*CASES["near opposite"])).upper(0.975) > 1
    assert known(bang(counts_of("near opposite", 0))).interval()[0] < -1


@pytest.mark.parametrize(
    ("counts", "share_right", "printed"), [(Counts(5, 3, 5), 62.5, 0.15), (Counts(7, 3, 3), 70, 0.31)]
)
def test_bang_gives_the_figures_boulind_prints(counts, share_right, printed):
    """Boulind 2011, 13 per arm."""
    assert counts.total == 13
    assert 100 * counts.right / (counts.right + counts.wrong) == share_right
    assert round(known(bang(counts)).value, 2) == printed


@pytest.mark.parametrize(
    ("counts", "value", "se"),
    [
        (Counts(40, 60, 20), 0.166667, 0.054857),
        (Counts(25, 75, 0), 0, 0.057735),
        (Counts(0, 30, 0), -0.333333, 0),
    ],
)
def test_four_arms_are_scaled_to_chance(counts, value, se):
    found = known(bang(counts, arms=4))
    assert close(found.value, value, SIX_DIGITS)
    assert close(found.se, se, SIX_DIGITS)


def test_indices_of_nothing_are_none():
    assert bang(Counts(0, 0, 0)) is None
    assert james((0, 0), (0, 0), (0, 0)) is None
    assert james((10, 0), (0, 0), (5, 5)) is None
    with pytest.raises(ValueError, match="two arms"):
        bang(Counts(1, 0, 0), arms=1)
    with pytest.raises(ValueError, match="two arms"):
        james((1, 1, 1), (1, 1, 1), (1, 1, 1))


def test_equivalence_needs_the_whole_interval():
    assert indices.within_margin((-0.19, 0.19))
    assert not indices.within_margin((-0.19, 0.2))
    assert not indices.within_margin(Index(0, 0.2).interval(0.9))


def guesses(coder: str, counts: dict[str, Counts], other: str = "z") -> list[Guess]:
    """Guesses spread over ten tasks."""
    made = []
    for arm, number in counts.items():
        picks = [arm] * number.right + [other] * number.wrong + [None] * number.dont_know
        made += [Guess(coder, f"task {place % 10}", arm, pick) for place, pick in enumerate(picks)]
    return made


def test_results_are_per_coder_and_arm():
    """Three arms to pick from: 30 right, 6 wrong, 4 don't know give 0.75 - 0.15 / 2."""
    made = guesses("two", {"x": Counts(30, 6, 4), "y": Counts(0, 20, 0)}, other="z")
    made += guesses("one", {"x": Counts(10, 9, 0), "y": Counts(1, 0, 20)}, other="z")
    found = indices.by_coder_and_arm(made, ["x", "y", "z"], seed=1, resamples=200)
    assert [(result.coder, result.arm) for result in found] == [
        ("one", "x"),
        ("one", "y"),
        ("two", "x"),
        ("two", "y"),
    ]
    assert close(known(found[2].index).value, 0.675, 1e-12)
    low, high = found[2].by_task or (0, 0)
    assert low < 0.675 < high
    assert known(found[3].index).value == -0.5


def test_under_twenty_guesses_only_counts_are_stated():
    made = guesses("one", {"x": Counts(10, 9, 0), "y": Counts(10, 5, 5)}, other="z")
    few, enough = indices.by_coder_and_arm(made, ["x", "y"], seed=1, resamples=50)
    assert (few.counts, few.index, few.by_task) == (Counts(10, 9, 0), None, None)
    assert enough.index is not None
    assert indices.james_by_coder(made, "x", "y") == {"one": None}


def test_james_by_coder_uses_both_arms():
    first, second, dont_know = CASES["CRISP"]
    made = [
        Guess("c", "t", arm, pick)
        for pick, row in zip(("x", "y", None), (first, second, dont_know), strict=True)
        for arm, number in zip(("x", "y"), row, strict=True)
        for _ in range(number)
    ]
    assert close(known(indices.james_by_coder(made, "x", "y")["c"]).value, 0.74792754, EIGHT_DIGITS)


def test_the_bootstrap_draws_whole_tasks():
    """Two tasks, one all right and one all wrong: a draw of tasks gives 1, 0 or -1."""
    made = [Guess("c", task, "x", pick) for task, pick in (("t", "x"), ("u", "y")) for _ in range(30)]
    assert indices.bootstrap(made, "x", 2, seed=3) == (-1, 1)
    same = [Guess("c", task, "x", pick) for task in "tuv" for pick in ("x", "x", "y", None)]
    assert indices.bootstrap(same, "x", 2, seed=3) == (0.25, 0.25)
    assert indices.bootstrap(made[:30], "x", 2, seed=3) is None
    mixed = [Guess("c", str(n % 7), "x", ("x", "y", None)[n % 3]) for n in range(50)]
    assert indices.bootstrap(mixed, "x", 2, seed=3) == indices.bootstrap(mixed, "x", 2, seed=3)


def test_randomisation_shuffles_arms_within_tasks():
    """Six tasks, two arms each, all right: every task must fall right by chance, once in 64."""
    right = [Guess("c", str(task), arm, arm) for task in range(6) for arm in "xy"]
    assert close(indices.randomisation_test(right, seed=1, resamples=4000) or 0, 1 / 64, 0.008)
    wrong = [Guess("c", guess.task, guess.arm, "y" if guess.arm == "x" else "x") for guess in right]
    assert indices.randomisation_test(wrong, seed=1, resamples=100) == 1
    one_arm_per_task = [Guess("c", arm, arm, arm) for arm in "xy" for _ in range(9)]
    assert indices.randomisation_test(one_arm_per_task, seed=1) is None
