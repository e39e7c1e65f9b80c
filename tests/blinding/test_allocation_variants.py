"""Variants that come in a later batch than their original: to others of the slot, as far as there are others."""

from hypothesis import given
from hypothesis import strategies as st

from blinding.allocation import Unit, allocate, document
from blinding.commitment import canonical_json

SEED = bytes(range(32))
SLOTS = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}


def coders(units: list[Unit], slots: dict[str, list[str]], seed: bytes = SEED) -> dict[str, set[str]]:
    """Return by blinded id who codes it."""
    found: dict[str, set[str]] = {}
    for placement in allocate(units, slots, 3, seed):
        found.setdefault(placement.blinded_id, set()).add(placement.member)
    return found


@given(
    st.binary(min_size=32, max_size=32),
    st.sets(st.sampled_from(["a1", "a2"])),
    st.sets(st.sampled_from(["b1"])),
    st.integers(1, 6),
)
def test_nobody_gets_a_variant_of_what_they_met(seed: bytes, a: set[str], b: set[str], n: int) -> None:
    met = tuple(sorted(a | b))
    units = [Unit(f"v{i}", "variant", "group", met) for i in range(n)]
    rest = [Unit(f"o{i}", f"task-{i}") for i in range(7)]
    given_to = coders([*units, *rest], SLOTS, seed)
    assert all(not given_to[unit.blinded_id] & set(met) for unit in units)


def test_where_everybody_met_one_it_is_given_all_the_same() -> None:
    units = [Unit("v", "variant", "group", ("a1", "b1"))]
    assert coders(units, {"A": ["a1"], "B": ["b1"]})["v"] == {"a1", "b1"}


def test_one_free_member_of_a_slot_is_enough_for_that_slot() -> None:
    units = [Unit(f"v{i}", "variant", "group", ("a1", "b1", "b2")) for i in range(5)]
    for members in coders(units, {"A": ["a1", "a2"], "B": ["b1", "b2"]}).values():
        assert "a2" in members


def test_what_was_met_is_part_of_what_is_committed_to() -> None:
    units = [Unit("v", "variant", "group", ("b1", "a1")), Unit("w", "other")]
    stated = document(units, SLOTS, 3, 0.0, allocate(units, SLOTS, 3, SEED))
    assert stated["units"] == [["v", "variant", "group", ["a1", "b1"]], ["w", "other", None]]
    again = [Unit(*unit) for unit in stated["units"]]
    redone = document(again, SLOTS, 3, 0.0, allocate(again, SLOTS, 3, SEED))
    assert canonical_json(redone) == canonical_json(stated)
