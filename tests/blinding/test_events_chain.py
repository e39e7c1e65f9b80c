"""A row of the event log that was altered, removed, added or moved between blocks is found."""

import hashlib
from copy import deepcopy

import pytest

from blinding import events_chain
from blinding.events_chain import GENESIS, next_block, verify_blocks

EVENTS = [
    {
        "id": f"e{number}",
        "kind": "record_submitted",
        "at": f"2025-01-0{number + 1}T00:00:00Z",
        "facts": {"n": number},
    }
    for number in range(7)
]


@pytest.fixture(name="blocks")
def _blocks():
    first = next_block(None, EVENTS[:3])
    second = next_block(first, EVENTS[3:4])
    return [first, second, next_block(second, EVENTS[4:])]


def test_hashes_are_the_documented_ones():
    event = {"id": "e", "facts": {"b": 1, "a": "é"}}
    text = '{"facts":{"a":"é","b":1},"id":"e"}'.encode()
    expected = hashlib.sha256(b"\0twinblind/1/event/" + text).digest()
    assert events_chain.event_hash(event) == expected.hex()
    head = b"\1twinblind/1/block/" + (1).to_bytes(8, "big") + bytes(32)
    assert next_block(None, [event]) == {
        "number": 1,
        "previous": "0" * 64,
        "events": [expected.hex()],
        "hash": hashlib.sha256(head + expected).hexdigest(),
    }


def test_a_log_as_it_was_written_has_no_problem(blocks):
    assert verify_blocks(blocks, EVENTS) is None
    assert verify_blocks(blocks, reversed(EVENTS), head=blocks[1]["hash"]) is None
    assert verify_blocks([], []) is None
    assert verify_blocks([], [], head=GENESIS) is None


def test_blocks_tell_no_order_of_their_events():
    assert next_block(None, EVENTS) == next_block(None, EVENTS[::-1])


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize(
    "change", [{"kind": "served"}, {"at": "2025-01-09T00:00:00Z"}, {"facts": {"n": 9}}, {"extra": None}]
)
def test_an_altered_event_is_found(blocks, number, change):
    events = deepcopy(EVENTS)
    events[number].update(change)
    problem = verify_blocks(blocks, events)
    assert problem is not None
    assert problem.block == {0: 1, 1: 1, 2: 1, 3: 2}.get(number, 3)
    assert f"event e{number} fits no block" in str(problem)
    assert verify_blocks(blocks, events, pending=True) is not None


@pytest.mark.parametrize("number", range(7))
def test_a_removed_event_is_found(blocks, number):
    problem = verify_blocks(blocks, EVENTS[:number] + EVENTS[number + 1 :])
    assert "altered or removed" in str(problem)
    assert events_chain.event_hash(EVENTS[number]) in str(problem)


def test_an_added_event_is_found_unless_it_may_wait(blocks):
    late = {"id": "late"}
    assert str(verify_blocks(blocks, [*EVENTS, late])) == "event late is in no block"
    assert verify_blocks(blocks, [*EVENTS, late], pending=True) is None
    assert str(verify_blocks(blocks, [*EVENTS, EVENTS[0]])) == "event e0 is there twice"


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (0, {"number": 2}, "block 1: is missing"),
        (1, {"previous": GENESIS}, "block 2: does not follow"),
        (1, {"events": []}, "block 2: is not what its hash says"),
        (2, {"hash": "0" * 64}, "block 3: is not what its hash says"),
        (2, {"events": ["xx"]}, "block 3: is not what its hash says"),
        (0, {"hash": "ab" * 32}, "block 1: is not what its hash says"),
    ],
)
def test_an_altered_block_is_found(blocks, number, change, message):
    blocks[number].update(change)
    assert message in str(verify_blocks(blocks, EVENTS))


def test_a_removed_block_is_found(blocks):
    assert verify_blocks(blocks[1:], EVENTS) is not None
    assert verify_blocks([blocks[0], blocks[2]], EVENTS[:3] + EVENTS[4:]) is not None
    assert str(verify_blocks(blocks[:2], EVENTS)) == "event e4 is in no block"


def test_a_log_cut_at_its_end_is_found_with_a_hash_noted_earlier(blocks):
    assert verify_blocks(blocks[:2], EVENTS[:4]) is None
    problem = verify_blocks(blocks[:2], EVENTS[:4], head=blocks[2]["hash"])
    assert "cut or rewritten" in str(problem)


def test_an_event_in_two_blocks_is_found():
    first = next_block(None, EVENTS[:2])
    again = next_block(first, EVENTS[1:3])
    assert str(verify_blocks([first, again], EVENTS[:3])) == "block 2: holds event e1 a second time"


def test_a_rewritten_log_does_not_hold_the_hash_noted_earlier(blocks):
    forged = next_block(None, EVENTS[1:])
    assert verify_blocks([forged], EVENTS[1:]) is None
    assert verify_blocks([forged], EVENTS[1:], head=blocks[-1]["hash"]) is not None
