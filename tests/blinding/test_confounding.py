import json
import math

import numpy as np
import pytest

from blinding.confounding import (
    check,
    codes,
    explained,
    guess,
    lengths_by_arm,
    one_arm_batches,
    repeated_texts,
    text_digest,
    uncertainty_coefficient,
)


def generator():
    return np.random.default_rng(20250101)


def upload(outputs=240, tasks=20, arms=("amber", "cobalt")):
    """A balanced design: every task has each arm equally often."""
    task = [f"t{number % tasks}" for number in range(outputs)]
    arm = [arms[(number // tasks) % len(arms)] for number in range(outputs)]
    return task, arm


def checked(arm, task, **changes):
    columns = {
        "tasks": task,
        "batches": ["main 1"] * len(task),
        "shown": {},
        "digests": [str(number).encode() for number in range(len(task))],
        "lengths": [100] * len(task),
        "generator": generator(),
        "permutations": 99,
    }
    return check({"condition": arm}, **{**columns, **changes})


def row(result, thing):
    return next(one for one in result.explained if one.thing == thing)


# The share explained


def test_a_thing_that_fixes_the_arm_explains_all_of_it():
    arm = codes(["a", "a", "b", "b"])
    assert uncertainty_coefficient(arm, codes([1, 1, 2, 2])) == pytest.approx(1)
    assert uncertainty_coefficient(arm, codes([1, 2, 3, 4])) == pytest.approx(1)


def test_a_thing_crossed_with_the_arm_explains_nothing():
    assert uncertainty_coefficient(codes(["a", "b", "a", "b"]), codes([1, 1, 2, 2])) == pytest.approx(0)


def test_a_worked_example_by_hand():
    """Two arms of four; a thing with levels (a a a b) and (a b b b): H = ln 2, H(arm | thing) = H(1/4)."""
    arm, thing = codes(list("aaababbb")), codes([1, 1, 1, 1, 2, 2, 2, 2])
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert uncertainty_coefficient(arm, thing) == pytest.approx(1 - quarter / math.log(2))


@pytest.mark.parametrize("arm", [[], ["a"], ["a", "a", "a"]])
def test_one_arm_leaves_nothing_to_explain(arm):
    assert uncertainty_coefficient(codes(arm), codes(range(len(arm)))) == 0


# Against permutations


def test_a_balanced_design_shows_nothing():
    task, arm = upload()
    result = checked(arm, task, shown={"cluster": [f"{one}-{number % 3}" for number, one in enumerate(task)]})
    assert row(result, "task").share == pytest.approx(0)
    assert row(result, "task").p == 1
    assert row(result, "cluster").p > 0.05
    assert row(result, "batch").share == row(result, "identical_text").share == 0


def test_a_cluster_that_follows_the_arm_within_its_task_is_found():
    task, arm = upload()
    result = checked(
        arm, task, shown={"cluster": [f"{one}-{value}" for one, value in zip(task, arm, strict=True)]}
    )
    cluster = row(result, "cluster")
    assert cluster.within_tasks
    assert cluster.share == pytest.approx(1)
    assert cluster.p == pytest.approx(0.01)
    assert cluster.expected < 0.5


def test_tasks_of_one_arm_each_are_found_over_all_outputs():
    task = [f"t{number % 20}" for number in range(240)]
    arm = ["amber" if number % 20 < 10 else "cobalt" for number in range(240)]
    result = checked(arm, task)
    assert not row(result, "task").within_tasks
    assert (row(result, "task").share, row(result, "task").p) == (pytest.approx(1), pytest.approx(0.01))


def test_texts_of_their_own_explain_nothing_and_repeated_ones_may():
    task, arm = upload()
    digests = [value.encode() if number < 120 else str(number).encode() for number, value in enumerate(arm)]
    assert row(checked(arm, task), "identical_text").levels == 1
    assert row(checked(arm, task, digests=digests), "identical_text").p == pytest.approx(0.01)


def test_the_same_generator_gives_the_same_figures():
    task, arm = upload()
    cluster = {"cluster": [f"{one}-{number % 5}" for number, one in enumerate(task)]}
    assert checked(arm, task, shown=cluster) == checked(arm, task, shown=cluster)


def test_p_values_are_uniform_where_nothing_is_there():
    rng = generator()
    task = codes([number % 10 for number in range(80)])
    values = []
    for _ in range(60):
        arm, cluster = rng.integers(0, 2, 80), rng.integers(0, 4, 80)
        values.append(explained("model", arm, {"cluster": cluster}, task, rng, 39)[0].p)
    assert 0.35 < np.mean(values) < 0.65
    assert np.mean(np.array(values) <= 0.1) < 0.25


# Lengths


def test_lengths_are_described_by_arm():
    rows = lengths_by_arm("model", ["b", "a", "b", "b", "b"], [10, 7, 20, 30, 40])
    assert [(one.value, one.texts, one.mean, one.quartiles) for one in rows] == [
        ("a", 1, 7.0, (7.0, 7.0, 7.0)),
        ("b", 4, 25.0, (17.5, 25.0, 32.5)),
    ]


def test_lengths_that_fix_the_arm_are_guessed():
    task, arm = upload()
    lengths = np.array(
        [100.0 + number % 7 if value == "amber" else 400.0 for number, value in enumerate(arm)]
    )
    result = guess("condition", codes(arm), lengths, codes(task), generator(), 99)
    assert result.balanced_accuracy == pytest.approx(1)
    assert result.auc == pytest.approx(1)
    assert result.chance == 0.5
    assert result.p == pytest.approx(0.01)


def test_lengths_that_say_nothing_are_not_guessed():
    task, arm = upload(outputs=1200, tasks=60, arms=("a", "b", "c"))
    lengths = generator().integers(50, 500, 1200).astype(float)
    result = guess("condition", codes(arm), lengths, codes(task), generator(), 99)
    assert result.chance == pytest.approx(1 / 3)
    assert abs(result.balanced_accuracy - 1 / 3) < 0.06
    assert abs(result.auc - 0.5) < 0.06
    assert result.p > 0.05


def test_an_arm_in_the_middle_is_guessed_too():
    """Short and long against medium: no single threshold tells them, bins do."""
    task, arm = upload()
    lengths = np.array(
        [250.0 if value == "amber" else (50.0, 600.0)[n % 3 > 0] for n, value in enumerate(arm)]
    )
    assert guess("condition", codes(arm), lengths, codes(task), generator(), 19).balanced_accuracy > 0.95


@pytest.mark.parametrize("arm", [[], ["a"], ["a", "a", "a"]])
def test_nothing_is_guessed_where_there_is_one_arm(arm):
    result = guess("model", codes(arm), np.ones(len(arm)), codes(range(len(arm))), generator(), 9)
    assert (result.balanced_accuracy, result.chance, result.auc, result.p) == (1.0, 1.0, 0.5, 1.0)


def test_equal_lengths_and_few_outputs_are_no_error():
    result = guess("model", codes(["a", "b"]), np.array([5.0, 5.0]), codes(["t", "t"]), generator(), 9)
    assert 0 <= result.balanced_accuracy <= 1
    assert result.p == 1


# Texts and batches


def test_identical_texts_under_several_arms_are_listed():
    digests = [text_digest(text) for text in ("one", "two ", "one", " two", "three", "one")]
    found = repeated_texts("model", ["a", "b", "b", "b", "a", "a"], digests)
    assert [(one.outputs, one.values) for one in found] == [((0, 2, 5), ("a", "b"))]


def test_a_digest_ignores_white_space_only():
    assert text_digest("a  b\n") == text_digest("a b")
    assert text_digest("a b") != text_digest("A b")
    assert len(text_digest("\ud800")) == 16


def test_batches_of_one_arm_are_named():
    assert one_arm_batches(["a", "a", "b", "a"], ["m1", "m1", "m2", "m2"]) == ["m1"]


def test_the_check_gathers_everything_and_is_plain_json():
    task, arm = upload(outputs=40, tasks=4)
    result = checked(arm, task, batches=["m1" if value == "amber" else "m2" for value in arm])
    assert result.one_arm_batches == (("condition", "m1"), ("condition", "m2"))
    assert row(result, "batch").share == pytest.approx(1)
    assert result.repeated_total == 0
    assert json.loads(json.dumps(result.to_dict()))["explained"][0]["thing"] == "task"


def test_columns_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="one entry per output"):
        checked(["a", "b"], ["t"])
