"""What is committed before anyone opens the first item: one salted leaf per output, a Merkle root over the
leaves in the order of their blinded ids, and commitments to the seed and to the orders drawn from it.

A leaf holds five parts, each hashed under its own salt, so that any part of any record can be opened alone.
The sealed parts are hashed at import, where labels are plain for a moment; the open parts at release, by a
process that cannot open a sealed box. Salts are what hides labels, of which there are only a handful.
Standard library only: `blinding.verify` runs on this file anywhere."""

import hashlib
import hmac
import json
import struct
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

FORMAT = "twinblind-commitment/1"
DIGEST_SIZE = 32
MIN_NONCE = 16

_DOMAIN = b"twinblind/1/"


class Part(StrEnum):
    """What a leaf binds, in this order; the first three are known at import only, the last two at release."""

    LABELS = "labels"
    RAW = "raw"
    EXPECTED = "expected"
    SHOWN = "shown"
    CLUSTER = "cluster"


SEALED_PARTS = (Part.LABELS, Part.RAW, Part.EXPECTED)
OPEN_PARTS = (Part.SHOWN, Part.CLUSTER)


def canonical_json(value: Any) -> bytes:
    """Return the one spelling of a JSON value that is hashed: keys sorted, no spaces, UTF-8; no NaN."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def parse_json(data: bytes | str) -> Any:
    """Return the JSON value; ValueError for a repeated key, NaN, Infinity, which others read differently."""
    return json.loads(data, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object repeats a key")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def encode_labels(fields: Mapping[str, Any], raw_line: bytes) -> bytes:
    """Return the bytes that stand for a record's labels: length of the fields as JSON, they, raw line."""
    encoded = canonical_json(dict(fields))
    return struct.pack(">I", len(encoded)) + encoded + raw_line


