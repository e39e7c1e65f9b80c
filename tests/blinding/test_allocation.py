"""Orders are random, independent of labels, spaced, evenly crossed, and can be redone from the seed."""

import hashlib
import hmac
import itertools
import random
import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blinding import allocation
from blinding.allocation import Placement, Unit, allocate, shuffled, spaced

SEED = bytes(range(32))
ONE_EACH = {"A": ["a1"], "B": ["b1"]}


def seed(number: int) -> bytes:
    return hashlib.sha256(f"seed {number}".encode()).digest()


def units(tasks: int, each: int, variants: int = 0) -> list[Unit]:
    """`tasks` × `each` outputs with ids in no order; with `variants`, so many tasks make a group."""
    return [
        Unit(
            hashlib.md5(f"{task}/{number}".encode()).hexdigest(),
            f"task {task}",
            f"group {task // variants}" if variants else None,
        )
        for task in range(tasks)
        for number in range(each)
    ]


def orders(placements: list[Placement]) -> dict[tuple[str, str], list[str]]:
    """The ids of each (slot, member), by position, which must count from 1 without a gap."""
    work: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for blinded_id, slot, member, position in placements:
        assert position not in work[slot, member]
        work[slot, member][position] = blinded_id
    for places in work.values():
        assert sorted(places) == list(range(1, len(places) + 1))
    return {who: [places[index + 1] for index in range(len(places))] for who, places in work.items()}


def nearest(order: list[str], group: dict[str, str]) -> int:
    """The smallest distance between two ids of one group; the length of the order if no two share one."""
    last: dict[str, int] = {}
    least = len(order)
    for position, item in enumerate(order):
        if group[item] in last:
            least = min(least, position - last[group[item]])
        last[group[item]] = position
    return least


def redone(ids: list[str], secret: bytes, *purpose: str) -> list[str]:
    """`shuffled` as its description says, written anew."""
    message = b"".join(len(word.encode()).to_bytes(4, "big") + word.encode() for word in purpose)
    key = hmac.new(secret, message, hashlib.sha256).digest()
    return sorted(ids, key=lambda item: hmac.new(key, item.encode(), hashlib.sha256).digest())


def respaced(order: list[str], group: dict[str, str], spacing: int) -> list[str]:
    """`spaced` as its description says where spacing fits, written anew without any of its structures."""
    left, line = list(order), list[str]()
    while left:
        sizes = Counter(group[item] for item in left)
        most = max(sizes.values())
        largest = [key for key, size in sizes.items() if size == most]
        near = {group[item] for item in line[max(0, len(line) - spacing + 1) :]}
        open_now = [item for item in left if group[item] not in near]
        if (most - 1) * spacing + len(largest) == len(left):
            open_now = [item for item in open_now if group[item] in largest]
        line.append(open_now[0])
        left.remove(open_now[0])
    return line


def test_a_shuffle_is_sorted_by_keyed_hash():
    ids = [f"id-{number}" for number in range(50)]
    assert shuffled(SEED, ids, "order", "A", "a1") == redone(ids, SEED, "order", "A", "a1")
    assert shuffled(SEED, ids[::-1], "order", "A", "a1") == redone(ids, SEED, "order", "A", "a1")
    assert shuffled(SEED, ids, "ab", "c") != shuffled(SEED, ids, "a", "bc")
    with pytest.raises(ValueError, match="128 bits"):
        shuffled(b"short", ids, "order")


def test_orders_can_be_redone_from_the_seed():
    outputs = units(6, 4)
    group = {unit.blinded_id: unit.spacing_key for unit in outputs}
    for (slot, member), order in orders(allocate(outputs, ONE_EACH, 3, SEED)).items():
        assert order == respaced(redone(list(group), SEED, "order", slot, member), group, 3)


def test_nothing_depends_on_the_order_of_what_is_given():
    outputs, members = units(5, 4, variants=2), {"A": ["a1", "a2"], "B": ["b1", "b2"], "audit": ["x1", "x2"]}
    turned = {slot: names[::-1] for slot, names in reversed(members.items())}
    assert allocate(outputs, members, 3, SEED, 0.3) == allocate(outputs[::-1], turned, 3, SEED, 0.3)
    assert allocate(outputs, members, 3, SEED, 0.3) != allocate(outputs, members, 3, seed(1), 0.3)


def test_each_output_has_one_coder_in_each_slot():
    outputs = units(7, 5)
    placements = allocate(outputs, {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}, 3, SEED)
    for slot in ("A", "B"):
        ids = [placement.blinded_id for placement in placements if placement.slot == slot]
        assert sorted(ids) == sorted(unit.blinded_id for unit in outputs)
    assert placements == sorted(placements, key=lambda p: (p.slot, p.member, p.position))


