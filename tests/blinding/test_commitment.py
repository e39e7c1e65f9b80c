"""Commitments bind every part of a record, hide labels that anyone could list, and open one record alone."""

import hashlib
import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding import commitment
from blinding.commitment import Part

# The leaves and roots with which certificate transparency logs test their trees (RFC 6962 shape).
CT_LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LABELS = [f"{condition}/{model}" for condition in ("plain", "hint", "role") for model in ("gpt", "claude")]
SEED = bytes(range(32))


def ct_leaves(count: int) -> list[bytes]:
    return [hashlib.sha256(b"\0" + bytes.fromhex(leaf)).digest() for leaf in CT_LEAVES[:count]]


def nonce(number: int) -> bytes:
    return hashlib.sha256(f"a secret that is not published {number}".encode()).digest()


def record(number: int, label: str, text: str = "The same words.") -> bytes:
    """The leaf of a record whose label is one of six and whose text everybody knows."""
    blinded_id = f"id-{number}"
    labels = commitment.encode_labels({"condition": label}, b"")
    return commitment.leaf_hash(
        blinded_id,
        commitment.sealed_digests(labels, text, None, nonce(number)),
        commitment.open_digests(text, "C1", commitment.open_nonce(SEED, blinded_id)),
    )


@pytest.mark.parametrize("count", range(9))
def test_roots_are_those_of_certificate_transparency(count):
    assert commitment.root(ct_leaves(count)).hex() == CT_ROOTS[count]


def test_a_path_is_the_one_certificate_transparency_gives():
    """The path of leaf 0 in the tree of 8: RFC 6962 section 2.1.1, the siblings from below."""
    leaves = ct_leaves(8)
    right = hashlib.sha256(b"\1" + leaves[2] + leaves[3]).digest()
    assert commitment.path(leaves, 0)[:2] == [leaves[1], right]
    assert commitment.path(ct_leaves(5), 4) == [commitment.root(ct_leaves(4))]
    with pytest.raises(IndexError):
        commitment.path(leaves, 8)


@pytest.mark.parametrize("count", range(1, 18))
def test_a_path_proves_its_own_leaf_and_place_only(count):
    leaves = [hashlib.sha256(bytes([index])).digest() for index in range(count)]
    expected = commitment.root(leaves)
    for index, leaf in enumerate(leaves):
        path = commitment.path(leaves, index)
        assert commitment.verify_path(leaf, index, count, path, expected)
        assert not commitment.verify_path(leaf, index, count, [*path, leaf], expected)
        assert not commitment.verify_path(bytes(32), index, count, path, expected)
        assert not commitment.verify_path(leaf, count, count, path, expected)
        for other in set(range(count)) - {index}:
            assert not commitment.verify_path(leaf, other, count, path, expected)
        for cut in range(len(path)):
            assert not commitment.verify_path(leaf, index, count, path[:cut] + path[cut + 1 :], expected)


def test_a_digest_is_the_documented_hash():
    salt = bytes(range(32))
    expected = hashlib.sha256(b"twinblind/1/part/raw\0" + salt + "Grüße".encode()).digest()
    assert commitment.digest_of(Part.RAW, "Grüße".encode(), salt) == expected
    seed = commitment.seed_commitment(b"s" * 32, b"n" * 32)
    assert seed == hashlib.sha256(b"twinblind/1/seed\0" + b"n" * 32 + b"s" * 32).digest()
    for short in (b"", b"n" * 31):
        with pytest.raises(ValueError, match="32 bytes"):
            commitment.digest_of(Part.RAW, b"", short)
        with pytest.raises(ValueError, match="32 bytes"):
            commitment.seed_commitment(b"s" * 32, short)
    with pytest.raises(ValueError, match="128 bits"):
        commitment.salt_of(b"n" * 15, Part.RAW)


def test_every_part_changes_the_leaf():
    def leaf(**changes):
        parts = {
            "labels": b"l",
            "raw": "raw",
            "expected": ["a"],
            "shown": "shown",
            "cluster": "C1",
            **changes,
        }
        sealed = commitment.sealed_digests(parts["labels"], parts["raw"], parts["expected"], nonce(1))
        shown = commitment.open_digests(parts["shown"], parts["cluster"], nonce(2))
        return commitment.leaf_hash(parts.get("id", "id"), sealed, shown)

    changed = [
        leaf(),
        leaf(labels=b"m"),
        leaf(raw="Raw"),
        leaf(expected=["a", "b"]),
        leaf(expected=None),
        leaf(expected=[]),
        leaf(shown="Shown"),
        leaf(cluster="C2"),
        leaf(cluster=None),
        leaf(id="ie"),
    ]
    assert len(set(changed)) == len(changed)
    with pytest.raises(ValueError, match="three sealed and two open"):
        commitment.leaf_hash("id", bytes(64), bytes(96))


def test_a_recall_changes_the_shown_part_only():
    before = commitment.open_digests("He is Claude.", "C1", nonce(1))
    after = commitment.with_shown(before, "He is [name].", nonce(2))
    assert after[32:] == before[32:]
    assert after[:32] == commitment.open_digests("He is [name].", None, nonce(2))[:32]