def decode_labels(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (fields, raw line) as `encode_labels` got them; ValueError for what it cannot have written."""
    if len(data) < 4 or len(data) < 4 + struct.unpack_from(">I", data)[0]:
        raise ValueError("labels are cut short")
    end = 4 + struct.unpack_from(">I", data)[0]
    fields = parse_json(data[4:end])
    if not isinstance(fields, dict) or canonical_json(fields) != data[4:end]:
        raise ValueError("labels are not in their one spelling")
    return fields, data[end:]


def content_of(part: Part, value: Any) -> bytes:
    """Return the bytes that are hashed for a part's value, as bundles spell it: labels `{fields, raw_line}`,
    texts as strings, expected classes a list or null, cluster code a string or null; ValueError otherwise."""
    if part is Part.LABELS:
        if not isinstance(value, dict) or value.keys() != {"fields", "raw_line"}:
            raise ValueError("labels are {fields, raw_line}")
        if not isinstance(value["fields"], dict):
            raise ValueError("labels are {fields, raw_line}")
        return encode_labels(value["fields"], _text(value["raw_line"]))
    if part in (Part.RAW, Part.SHOWN):
        return _text(value)
    return canonical_json(value)


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError("a text is a string")
    return value.encode("utf-8", "surrogatepass")


def salt_of(nonce: bytes, part: Part) -> bytes:
    """Return the 32-byte salt of one part; knowing it tells neither the nonce nor another part's salt."""
    if len(nonce) < MIN_NONCE:
        raise ValueError("a nonce has at least 128 bits")
    return hmac.digest(nonce, _DOMAIN + b"salt/" + part.encode(), "sha256")


def open_nonce(seed: bytes, blinded_id: str) -> bytes:
    """Return the nonce of a record's open parts: derived from the batch's seed, so no record stores one."""
    return hmac.digest(seed, _DOMAIN + b"open-nonce/" + blinded_id.encode(), "sha256")


def digest_of(part: Part, content: bytes, salt: bytes) -> bytes:
    """Return SHA-256 over domain, part, salt (32 bytes), content: hiding as long as the salt is secret."""
    if len(salt) != DIGEST_SIZE:
        raise ValueError("a salt has 32 bytes")
    return hashlib.sha256(_DOMAIN + b"part/" + part.encode() + b"\0" + salt + content).digest()


def sealed_digests(
    labels: bytes, raw_text: str, expected_classes: Sequence[str] | None, nonce: bytes
) -> bytes:
    """Return 96 bytes, the digests of the sealed parts: made at import, stored beside the two boxes.

    `labels` is what `encode_labels` gave; `nonce` goes into the label box and nowhere else."""
    values = (labels, _text(raw_text), canonical_json(expected_classes))
    return b"".join(
        digest_of(part, content, salt_of(nonce, part))
        for part, content in zip(SEALED_PARTS, values, strict=True)
    )


def open_digests(shown_text: str, cluster_code: str | None, nonce: bytes) -> bytes:
    """Return 64 bytes, the digests of the open parts; `nonce` is the record's `open_nonce`."""
    values = (_text(shown_text), canonical_json(cluster_code))
    return b"".join(
        digest_of(part, content, salt_of(nonce, part))
        for part, content in zip(OPEN_PARTS, values, strict=True)
    )


def with_shown(open_parts: bytes, shown_text: str, nonce: bytes) -> bytes:
    """Return the open digests after a recall put another mask on the text; `nonce` is fresh."""
    return digest_of(Part.SHOWN, _text(shown_text), salt_of(nonce, Part.SHOWN)) + open_parts[DIGEST_SIZE:]


def leaf_hash(blinded_id: str, sealed_parts: bytes, open_parts: bytes) -> bytes:
    """Return a record's leaf: SHA-256 over 0x00, domain, the id with its length, and the five digests."""
    if len(sealed_parts) != 3 * DIGEST_SIZE or len(open_parts) != 2 * DIGEST_SIZE:
        raise ValueError("a leaf has three sealed and two open digests")
    name = blinded_id.encode()
    head = b"\0" + _DOMAIN + b"leaf/" + struct.pack(">I", len(name)) + name
    return hashlib.sha256(head + sealed_parts + open_parts).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        above = [_node(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(above) * 2 :])
    return levels


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the Merkle root over leaf hashes in their order, in the shape of RFC 9162 section 2.1.1."""
    return _levels(leaves)[-1][0] if leaves else hashlib.sha256().digest()


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the inclusion path of leaf `index` (from 0), lowest sibling first; IndexError outside."""
    if not 0 <= index < len(leaves):
        raise IndexError("no such leaf")
    found: list[bytes] = []
    for level in _levels(leaves)[:-1]:
        if index ^ 1 < len(level):
            found.append(level[index ^ 1])
        index >>= 1
    return found


def verify_path(leaf: bytes, index: int, count: int, siblings: Sequence[bytes], expected: bytes) -> bool:
    """Say whether `leaf` is leaf `index` of the tree of `count` leaves with root `expected`."""
    if not 0 <= index < count:
        return False
    value, last, rest = leaf, count - 1, list(siblings)
    while last > 0:
        if index % 2 or index < last:
            if not rest:
                return False
            sibling = rest.pop(0)
            value = _node(sibling, value) if index % 2 else _node(value, sibling)
        index, last = index >> 1, last >> 1
    return not rest and hmac.compare_digest(value, expected)


def seed_commitment(seed: bytes, nonce: bytes) -> bytes:
    """Return the commitment to an allocation seed under a secret 32-byte nonce, revealed together with it."""
    return _commit(b"seed", seed, nonce)


def order_commitment(allocation: Mapping[str, Any], nonce: bytes) -> bytes:
    """Return the commitment to what was allocated and from what (`blinding.allocation.document`)."""
    return _commit(b"order", canonical_json(dict(allocation)), nonce)


def _commit(purpose: bytes, content: bytes, nonce: bytes) -> bytes:
    if len(nonce) != DIGEST_SIZE:
        raise ValueError("the nonce of a commitment has 32 bytes")
    return hashlib.sha256(_DOMAIN + purpose + b"\0" + nonce + content).digest()


def manifest(
    *,
    batch: str,
    leaves: Sequence[bytes],
    seed: bytes,
    order: bytes,
    sealed_at: str,
    rules: Mapping[str, str],
) -> dict[str, Any]:
    """Return what is published of a batch at release: an entry of `batches` in `commitments.json`.

    `leaves` are in the order of their blinded ids (by code points) and hide what they hold; `seed` and
    `order` are the two commitments; `rules` are hashes of product, lexicon, cleaning and allocation rules.
    Receipts of outside timestamps are added later, each `{"digest": manifest_digest, …}`; a copy may lack
    `leaves`."""
    return {
        "format": FORMAT,
        "batch": batch,
        "leaf_count": len(leaves),
        "merkle_root": root(leaves).hex(),
        "leaves": [leaf.hex() for leaf in leaves],
        "seed_commitment": seed.hex(),
        "order_commitment": order.hex(),
        "sealed_at": sealed_at,
        "rules": dict(rules),
        "receipts": [],
    }


def manifest_digest(published: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) to have time-stamped outside: of the manifest without its receipts, and
    without its leaves, which the root stands for."""
    stated = {key: value for key, value in published.items() if key not in ("receipts", "leaves")}
    return hashlib.sha256(canonical_json(stated)).hexdigest()


def opened(part: Part, value: Any, salt: bytes) -> dict[str, Any]:
    """Return a part as a line of `leaves.jsonl` shows it: value, salt and the digest they give."""
    digest = digest_of(part, content_of(part, value), salt)
    return {"digest": digest.hex(), "salt": salt.hex(), "value": value}


def withheld(digest: bytes) -> dict[str, str]:
    """Return a part that stays closed: its digest alone."""
    return {"digest": digest.hex()}


def record_line(batch: str, blinded_id: str, parts: Mapping[Part, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a line of `leaves.jsonl`; all five parts are named, each opened or withheld.

    To hand out one record alone, add `index` (from 0) and `path` (hex, lowest first). A recalled record
    has `amended`: the later shown parts in their order, one per entry in the manifest's `amendments`."""
    return {
        "batch": batch,
        "blinded_output_id": blinded_id,
        "parts": {part.value: dict(parts[part]) for part in Part},
    }
