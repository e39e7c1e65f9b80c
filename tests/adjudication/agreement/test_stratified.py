import numpy as np
import pytest

from adjudication.agreement import alpha, stratified
from adjudication.agreement.alpha import Alpha, Undefined
from adjudication.agreement.encode import Coding, encode
from adjudication.agreement.metric import Metric

NOMINAL = Metric("nominal")


def defined(found) -> Alpha:
    assert isinstance(found, Alpha)
    return found


def test_two_tasks_worked_by_hand():
    # task 0: D_o 1/3, D_e 2·3·3/(6·5) = .6, n 6; task 1: all the same, n 4
    coding = encode([list("aabcc"), list("abbcc")], NOMINAL)
    tasks = np.array([0, 0, 0, 1, 1])
    found = defined(stratified.estimate(coding, tasks))
    assert found.value == pytest.approx(1 - 2 / 3.6)
    assert (found.observed, found.expected) == pytest.approx((0.2, 0.36))
    assert (found.units, found.values) == (5, 10)
    parts = stratified.task_parts(coding, tasks)
    assert parts.without_variation == 1
    assert parts.units.tolist() == [3, 2]


def test_one_task_is_plain_alpha():
    coding = encode([list("aabbc"), list("abbcc")], NOMINAL)
    one = stratified.estimate(coding, np.zeros(5, dtype=np.int64))
    assert defined(one).value == pytest.approx(defined(alpha.estimate(coding)).value, abs=1e-12)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([["a", "b"]], "fewer_than_two_coders"),
        ([["a", None], [None, "b"]], "no_pairable_units"),
        ([["a", "b"], ["a", "b"]], "no_variation"),
    ],
)
def test_what_has_no_alpha_says_why(data, reason):
    assert stratified.estimate(encode(data, NOMINAL), np.array([0, 1])) == Undefined(reason)


def random_places(tasks: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two coders who place every output at random among the 1 to 5 clusters of its task."""
    rng = np.random.Generator(np.random.PCG64(seed))
    task = np.repeat(np.arange(tasks), size)
    clusters = rng.integers(1, 6, tasks)[task]
    return task, rng.integers(0, clusters), rng.integers(0, clusters)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_placement_gives_zero_within_tasks_and_not_with_pooled_chance(seed):
    task, first, second = random_places(300, 12, seed)
    bare = Coding(np.stack([first, second]), tuple("12345"), NOMINAL)
    apart = Coding(bare.index + 5 * task, tuple(range(1500)), NOMINAL)
    assert defined(stratified.estimate(bare, task)).value == pytest.approx(0, abs=0.03)
    assert defined(stratified.estimate(apart, task)).value == pytest.approx(0, abs=0.03)
    assert defined(alpha.estimate(bare)).value > 0.1
    assert defined(alpha.estimate(apart)).value > 0.35


def test_coin_flips_over_the_classes_of_a_task_give_zero():
    rng = np.random.Generator(np.random.PCG64(4))
    task = np.repeat(np.arange(200), 10)
    rows = [
        [frozenset(f"t{t}{c}" for c in "ab" if rng.random() < 0.5) for t in task.tolist()] for _ in range(2)
    ]
    coding = encode(rows, Metric("set:masi"))
    assert defined(stratified.estimate(coding, task)).value == pytest.approx(0, abs=0.03)
    assert defined(alpha.estimate(coding)).value > 0.2


def test_the_package_finds_the_same_expected_disagreement_in_every_task():
    task, first, second = random_places(40, 6, 9)
    coding = Coding(np.stack([first, second]), tuple("12345"), NOMINAL)
    check = stratified.package_check(coding, task)
    varied = len({t for t in task.tolist() if len({*first[task == t], *second[task == t]}) > 1})
    assert check.tasks == varied
    assert check.passed
    assert check.largest_difference < 1e-12


def test_the_package_agrees_where_a_task_is_perfect():
    coding = encode([list("abab"), list("abab")], NOMINAL)
    assert stratified.package_check(coding, np.zeros(4, dtype=np.int64)).largest_difference == 0