def brute_force(published: str, guesses: Iterable[bytes]) -> int:
    """How many guessed hashes stand in what was published."""
    return sum(guess.hex() in published for guess in guesses)


def every_guess(blinded_id: str, text: str) -> Iterable[bytes]:
    """Leaves and label digests for every possible label, under all salts an outsider could come up with."""
    salts = [bytes(32), blinded_id.encode().ljust(32, b"\0"), hashlib.sha256(blinded_id.encode()).digest()]
    for label in LABELS:
        labels = commitment.encode_labels({"condition": label}, b"")
        yield hashlib.sha256(labels).digest()
        yield hashlib.sha256(f"{blinded_id}{label}".encode()).digest()
        for salt in salts:
            yield commitment.digest_of(Part.LABELS, labels, salt)
            sealed = commitment.sealed_digests(labels, text, None, salt)
            shown = commitment.open_digests(text, "C1", commitment.open_nonce(SEED, blinded_id))
            yield commitment.leaf_hash(blinded_id, sealed, shown)


def test_the_published_manifest_gives_no_label_to_brute_force():
    """Six labels, texts known, even the seed known: nothing is recovered, and equal records look unlike."""
    leaves = [record(number, LABELS[number % 6]) for number in range(60)]
    manifest = commitment.manifest(
        batch="b",
        leaves=leaves,
        seed=commitment.seed_commitment(SEED, nonce(99)),
        order=commitment.order_commitment({}, nonce(99)),
        sealed_at="2025-01-01T00:00:00Z",
        rules={},
    )
    published = json.dumps(manifest)
    guesses = [guess for number in range(60) for guess in every_guess(f"id-{number}", "The same words.")]
    assert brute_force(published, guesses) == 0
    assert len(set(leaves)) == 60


def test_the_same_attack_recovers_every_label_without_salts():
    published = json.dumps([hashlib.sha256(f"id-{n}{LABELS[n % 6]}".encode()).hexdigest() for n in range(60)])
    guesses = [guess for number in range(60) for guess in every_guess(f"id-{number}", "The same words.")]
    assert brute_force(published, guesses) == 60


def test_an_opened_part_gives_no_other_salt():
    salts = {part: commitment.salt_of(nonce(1), part) for part in Part}
    assert len(set(salts.values())) == len(Part)
    line = commitment.record_line(
        "b",
        "id-1",
        {
            part: commitment.opened(part, "words", salts[part])
            if part is Part.SHOWN
            else commitment.withheld(b"d" * 32)
            for part in Part
        },
    )
    text = json.dumps(line)
    assert salts[Part.SHOWN].hex() in text
    assert nonce(1).hex() not in text
    for part in set(Part) - {Part.SHOWN}:
        assert salts[part].hex() not in text


def test_opened_parts_give_the_digests_made_at_import_and_release():
    fields, raw_line = {"condition": "hint", "model": "m"}, '{"a": 1}\r\n'
    sealed = commitment.sealed_digests(
        commitment.encode_labels(fields, raw_line.encode()), "raw", ["a"], nonce(1)
    )
    shown = commitment.open_digests("shown", None, nonce(2))
    values = {
        Part.LABELS: {"fields": fields, "raw_line": raw_line},
        Part.RAW: "raw",
        Part.EXPECTED: ["a"],
        Part.SHOWN: "shown",
        Part.CLUSTER: None,
    }
    digests = b""
    for part in Part:
        salt = commitment.salt_of(nonce(1 if part in commitment.SEALED_PARTS else 2), part)
        digests += bytes.fromhex(commitment.opened(part, values[part], salt)["digest"])
    assert digests == sealed + shown


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (Part.LABELS, {"fields": {}}),
        (Part.LABELS, {"fields": [], "raw_line": ""}),
        (Part.LABELS, "x"),
        (Part.RAW, 1),
        (Part.SHOWN, None),
    ],
)
def test_a_part_of_another_shape_is_refused(part, value):
    with pytest.raises(ValueError, match=r"labels are|a text is"):
        commitment.content_of(part, value)


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none(), st.booleans())), st.binary())
def test_labels_are_decoded_as_they_were(fields, raw_line):
    assert commitment.decode_labels(commitment.encode_labels(fields, raw_line)) == (fields, raw_line)


def test_json_that_others_read_differently_is_refused():
    for text in ('{"a": 1, "a": 2}', "[NaN]", '{"b": {"a": 1, "a": 1}}', "-Infinity"):
        with pytest.raises(ValueError, match=r"repeats|not JSON"):
            commitment.parse_json(text)
    assert commitment.canonical_json({"b": 10**30, "a": "é"}) == (
        b'{"a":"\xc3\xa9","b":1000000000000000000000000000000}'
    )


def test_the_stamped_digest_covers_what_is_stated_not_the_receipts():
    stated = {"batch": "b", "merkle_root": "00", "receipts": [], "leaves": ["00"]}
    stamped = commitment.manifest_digest(stated)
    assert stamped == hashlib.sha256(b'{"batch":"b","merkle_root":"00"}').hexdigest()
    assert commitment.manifest_digest({**stated, "receipts": [{"digest": stamped}]}) == stamped
    assert commitment.manifest_digest({**stated, "merkle_root": "01"}) != stamped
