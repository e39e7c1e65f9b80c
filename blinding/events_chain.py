"""The arithmetic of the event log's hashed blocks; pure, standard library only.

A block is `{number, previous, events, hash}`: numbers count from 1; `events` are the hashes of its events,
sorted so that they tell no order; `previous` is the hash of the block before, 64 zeros for the first.
Hashes are hex."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blinding.commitment import canonical_json

GENESIS = "0" * 64

_DOMAIN = b"twinblind/1/"


@dataclass(frozen=True, slots=True)
class Problem:
    """The first thing that is not as it was written: in which block (if it is in one), and what."""

    block: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.block is None else f"block {self.block}: {self.message}"


def event_bytes(event: Mapping[str, Any]) -> bytes:
    """Return what is hashed of an event: canonical JSON of all its fields; TypeError if it is not JSON."""
    return canonical_json(dict(event))


def event_hash(event: Mapping[str, Any]) -> str:
    """Return SHA-256 (hex) over 0x00, the domain and the event's bytes."""
    return hashlib.sha256(b"\0" + _DOMAIN + b"event/" + event_bytes(event)).hexdigest()


def block_hash(number: int, previous: str, events: Iterable[str]) -> str:
    """Return SHA-256 (hex) over 0x01, domain, number, the hash before, and the event hashes, sorted."""
    ordered = b"".join(bytes.fromhex(item) for item in sorted(events))
    head = b"\1" + _DOMAIN + b"block/" + number.to_bytes(8, "big") + bytes.fromhex(previous)
    return hashlib.sha256(head + ordered).hexdigest()


def next_block(last: Mapping[str, Any] | None, events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the block after `last` (None: the first) that holds `events`; the caller holds the lock."""
    number = 1 if last is None else int(last["number"]) + 1
    previous = GENESIS if last is None else str(last["hash"])
    hashes = sorted(event_hash(event) for event in events)
    return {
        "number": number,
        "previous": previous,
        "events": hashes,
        "hash": block_hash(number, previous, hashes),
    }


def verify_blocks(
    blocks: Sequence[Mapping[str, Any]],
    events: Iterable[Mapping[str, Any]],
    *,
    head: str | None = None,
    pending: bool = False,
) -> Problem | None:
    """Return the first problem of a log, or None: each block follows from the one before, each event is in
    one block, each event of a block is there as it was.

    `blocks` are in order, `events` in any. A log cut at its end is only found with `head`, a hash noted
    earlier that must still be among the blocks. `pending` lets events wait for their first block."""
    names: dict[str, str] = {}
    for event in events:
        found = event_hash(event)
        if found in names:
            return Problem(None, f"event {names[found]} is there twice")
        names[found] = str(event.get("id", found))
    inside = {item for block in blocks for item in block["events"]}
    loose = [] if pending else sorted(name for item, name in names.items() if item not in inside)
    return _broken_chain(blocks) or _missing_event(blocks, names, loose) or _loose_event(blocks, loose, head)


def _broken_chain(blocks: Sequence[Mapping[str, Any]]) -> Problem | None:
    previous = GENESIS
    for number, block in enumerate(blocks, start=1):
        if block["number"] != number:
            return Problem(number, "is missing")
        if block["previous"] != previous:
            return Problem(number, "does not follow the block before it")
        if list(block["events"]) != sorted(block["events"]) or not _is_its_hash(block):
            return Problem(number, "is not what its hash says")
        previous = block["hash"]
    return None


def _is_its_hash(block: Mapping[str, Any]) -> bool:
    try:
        expected = block_hash(block["number"], block["previous"], block["events"])
    except (TypeError, ValueError):
        return False
    return bool(block["hash"] == expected)


def _missing_event(
    blocks: Sequence[Mapping[str, Any]], names: Mapping[str, str], loose: Sequence[str]
) -> Problem | None:
    seen: set[str] = set()
    for block in blocks:
        for item in block["events"]:
            if item in seen:
                return Problem(block["number"], f"holds event {names.get(item, item)} a second time")
            if item not in names:
                suspect = f"; event {loose[0]} fits no block" if loose else ""
                return Problem(
                    block["number"], f"an event was altered or removed (its hash was {item}){suspect}"
                )
            seen.add(item)
    return None


def _loose_event(
    blocks: Sequence[Mapping[str, Any]], loose: Sequence[str], head: str | None
) -> Problem | None:
    if head is not None and head != GENESIS and all(block["hash"] != head for block in blocks):
        return Problem(None, "the log was cut or rewritten: the block noted earlier is not in it")
    return Problem(None, f"event {loose[0]} is in no block") if loose else None