def chi_square(positions_by_seed: list[dict[str, int]], labels: dict[str, str]) -> float:
    """χ² of position × label, two labels of equal size: one degree of freedom less than positions."""
    size, half = len(labels), len(positions_by_seed) / 2
    table = Counter(
        position
        for places in positions_by_seed
        for item, position in places.items()
        if labels[item] == "hint"
    )
    return (
        sum((table[position] - half) ** 2 / (half / 2) for position in range(1, size + 1)) * (size - 1) / size
    )


def labelled(outputs: list[Unit]) -> dict[str, str]:
    return {unit.blinded_id: ("hint", "plain")[number % 2] for number, unit in enumerate(outputs)}


def test_positions_are_independent_of_labels():
    """χ² with 11 degrees of freedom exceeds 31.26 once in a thousand; 400 seeds, spacing on, each slot."""
    outputs = units(3, 4)
    labels, found = labelled(outputs), defaultdict(list)
    for number in range(400):
        for (slot, _), order in orders(allocate(outputs, ONE_EACH, 3, seed(number))).items():
            found[slot].append({item: position for position, item in enumerate(order, start=1)})
    for slot in ("A", "B"):
        assert chi_square(found[slot], labels) < 31.26


def test_the_same_test_sees_an_order_that_follows_labels():
    labels = labelled(units(3, 4))
    biased = sorted(labels, key=lambda item: labels[item])
    places = [{item: position for position, item in enumerate(biased, start=1)}] * 400
    assert chi_square(places, labels) > 1000


def test_each_place_is_as_likely_for_every_output_without_spacing():
    """400 seeds, 6 outputs: 36 cells, 25 degrees of freedom, 52.62 once in a thousand."""
    ids = sorted(unit.blinded_id for unit in units(6, 1))
    table: Counter[tuple[int, str]] = Counter()
    for number in range(400):
        order = orders(allocate(units(6, 1), ONE_EACH, 3, seed(number)))["A", "a1"]
        table.update(enumerate(order))
    expected = 400 / 6
    cells = itertools.product(range(6), ids)
    assert sum((table[cell] - expected) ** 2 / expected for cell in cells) < 52.62


def test_coders_have_independent_orders():
    """The mean rank correlation of A and B over 400 seeds of 12 outputs is 0 ± three standard errors."""
    outputs, total = units(12, 1), 0.0
    for number in range(400):
        one, two = orders(allocate(outputs, ONE_EACH, 3, seed(number))).values()
        squares = sum((one.index(item) - two.index(item)) ** 2 for item in one)
        total += 1 - 6 * squares / (12 * (12**2 - 1))
    assert abs(total / 400) < 3 / (11**0.5 * 20)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(0, 10**6),
)
def test_spacing_holds_whenever_it_fits(sizes, spacing, number):
    """It fits if (largest group - 1) × spacing + number of such groups is no more than all there are."""
    group = {f"{key}/{index}": str(key) for key, size in enumerate(sizes) for index in range(size)}
    order = shuffled(seed(number), group, "any")
    line = spaced(order, group, spacing)
    assert sorted(line) == sorted(group)
    most = max(sizes)
    if most > 1:
        fits = min(spacing, (len(group) - sizes.count(most)) // (most - 1))
        assert nearest(line, group) >= fits
        if fits == spacing:
            assert line == respaced(order, group, spacing)
    else:
        assert line == order


def can_be_spaced(sizes: list[int], spacing: int, line: tuple[int, ...] = ()) -> bool:
    """Try every line."""
    if not any(sizes):
        return True
    return any(
        size
        and key not in line[max(0, len(line) - spacing + 1) :]
        and can_be_spaced([*sizes[:key], size - 1, *sizes[key + 1 :]], spacing, (*line, key))
        for key, size in enumerate(sizes)
    )


@pytest.mark.parametrize("spacing", [2, 3, 4])
def test_spacing_holds_wherever_any_line_has_it(spacing):
    for sizes in itertools.combinations_with_replacement(range(5), 4):
        group = {f"{key}/{index}": str(key) for key, size in enumerate(sizes) for index in range(size)}
        line = spaced(shuffled(SEED, group, str(sizes)), group, spacing)
        possible = can_be_spaced(list(sizes), spacing)
        assert possible == (max(sizes) < 2 or nearest(line, group) >= spacing)


def test_two_tasks_alternate_where_three_apart_cannot_be():
    group = {unit.blinded_id: unit.spacing_key for unit in units(2, 20)}
    assert nearest(spaced(shuffled(SEED, group, "x"), group, 3), group) == 2


def test_a_task_of_more_than_half_leaves_the_rest_spaced():
    outputs = units(1, 60) + units(9, 5)[5:]
    group = {unit.blinded_id: unit.spacing_key for unit in outputs}
    line = spaced(shuffled(SEED, group, "x"), group, 3)
    rest = {item: key if key != "task 0" else item for item, key in group.items()}
    assert nearest(line, rest) >= 3
    assert sorted(line) == sorted(group)


def test_one_task_keeps_the_order_it_was_dealt():
    group = {unit.blinded_id: unit.spacing_key for unit in units(1, 10)}
    order = shuffled(SEED, group, "x")
    assert spaced(order, group, 3) == order
    assert spaced([], {}, 3) == []


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3), (2, 4), (5, 5)])
@pytest.mark.parametrize("size", [1, 37, 100])
def test_members_are_crossed_evenly(first, second, size):
    members = {"A": [f"a{n}" for n in range(first)], "B": [f"b{n}" for n in range(second)]}
    work: dict[tuple[str, str], str] = {}
    for blinded_id, slot, member, _ in allocate(units(size, 1), members, 3, SEED):
        work[blinded_id, slot] = member
    ids = {blinded_id for blinded_id, _ in work}
    pairs = Counter((work[item, "A"], work[item, "B"]) for item in ids)
    loads = [
        [pairs[pair] for pair in itertools.product(members["A"], members["B"])],
        [sum(pairs[one, two] for two in members["B"]) for one in members["A"]],
        [sum(pairs[one, two] for one in members["A"]) for two in members["B"]],
    ]
    for load in loads:
        assert max(load) - min(load) <= 1


