"""Proves that labels, texts and orders are what was committed before coding.

`python -m blinding.verify BUNDLE` needs commitment.py, allocation.py and events_chain.py, and else the
standard library only. A BUNDLE is a ZIP or a folder with

    commitments.json   {"batches": [manifest, …], "amendments": [{batch, blinded_output_id, leaf, …}, …]}
    leaves.jsonl       a record a line, see `commitment.record_line`; after unblinding
    allocation.json    {"batches": [{batch, seed, nonce, allocation}, …]}; after unblinding
    events.jsonl, event_blocks.jsonl   the event log and its hashed blocks; where they are there

Exit status: 0 all proven; 1 altered, the first altered thing is named; 2 unreadable, or not unblinded yet."""

import argparse
import json
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from blinding import allocation, commitment
from blinding.commitment import OPEN_PARTS, SEALED_PARTS, Part
from blinding.events_chain import verify_blocks

COMMITMENTS = "commitments.json"
LEAVES = "leaves.jsonl"
ALLOCATION = "allocation.json"
EVENTS = "events.jsonl"
BLOCKS = "event_blocks.jsonl"

PROVEN, ALTERED, UNREADABLE = 0, 1, 2

_EMPTY = commitment.manifest(batch="", leaves=(), seed=b"", order=b"", sealed_at="", rules={})
_MANIFEST_KEYS = _EMPTY.keys() - {"leaves"}


class Altered(Exception):
    """The first thing that is not what was committed."""


class Unreadable(Exception):
    """The bundle lacks what is needed to prove anything."""


class Sealed(Unreadable):
    """The bundle is of a time before the unblinding: there is nothing to prove yet, and nothing is wrong."""


@contextmanager
def _reading(place: str) -> Iterator[None]:
    """Nothing that is not of the written shape passes: it was altered, and `place` says where."""
    try:
        yield
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise Altered(f"{place}: not what was written there ({type(error).__name__})") from error


