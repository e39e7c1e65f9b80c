import numpy as np
import pytest

from adjudication.agreement import alpha, stratified
from adjudication.agreement.alpha import Alpha
from adjudication.agreement.bootstrap import Resampling, draws, interval
from adjudication.agreement.encode import Coding, encode
from adjudication.agreement.metric import Metric

NOMINAL = Metric("nominal")


def noisy(units: int, values: int, level: str = "nominal", seed: int = 1, coders: int = 2) -> Coding:
    rng = np.random.Generator(np.random.PCG64(seed))
    truth = rng.integers(0, values, units)
    rows = [np.where(rng.random(units) < 0.8, truth, rng.integers(0, values, units)) for _ in range(coders)]
    return Coding(np.stack(rows), tuple(range(values)), Metric(level))


def value(coding: Coding, tasks: np.ndarray | None = None) -> float:
    found = alpha.estimate(coding) if tasks is None else stratified.estimate(coding, tasks)
    assert isinstance(found, Alpha)
    return found.value


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("coders", [2, 3])
def test_units_resampled_one_by_one_give_the_same_interval(level, coders):
    coding = noisy(60, 4, level, coders=coders)
    rng = np.random.Generator(np.random.PCG64(99))
    naive = [value(coding.take(rng.integers(0, 60, 60))) for _ in range(800)]
    found = interval(coding, Resampling(resamples=6000, seed=7))
    assert (found.kind, found.resampled, found.resamples, found.undefined) == ("percentile", "unit", 6000, 0)
    assert not found.tasks_accounted_for
    assert [found.low, found.high] == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.03)


def test_tasks_resampled_one_by_one_give_the_same_interval():
    coding, tasks = noisy(120, 3), np.repeat(np.arange(12), 10)
    rng = np.random.Generator(np.random.PCG64(98))

    def one() -> np.ndarray:
        return np.concatenate([np.flatnonzero(tasks == t) for t in rng.integers(0, 12, 12)])

    naive = [value(coding.take(one())) for _ in range(800)]
    found = interval(coding, Resampling(resamples=6000, seed=7), tasks=tasks)
    assert (found.resampled, found.tasks, found.tasks_accounted_for) == ("task", 12, True)
    assert [found.low, found.high] == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.02)


def test_the_stratified_alpha_is_resampled_by_task():
    coding, tasks = noisy(120, 3), np.repeat(np.arange(12), 10)
    parts = stratified.task_parts(coding, tasks).figures
    rng = np.random.Generator(np.random.PCG64(97))
    naive = []
    for _ in range(3000):
        drawn = rng.integers(0, 12, 12)
        weight = parts.values[drawn]
        naive.append(1 - (weight @ parts.observed[drawn]) / (weight @ parts.expected[drawn]))
    found = interval(coding, Resampling(resamples=6000, seed=7), tasks=tasks, within_tasks=True)
    assert [found.low, found.high] == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.015)


def test_below_ten_tasks_units_are_drawn_and_one_task_left_out_at_a_time():
    coding, tasks = noisy(90, 3), np.repeat(np.arange(9), 10)
    found = interval(coding, Resampling(resamples=500), tasks=tasks)
    without = [value(coding.take(tasks != t)) for t in range(9)]
    assert (found.resampled, found.tasks, found.tasks_accounted_for) == ("unit", 9, False)
    assert found.leave_one_task_out == pytest.approx((min(without), max(without)), abs=1e-12)


def test_below_ten_tasks_a_stratified_alpha_draws_units_within_their_tasks():
    coding, tasks = noisy(90, 3), np.repeat(np.arange(3), 30)
    found = interval(coding, Resampling(resamples=4000), tasks=tasks, within_tasks=True)
    rng = np.random.Generator(np.random.PCG64(96))
    naive = [
        value(coding.take(np.concatenate([rng.integers(30 * t, 30 * t + 30, 30) for t in range(3)])), tasks)
        for _ in range(800)
    ]
    assert (found.resampled, found.tasks_accounted_for) == ("unit_within_task", False)
    assert [found.low, found.high] == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.03)
    without = [value(coding.take(tasks != t), tasks[tasks != t]) for t in range(3)]
    assert found.leave_one_task_out == pytest.approx((min(without), max(without)), abs=1e-12)


def test_the_protocol_can_fix_what_is_drawn():
    coding, few, many = noisy(60, 3), np.repeat(np.arange(6), 10), np.repeat(np.arange(12), 5)
    assert interval(coding, Resampling(resamples=99, unit="task"), tasks=few).resampled == "task"
    assert interval(coding, Resampling(resamples=99, unit="unit"), tasks=many).resampled == "unit"


def test_one_seed_gives_one_interval():
    coding = noisy(60, 3)
    first, again = (interval(coding, Resampling(resamples=500, seed=3)) for _ in range(2))
    assert first == again
    assert first != interval(coding, Resampling(resamples=500, seed=4))


def test_bootstrap_shares_count_resamples_below_the_thresholds():
    found = interval(noisy(60, 3), Resampling(resamples=4000, thresholds=(-1.0, 0.7, 1.1)))
    below = dict(found.below)
    assert (below[-1.0], below[1.1]) == (0.0, 1.0)
    assert 0 < below[0.7] < 1