def test_each_task_meets_all_pairs_of_members():
    """8 outputs of a task over 2 × 2 members: each pair twice, so a task never hangs on one pair."""
    outputs = units(10, 8)
    work: dict[str, dict[str, str]] = defaultdict(dict)
    for blinded_id, slot, member, _ in allocate(outputs, {"A": ["a1", "a2"], "B": ["b1", "b2"]}, 3, SEED):
        work[blinded_id][slot] = member
    pairs = Counter((unit.spacing_key, *sorted(work[unit.blinded_id].items())) for unit in outputs)
    assert set(pairs.values()) == {2}
    assert len(pairs) == 40


def coders_of_tasks(outputs: list[Unit], placements: list[Placement], slot: str) -> dict[str, set[str]]:
    task = {unit.blinded_id: unit.spacing_key for unit in outputs}
    coders: dict[str, set[str]] = defaultdict(set)
    for placement in placements:
        if placement.slot == slot:
            coders[task[placement.blinded_id]].add(placement.member)
    return coders


@pytest.mark.parametrize("number", range(10))
def test_variants_of_a_task_never_meet_one_coder(number):
    outputs = units(8, 3, variants=2) + [Unit(f"z{n}", f"free {n}") for n in range(20)]
    members = {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"], "audit": ["x1", "x2"]}
    placements = allocate(outputs, members, 3, seed(number), 0.9)
    for slot in ("A", "B", "audit"):
        coders = coders_of_tasks(outputs, placements, slot)
        for group in range(4):
            assert not coders[f"task {2 * group}"] & coders[f"task {2 * group + 1}"]
    for slot, most in (("A", 22 + 1), ("B", 15 + 1)):
        load = Counter(p.member for p in placements if p.slot == slot)
        assert max(load.values()) <= most


def test_variants_are_spaced_as_one_task():
    outputs = units(12, 3, variants=2)
    group = {unit.blinded_id: unit.never_same or "" for unit in outputs}
    for order in orders(allocate(outputs, ONE_EACH, 4, SEED)).values():
        assert nearest(order, group) >= 4


def test_more_variants_than_coders_are_shared_out():
    outputs = units(3, 2, variants=3)
    placements = allocate(outputs, {"A": ["a1", "a2"], "B": ["b1"]}, 3, SEED)
    coders = coders_of_tasks(outputs, placements, "A")
    assert sorted(len(coders[f"task {n}"]) for n in range(3)) == [1, 1, 1]
    assert set().union(*coders.values()) == {"a1", "a2"}


def test_an_audit_share_is_drawn_and_dealt_evenly():
    outputs, members = units(25, 4), {**ONE_EACH, "audit": ["x1", "x2"]}
    audited = [p for p in allocate(outputs, members, 3, SEED, 0.1) if p.slot == "audit"]
    assert len({p.blinded_id for p in audited}) == len(audited) == 10
    assert Counter(p.member for p in audited) == {"x1": 5, "x2": 5}
    assert not [p for p in allocate(outputs, ONE_EACH, 3, SEED, 0.1) if p.slot == "audit"]
    assert not [p for p in allocate(outputs, members, 3, SEED) if p.slot == "audit"]


@pytest.mark.parametrize(
    ("share", "size", "expected"),
    [(0.1, 24, 2), (0.1, 25, 3), (0.1, 4, 0), (0.5, 3, 2), (1, 7, 7), (0, 7, 0)],
)
def test_a_share_is_rounded_half_up(share, size, expected):
    ids = [f"id-{number}" for number in range(size)]
    drawn = allocation.draw_share(SEED, "guess", ids, share)
    assert len(drawn) == expected
    assert drawn == sorted(drawn)
    assert set(drawn) <= set(ids)


def test_shares_of_other_purposes_are_other_draws():
    ids = [f"id-{number}" for number in range(100)]
    assert allocation.draw_share(SEED, "guess", ids, 0.2) != allocation.draw_share(SEED, "sham", ids, 0.2)
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            allocation.draw_share(SEED, "guess", ids, share)


def test_exemplars_are_drawn_per_cluster_and_grow_at_the_end():
    ids = [f"id-{number}" for number in range(20)]
    two = allocation.draw_exemplars(SEED, "t", "c", ids)
    assert len(set(two)) == 2
    assert allocation.draw_exemplars(SEED, "t", "c", ids, at_most=3)[:2] == two
    assert allocation.draw_exemplars(SEED, "t", "c", ids[:1]) == ids[:1]
    drawn = {tuple(allocation.draw_exemplars(SEED, "t", str(number), ids)) for number in range(20)}
    assert len(drawn) > 10


def test_cluster_codes_count_from_one_in_random_order():
    clusters = [f"cluster {number}" for number in range(5)]
    codes = allocation.cluster_codes(SEED, "t", clusters)
    assert sorted(codes.values()) == ["C1", "C2", "C3", "C4", "C5"]
    firsts = Counter(allocation.cluster_codes(SEED, str(task), clusters)["cluster 0"] for task in range(200))
    assert set(firsts) == {"C1", "C2", "C3", "C4", "C5"}


def test_task_codes_are_unique_and_say_nothing():
    tasks = [f"task {number}" for number in range(3000)]
    codes = allocation.task_codes(SEED, tasks)
    assert len(set(codes.values())) == 3000
    assert all(re.fullmatch(r"[B-DF-HJ-NP-TV-XZ]{2}-[1-9]\d\d", code) for code in codes.values())
    others = allocation.task_codes(SEED, ["task 1", "task 2"], taken=[codes["task 1"]])
    assert codes["task 1"] not in others.values()
    assert list(codes) != sorted(codes)


@pytest.mark.parametrize(
    ("outputs", "slots", "message"),
    [
        ([Unit("x", "t"), Unit("x", "u")], ONE_EACH, "twice"),
        ([], {"A": ["a1"]}, "need a member"),
        ([], {"A": ["a1"], "B": []}, "need a member"),
        ([], {"A": ["a1"], "B": ["a1"]}, "two places"),
        ([], {"A": ["a1", "a1"], "B": ["b1"]}, "two places"),
        ([], {**ONE_EACH, "audit": ["b1"]}, "two places"),
        ([], {**ONE_EACH, "adjudicator": ["c"]}, "nothing is allocated to adjudicator"),
    ],
)
def test_what_cannot_be_allocated_is_refused(outputs, slots, message):
    with pytest.raises(ValueError, match=message):
        allocate(outputs, slots, 3, SEED)


def test_no_outputs_give_no_placements():
    assert allocate([], ONE_EACH, 3, SEED) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_any_allocation_is_whole(number):
    source = random.Random(number)
    outputs = units(source.randint(1, 8), source.randint(1, 6), variants=source.choice([0, 0, 2, 3]))
    members = {
        "A": [f"a{n}" for n in range(source.randint(1, 3))],
        "B": [f"b{n}" for n in range(source.randint(1, 3))],
        "audit": [f"x{n}" for n in range(source.randint(0, 2))],
    }
    placements = allocate(outputs, members, source.randint(0, 5), seed(number), source.random())
    found = orders(placements)
    assert all(member in members[slot] for slot, member in found)
    for slot in ("A", "B"):
        ids = [item for (place, _), order in found.items() if place == slot for item in order]
        assert sorted(ids) == sorted(unit.blinded_id for unit in outputs)