class Bundle:
    """A bundle's files, from a folder or a ZIP; raises Unreadable if one is missing, Altered if not JSON."""

    def __init__(self, path: Path) -> None:
        self._folder = path
        try:
            self._archive = None if path.is_dir() else zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise Unreadable(f"{path.name} is neither a folder nor a ZIP") from error

    def has(self, name: str) -> bool:
        """Say whether there is such a file."""
        if self._archive is None:
            return (self._folder / name).is_file()
        return name in self._archive.namelist()

    def value(self, name: str) -> Any:
        """Return the JSON value of a file."""
        with self._opened(name) as file, _reading(name):
            return commitment.parse_json(file.read())

    def lines(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield (place, JSON value) for each line."""
        with self._opened(name) as file:
            for number, line in enumerate(file, start=1):
                place = f"{name}, line {number}"
                with _reading(place):
                    value = commitment.parse_json(line)
                yield place, value

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        if not self.has(name):
            raise Unreadable(f"{name} is not in the bundle")
        try:
            path = self._folder / name
            with path.open("rb") if self._archive is None else self._archive.open(name) as file:
                yield file
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise Unreadable(f"{name} cannot be read") from error


@dataclass(slots=True)
class Batch:
    """What was committed of a batch; `leaves` is empty where the manifest came without them."""

    name: str
    root: str
    count: int
    leaves: Sequence[str]
    manifest: Mapping[str, Any]
    amendments: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A line of `leaves.jsonl` whose opened parts were found to be what their digests say."""

    batch: Batch
    blinded_id: str
    leaf: str
    line: Mapping[str, Any]
    withheld: int


def read_commitments(bundle: Bundle, published: Path | None = None) -> dict[str, Batch]:
    """Return the batches by name; raises Altered if a manifest contradicts itself, a receipt of a timestamp,
    or the file that was published before coding."""
    document = bundle.value(COMMITMENTS)
    with _reading(COMMITMENTS):
        batches = {entry["batch"]: _read_manifest(entry) for entry in document["batches"]}
        if len(batches) != len(document["batches"]) or document.keys() - {"batches", "amendments"}:
            raise ValueError("a batch is there twice, or something unknown")
        for amendment in document.get("amendments", ()):
            batch = batches[amendment["batch"]]
            batch.amendments.setdefault(amendment["blinded_output_id"], []).append(amendment["leaf"])
    if published is not None:
        with _reading(published.name):
            _compare_published(batches, document, commitment.parse_json(published.read_bytes()))
    return batches


def _read_manifest(entry: Mapping[str, Any]) -> Batch:
    name, leaves = entry["batch"], entry.get("leaves", [])
    if entry["format"] != commitment.FORMAT or entry.keys() - {"leaves"} != _MANIFEST_KEYS:
        raise Altered(f"batch {name}: an unknown format")
    if leaves and (
        commitment.root([_bytes(leaf) for leaf in leaves]).hex() != entry["merkle_root"]
        or len(leaves) != entry["leaf_count"]
    ):
        raise Altered(f"batch {name}: the root is not that of the leaves")
    for receipt in entry.get("receipts", ()):
        if receipt["digest"] != commitment.manifest_digest(entry):
            raise Altered(f"batch {name}: a receipt of a timestamp is for another manifest")
    return Batch(name, entry["merkle_root"], entry["leaf_count"], leaves, entry)


def _compare_published(batches: Mapping[str, Batch], document: Any, published: Any) -> None:
    for entry in published["batches"]:
        batch = batches.get(entry["batch"])
        if batch is None or commitment.manifest_digest(batch.manifest) != commitment.manifest_digest(entry):
            raise Altered(f"batch {entry['batch']}: not the commitment that was published")
    for amendment in published.get("amendments", ()):
        if amendment not in document.get("amendments", ()):
            raise Altered(f"record {amendment['blinded_output_id']}: its published amendment is missing")


def _bytes(text: str) -> bytes:
    """Hex in its one spelling: a flipped case is an alteration too."""
    data = bytes.fromhex(text)
    if data.hex() != text:
        raise ValueError("not lower-case hex")
    return data


def read_record(line: Mapping[str, Any], batches: Mapping[str, Batch]) -> Record:
    """Return the record of a line of `leaves.jsonl`; raises Altered, naming record and part."""
    blinded_id, batch = line["blinded_output_id"], batches[line["batch"]]
    if line.keys() - {"index", "path", "amended"} != {"batch", "blinded_output_id", "parts"}:
        raise Altered(f"record {blinded_id}: not the keys of a record")
    if line["parts"].keys() != {part.value for part in Part}:
        raise Altered(f"record {blinded_id}: not the parts of a record")
    digests = {part: _read_part(blinded_id, part, line["parts"][part.value]) for part in Part}
    sealed = b"".join(digests[part] for part in SEALED_PARTS)
    leaf = commitment.leaf_hash(blinded_id, sealed, b"".join(digests[part] for part in OPEN_PARTS)).hex()
    later = [
        commitment.leaf_hash(
            blinded_id, sealed, _read_part(blinded_id, Part.SHOWN, entry) + digests[Part.CLUSTER]
        ).hex()
        for entry in line.get("amended", ())
    ]
    if later != batch.amendments.get(blinded_id, []):
        raise Altered(f"record {blinded_id}: the text shown after a recall is not what was committed then")
    return Record(batch, blinded_id, leaf, line, sum("salt" not in part for part in line["parts"].values()))


def _read_part(blinded_id: str, part: Part, entry: Mapping[str, Any]) -> bytes:
    digest = _bytes(entry["digest"])
    if entry.keys() == {"digest"}:
        return digest
    place = f"record {blinded_id}: {part.value}"
    if entry.keys() != {"digest", "salt", "value"}:
        raise Altered(f"{place}: not the keys of a part")
    with _reading(place):
        content = commitment.content_of(part, entry["value"])
        if commitment.digest_of(part, content, _bytes(entry["salt"])) != digest:
            raise Altered(f"{place}: not what was committed")
    return digest


def verify(path: Path, published: Path | None = None) -> list[str]:
    """Return what was proven, a sentence each; raises Altered for the first altered item, or Unreadable."""
    bundle = Bundle(path)
    batches = read_commitments(bundle, published)
    if not bundle.has(LEAVES):
        raise Sealed(f"{len(batches)} batches are committed; nothing is opened before unblinding")
    found: dict[str, dict[str, str]] = {name: {} for name in batches}
    withheld = 0
    for place, line in bundle.lines(LEAVES):
        with _reading(place):
            record = read_record(line, batches)
            if record.blinded_id in found[record.batch.name]:
                raise Altered(f"record {record.blinded_id}: there twice")
            found[record.batch.name][record.blinded_id] = record.leaf
            withheld += record.withheld
            if "path" in line or "index" in line:
                _place_of(record)
    for name, batch in batches.items():
        _compare_leaves(batch, found[name])
    _verify_orders(bundle, batches, found)
    proven = [
        f"batch {name}: {batch.count} records under root {batch.root}" for name, batch in batches.items()
    ]
    proven.append("labels, texts and orders are what was committed")
    if withheld:
        proven.append(f"{withheld} parts of records stay closed")
    return proven + _verify_log(bundle)


def _compare_leaves(batch: Batch, found: Mapping[str, str]) -> None:
    committed = set(batch.leaves)
    for blinded_id in sorted(found):
        if committed and found[blinded_id] not in committed:
            raise Altered(f"record {blinded_id}: not what was committed")
    if strange := batch.amendments.keys() - found.keys():
        raise Altered(f"record {min(strange)}: amended, but not there")
    if len(found) != batch.count:
        raise Altered(f"batch {batch.name}: {batch.count} records were committed, {len(found)} are there")
    leaves = [_bytes(found[blinded_id]) for blinded_id in sorted(found)]
    if commitment.root(leaves).hex() != batch.root or (batch.leaves and len(committed) != batch.count):
        raise Altered(f"batch {batch.name}: the records do not give the committed root")


def _verify_orders(
    bundle: Bundle, batches: Mapping[str, Batch], found: Mapping[str, Mapping[str, str]]
) -> None:
    document = bundle.value(ALLOCATION)
    with _reading(ALLOCATION):
        entries = {entry["batch"]: entry for entry in document["batches"]}
        if entries.keys() != batches.keys() or len(entries) != len(document["batches"]):
            raise Altered(f"{ALLOCATION}: not the batches that were committed")
        for name, batch in batches.items():
            with _reading(f"{ALLOCATION}, batch {name}"):
                _verify_order(batch, entries[name], found[name])


def _verify_order(batch: Batch, entry: Mapping[str, Any], found: Mapping[str, str]) -> None:
    seed, nonce, stated = _bytes(entry["seed"]), _bytes(entry["nonce"]), entry["allocation"]
    if commitment.seed_commitment(seed, nonce).hex() != batch.manifest["seed_commitment"]:
        raise Altered(f"batch {batch.name}: the seed is not the one that was committed")
    units = [allocation.Unit(*unit) for unit in stated["units"]]
    if strange := {unit.blinded_id for unit in units} ^ found.keys():
        raise Altered(f"record {min(strange)}: allocated and committed records differ")
    drawn = allocation.allocate(units, stated["slots"], stated["spacing"], seed, stated["audit_share"])
    for expected, given in zip(drawn, stated["placements"], strict=False):
        if list(expected) != given:
            raise Altered(
                f"batch {batch.name}, slot {expected.slot}, coder {expected.member},"
                f" position {expected.position}: the committed seed gives another record"
            )
    if commitment.order_commitment(stated, nonce).hex() != batch.manifest["order_commitment"]:
        raise Altered(f"batch {batch.name}: what the orders were drawn from, or their length, was altered")


def _verify_log(bundle: Bundle) -> list[str]:
    if not (bundle.has(EVENTS) and bundle.has(BLOCKS)):
        return []
    with _reading(BLOCKS):
        events = [event for _, event in bundle.lines(EVENTS)]
        blocks = [block for _, block in bundle.lines(BLOCKS)]
        problem = verify_blocks(blocks, events)
    if problem is not None:
        raise Altered(f"event log: {problem}")
    return [f"event log: {len(events)} events in {len(blocks)} blocks"]


def verify_record(path: Path, blinded_id: str, published: Path | None = None) -> list[str]:
    """Return what was proven of one record, and its opened parts; needs no other. Raises like `verify`."""
    bundle = Bundle(path)
    batches = read_commitments(bundle, published)
    for place, line in bundle.lines(LEAVES):
        with _reading(place):
            if line["blinded_output_id"] != blinded_id:
                continue
            record = read_record(line, batches)
            index = _place_of(record)
            opened = [f"{part}: {_spelled(entry)}" for part, entry in line["parts"].items()]
        batch = record.batch
        return [f"record {blinded_id}: leaf {index} of {batch.count} under root {batch.root}", *opened]
    raise Unreadable(f"record {blinded_id} is not in the bundle")


def _spelled(part: Mapping[str, Any]) -> str:
    return json.dumps(part["value"], ensure_ascii=False) if "salt" in part else "closed"


def _place_of(record: Record) -> int:
    """Return the leaf's index, by the path that came with it or among the manifest's; raises Altered."""
    batch, leaf = record.batch, _bytes(record.leaf)
    if "path" in record.line:
        index, siblings = int(record.line["index"]), [_bytes(item) for item in record.line["path"]]
        if commitment.verify_path(leaf, index, batch.count, siblings, _bytes(batch.root)):
            return index
    elif not batch.leaves:
        raise Unreadable("neither the record's path nor the manifest's leaves are there")
    elif record.leaf in batch.leaves:
        return list(batch.leaves).index(record.leaf)
    raise Altered(f"record {record.blinded_id}: not under the committed root")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verifier; print what was proven, or the first altered thing, and return the exit status."""
    parser = argparse.ArgumentParser(prog="blinding.verify", description="Prove a bundle.")
    parser.add_argument("bundle", type=Path, help="a ZIP or a folder")
    parser.add_argument("--record", help="open this blinded output id only")
    parser.add_argument("--published", type=Path, help="commitments.json as published before coding")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.record is None:
            proven = verify(chosen.bundle, chosen.published)
        else:
            proven = verify_record(chosen.bundle, chosen.record, chosen.published)
    except Altered as problem:
        print(f"ALTERED  {problem}")
        return ALTERED
    except (Unreadable, OSError) as problem:
        word = "STILL SEALED" if isinstance(problem, Sealed) else "UNREADABLE"
        print(f"{word}  {problem}", file=sys.stderr)
        return UNREADABLE
    print("\n".join(["PROVEN", *proven]))
    return PROVEN


if __name__ == "__main__":
    sys.exit(main())
