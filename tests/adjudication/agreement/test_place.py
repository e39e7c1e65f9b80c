from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudication.agreement import stratified
from adjudication.agreement.alpha import Alpha
from adjudication.agreement.companions import cohen_kappa
from adjudication.agreement.encode import AgreementInputError, encode
from adjudication.agreement.metric import Metric
from adjudication.agreement.place import (
    REJECTED,
    Place,
    Placed,
    compare_membership,
    derive_place,
    place_labels,
    read_place,
)


def decision(kind, cluster="C1", target=None):
    return {"cluster_id": cluster, "decision": kind, "merge_target": target, "notes": ""}


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (decision("confirm"), Place("C1")),
        (decision("merge_with_other", target="C3"), Place("C3")),
        (decision("split", "N1"), Place("N1", "K4")),
        (decision("split", "C1"), Place("C1")),
        (decision("confirm", "N2"), Place("N2", "K4")),
        (decision("merge_with_other", target="N1"), Place("N1", "K4")),
        (decision("reject_as_nonsemantic_noise"), REJECTED),
        (decision("uncertain"), None),
    ],
)
def test_the_place_follows_from_the_decision(answer, place):
    assert derive_place(answer, "K4") == place


@pytest.mark.parametrize(
    "answer",
    [
        decision("agree"),
        decision("merge_with_other"),
        {"decision": "confirm"},
        decision("confirm", ""),
        {},
        7,
    ],
)
def test_an_answer_that_is_none_is_refused_with_its_place(answer):
    with pytest.raises(AgreementInputError) as caught:
        read_place(answer, "K4", "u1")
    assert "coder K4, unit u1" in caught.value.place


def put(task, first, second, start=0):
    """Outputs of one task and where two coders put them: C is the task's, N the coder's own, X rejected."""

    def place(name, coder):
        if name == "X":
            return REJECTED
        return None if name == "?" else Place(name, coder if name[0] == "N" else "")

    pairs = zip(first.split(), second.split(), strict=True)
    return [
        Placed(f"{task}-{start + n}", task, {"K4": place(a, "K4"), "R9": place(b, "R9")})
        for n, (a, b) in enumerate(pairs)
    ]


def labels(outputs):
    return [(found["K4"], found["R9"]) for found in place_labels(outputs)]


def test_clusters_of_the_task_and_rejection_compare_by_name():
    assert labels(put("t", "C1 C1 X X ?", "C1 C2 X C1 C1")) == [
        ("cluster C1", "cluster C1"),
        ("cluster C1", "cluster C2"),
        ("reject", "reject"),
        ("reject", "cluster C1"),
        (None, "cluster C1"),
    ]


def test_new_clusters_with_the_same_members_are_one_place_whatever_their_names():
    found = labels(put("t", "N1 N1 N2 C1", "N2 N2 N1 C1"))
    assert all(a == b for a, b in found)
    assert len({a for a, _ in found}) == 3


def test_new_clusters_of_one_name_and_other_members_are_two_places():
    assert all(a != b for a, b in labels(put("t", "N1 N1 C1 C1", "C1 C1 N1 N1")))


def test_more_than_half_of_the_members_have_to_be_shared():
    # 2 of 3 in both: one place; 1 of 2, and 2 of 4: not
    most = labels(put("t", "N1 N1 N1 C1", "N1 N1 C1 C1"))
    half = labels(put("t", "N1 N1 C1", "N1 C1 C1"))
    assert most[0][0] == most[0][1]
    assert half[0][0] != half[0][1]
    assert labels(put("t", "N1 N1 N1 C1", "C1 N1 N1 N1"))[1][0] != "cluster C1"


def test_new_clusters_of_two_tasks_never_meet():
    outputs = [*put("t", "N1 N1", "C1 C1"), *put("u", "C1 C1", "N1 N1")]
    assert all(a != b for a, b in labels(outputs))


def test_outputs_that_one_coder_was_uncertain_about_do_not_part_new_clusters():
    found = labels(put("t", "N1 N1 N1 N1", "N1 ? ? ?"))
    assert found[0][0] == found[0][1]


def test_only_outputs_of_both_coders_count_where_several_people_share_a_slot():
    outputs = [
        Placed("1", "t", {"K4": Place("N1", "K4"), "R9": Place("N1", "R9")}),
        Placed("2", "t", {"M2": Place("N1", "M2"), "R9": Place("N1", "R9")}),
        Placed("3", "t", {"M2": Place("N1", "M2"), "R9": Place("C1")}),
    ]
    one, two, three = place_labels(outputs)
    assert one["K4"] == one["R9"]
    assert two["M2"] != two["R9"]  # of M2's two outputs R9 has one in the cluster: half
    assert three["R9"] == "cluster C1"


def test_random_new_clusters_never_look_like_agreement():
    rng = np.random.Generator(np.random.PCG64(3))
    names = ["C1", "C2", "C3", "N1"]
    outputs = [
        placed
        for task in range(300)
        for placed in put(str(task), *(" ".join(rng.choice(names, 12)) for _ in range(2)))
    ]
    found = place_labels(outputs)
    coding = encode([[row[coder] for row in found] for coder in ("K4", "R9")], Metric("nominal"))
    alpha = stratified.estimate(coding, np.repeat(np.arange(300), 12))
    assert isinstance(alpha, Alpha)
    assert -0.07 < alpha.value < 0.02
    membership = compare_membership(outputs)
    assert membership.alpha == pytest.approx(0, abs=0.02)
    assert membership.rand == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(
    ("first", "second", "rand"),
    [
        # Hubert and Arabie's index as worked in textbooks
        ("C1 C1 C2 C2", "C2 C2 C1 C1", 1),
        ("C1 C1 C2 C3", "C1 C1 C2 C2", 4 / 7),
        ("C1 C1 C2 C2", "C1 C2 C1 C2", -0.5),
        ("C1 C1 C1 C1", "C1 C2 C3 N1", 0),
        ("C1 C1 C1 C1", "C1 C1 C1 C1", None),
    ],
)
def test_adjusted_rand_index(first, second, rand):
    found = compare_membership(put("t", first, second)).rand
    assert found == (None if rand is None else pytest.approx(rand))


def test_pairs_of_outputs_worked_by_hand():
    # pairs 12 13 14 23 24 34; first: 12 and 34 together, second: 12 only (a rejected output is with no other)
    found = compare_membership(put("t", "C1 C1 N1 N1", "C2 C2 X X"))
    assert (found.pairs, found.same_both, found.same_first, found.same_second, found.same_neither) == (
        6,
        1,
        1,
        0,
        4,
    )
    # values: 3 same, 9 not; D_o 1/6, D_e 2·3·9/(12·11)
    assert found.alpha == pytest.approx(1 - (1 / 6) / (54 / 132))


def test_pairs_lie_within_tasks():
    both = [*put("t", "C1 C1", "C1 C1"), *put("u", "C1 C1", "C1 C2")]
    found = compare_membership(both)
    assert (found.pairs, found.tasks) == (2, 2)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["C1", "C2", "N1"]), st.sampled_from(["C1", "N1", "N2"])), min_size=2)
)
def test_within_one_task_the_rand_index_is_the_kappa_of_pairs(codes):
    # Warrens (2008)
    outputs = put("t", " ".join(a for a, _ in codes), " ".join(b for _, b in codes))
    table = np.zeros((2, 2))
    for one, two in combinations(codes, 2):
        table[int(one[0] != two[0]), int(one[1] != two[1])] += 1
    found, kappa = compare_membership(outputs).rand, cohen_kappa(table)
    if found is not None and kappa is not None:
        assert found == pytest.approx(kappa)