def test_a_wider_coverage_gives_a_wider_interval():
    narrow, wide = (interval(noisy(60, 3), Resampling(resamples=2000, coverage=c)) for c in (0.8, 0.99))
    bounds = [wide.low, narrow.low, narrow.high, wide.high]
    assert bounds == sorted(bounds, key=lambda bound: bound or 0)
    assert len(set(bounds)) == 4


def test_without_any_disagreement_there_is_only_the_exact_lower_bound():
    # 20 units half a, half b: D_e = 2·20·20/(40·39); at most 1 − .025^(1/20) of the units disagrees
    coding = encode([["a"] * 10 + ["b"] * 10] * 2, NOMINAL)
    found = interval(coding, Resampling())
    assert (found.kind, found.high, found.resamples) == ("exact_lower_bound", None, 0)
    assert found.low == pytest.approx(1 - (1 - 0.025 ** (1 / 20)) / (800 / 1560), abs=1e-12)


@pytest.mark.parametrize("level", ["interval", "ordinal"])
def test_the_exact_bound_does_not_depend_on_the_unit_of_measurement(level):
    bounds = [
        interval(encode([[low] * 10 + [high] * 10] * 2, Metric(level)), Resampling()).low
        for low, high in ((0, 1), (0, 100), (7, 9))
    ]
    assert bounds == pytest.approx([1 - (1 - 0.025 ** (1 / 20)) / (800 / 1560)] * 3, abs=1e-12)


def test_the_exact_bound_within_tasks_uses_disagreement_expected_within_tasks():
    coding = encode([list("aabbccdd" * 3)] * 2, NOMINAL)
    tasks = np.tile(np.repeat([0, 1], 4), 3)
    found = interval(coding, Resampling(), tasks=tasks, within_tasks=True)
    # each task: 12 units, 24 values, half and half
    assert found.low == pytest.approx(1 - (1 - 0.025 ** (1 / 24)) / (2 * 144 / (24 * 23)), abs=1e-12)


def test_fewer_than_ten_units_have_no_interval():
    found = interval(encode([list("aabbaabba"), list("aabbaabbb")], NOMINAL), Resampling())
    assert (found.kind, found.reason, found.low) == ("none", "fewer_than_10_pairable_units", None)


def test_a_minority_in_fewer_than_five_units_has_no_interval():
    four = encode([["a"] * 96 + ["b"] * 4, ["a"] * 97 + ["b"] * 3], NOMINAL)
    five = encode([["a"] * 95 + ["b"] * 5, ["a"] * 97 + ["b"] * 3], NOMINAL)
    assert interval(four, Resampling(resamples=100)).reason == "minority_below_5_units"
    assert interval(five, Resampling(resamples=100)).reason is None


def test_more_than_one_per_cent_of_undefined_resamples_is_too_many():
    # all variation lies in one of twelve tasks: (11/12)^12 = 35 % of resamples miss it
    tasks = np.repeat(np.arange(12), 10)
    rows = [["a"] * 110 + list("ababababab"), ["a"] * 110 + list("abababbbba")]
    found = interval(encode(rows, NOMINAL), Resampling(resamples=4000), tasks=tasks)
    assert (found.kind, found.reason) == ("none", "too_many_undefined_resamples")
    assert found.undefined / found.resamples == pytest.approx((11 / 12) ** 12, abs=0.03)


def test_missing_values_leave_units_out_of_the_draw():
    whole, rng = noisy(80, 3), np.random.Generator(np.random.PCG64(2))
    with_gaps = Coding(whole.index.copy(), whole.domain, whole.metric)
    with_gaps.index[0, rng.permutation(80)[:30]] = -1
    pairable = with_gaps.take(with_gaps.paired)
    assert interval(with_gaps, Resampling(resamples=300)) == interval(pairable, Resampling(resamples=300))


@pytest.mark.parametrize("weights", [[400.0, 300.0, 200.0, 100.0], [2.0, 1.0, 1.0]])
def test_draws_follow_the_weights(weights):
    # the first is drawn as a multinomial, the second unit by unit
    rng, share = np.random.Generator(np.random.PCG64(8)), np.array(weights) / sum(weights)
    rows = np.concatenate(list(draws(rng, np.array(weights), 5000, width=3)))
    n = sum(weights)
    assert (rows.sum(axis=1) == n).all()
    assert rows.mean(axis=0) == pytest.approx(n * share, rel=0.05)
    assert rows.var(axis=0) == pytest.approx(n * share * (1 - share), rel=0.1)


def test_nominal_fields_with_many_values_take_no_square_matrix():
    rng = np.random.Generator(np.random.PCG64(6))
    first = rng.integers(0, 3000, 4000)
    second = np.where(rng.random(4000) < 0.7, first, rng.integers(0, 3000, 4000))
    coding = Coding(np.stack([first, second]), tuple(range(3000)), NOMINAL)
    found = interval(coding, Resampling(resamples=200))
    assert found.low is not None
    assert found.high is not None
    assert found.low < value(coding) < found.high


def test_distances_between_too_many_values_are_not_resampled():
    coding = encode(
        [[n / 7 for n in range(1, 3001)], [n / 7 + n % 2 for n in range(1, 3001)]], Metric("ratio")
    )
    assert interval(coding, Resampling()).reason == "too_many_values"
