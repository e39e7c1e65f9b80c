"""The verifier proves a bundle as it was committed, and names the first thing that was altered."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blinding import allocation, commitment, verify
from blinding.commitment import OPEN_PARTS, SEALED_PARTS, Part
from blinding.events_chain import next_block

Bundle = dict[str, Any]

SLOTS = {"A": ["a1", "a2"], "B": ["b1"], "audit": ["x1"]}
PACKAGE = Path(verify.__file__).parent


def secret(name: str) -> bytes:
    return sha256(f"secret {name}".encode()).digest()


def make_record(batch: str, number: int) -> tuple[Bundle, bytes]:
    """A line of leaves.jsonl and its leaf, made by the two steps of import and release."""
    blinded_id, seed = f"{batch}-id-{number:02}", secret(batch)
    values: dict[Part, Any] = {
        Part.LABELS: {
            "fields": {"output_id": f"o{number}", "condition": ("hint", "plain")[number % 2], "n": 10**20},
            "raw_line": f'{{"n": {number}.50, "prompt": "péché"}}\n',
        },
        Part.RAW: f"I am Claude and say {number}.",
        Part.EXPECTED: ["a"] if number % 3 == 0 else None,
        Part.SHOWN: f"I am [name] and say {number}.",
        Part.CLUSTER: f"C{number % 4 + 1}" if number % 4 else None,
    }
    at_import, at_release = secret(blinded_id), commitment.open_nonce(seed, blinded_id)
    nonces = dict.fromkeys(SEALED_PARTS, at_import) | dict.fromkeys(OPEN_PARTS, at_release)
    parts = {
        part: commitment.opened(part, value, commitment.salt_of(nonces[part], part))
        for part, value in values.items()
    }
    labels = commitment.content_of(Part.LABELS, values[Part.LABELS])
    sealed = commitment.sealed_digests(labels, values[Part.RAW], values[Part.EXPECTED], at_import)
    shown = commitment.open_digests(values[Part.SHOWN], values[Part.CLUSTER], at_release)
    return commitment.record_line(batch, blinded_id, parts), commitment.leaf_hash(blinded_id, sealed, shown)


def make_batch(batch: str, size: int) -> tuple[list[Bundle], Bundle, Bundle]:
    """Lines of leaves.jsonl, the manifest, and the entry of allocation.json."""
    made = [make_record(batch, number) for number in range(size)]
    seed, nonce = secret(batch), secret(f"nonce {batch}")
    units = [
        allocation.Unit(line["blinded_output_id"], f"task {number % 4}")
        for number, (line, _) in enumerate(made)
    ]
    placements = allocation.allocate(units, SLOTS, 3, seed, 0.3)
    stated = allocation.document(units, SLOTS, 3, 0.3, placements)
    manifest = commitment.manifest(
        batch=batch,
        leaves=[leaf for _, leaf in made],
        seed=commitment.seed_commitment(seed, nonce),
        order=commitment.order_commitment(stated, nonce),
        sealed_at="2025-01-01T00:00:00Z",
        rules={"blind_version": "ab"},
    )
    manifest["receipts"].append({"digest": commitment.manifest_digest(manifest)})
    entry = {"batch": batch, "seed": seed.hex(), "nonce": nonce.hex(), "allocation": stated}
    return [line for line, _ in made], manifest, entry


def make_bundle() -> Bundle:
    """The parsed files of a bundle with two batches, a recall and a log."""
    one, two = make_batch("one", 8), make_batch("two", 5)
    lines = one[0] + two[0]
    recalled = lines[2]
    shown = commitment.opened(Part.SHOWN, "I am [name].", commitment.salt_of(secret("recall"), Part.SHOWN))
    digests = {part: bytes.fromhex(recalled["parts"][part]["digest"]) for part in Part}
    leaf = commitment.leaf_hash(
        recalled["blinded_output_id"],
        b"".join(digests[part] for part in SEALED_PARTS),
        bytes.fromhex(shown["digest"]) + digests[Part.CLUSTER],
    )
    recalled["amended"] = [shown]
    amendment = {"batch": "one", "blinded_output_id": recalled["blinded_output_id"], "leaf": leaf.hex()}
    events = [{"id": "e1", "kind": "released"}, {"id": "e2", "kind": "locked"}]
    return {
        verify.COMMITMENTS: {"batches": [one[1], two[1]], "amendments": [amendment]},
        verify.LEAVES: lines,
        verify.ALLOCATION: {"batches": [one[2], two[2]]},
        verify.EVENTS: events,
        verify.BLOCKS: [next_block(None, events)],
    }


def encoded(name: str, value: Any) -> bytes:
    if name.endswith(".jsonl"):
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in value).encode()
    return json.dumps(value, ensure_ascii=False).encode()


def write(folder: Path, bundle: Bundle) -> Path:
    folder.mkdir(exist_ok=True)
    for name, value in bundle.items():
        (folder / name).write_bytes(encoded(name, value))
    return folder


@pytest.fixture(name="bundle")
def _bundle() -> Bundle:
    return make_bundle()


def altered(folder: Path) -> str:
    with pytest.raises(verify.Altered) as problem:
        verify.verify(folder)
    return str(problem.value)


def test_a_folder_and_a_zip_are_proven(bundle, tmp_path, capsys):
    folder = write(tmp_path / "bundle", bundle)
    assert "labels, texts and orders are what was committed" in verify.verify(folder)
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in folder.iterdir():
            file.write(path, path.name)
    assert verify.main([str(archive)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("PROVEN\nbatch one: 8 records under root ")
    assert "event log: 2 events in 1 blocks" in printed


def test_the_verifier_runs_on_the_standard_library_alone(bundle, tmp_path):
    package = tmp_path / "blinding"
    package.mkdir()
    for name in ("verify.py", "commitment.py", "allocation.py", "events_chain.py"):
        shutil.copy(PACKAGE / name, package)
    folder = write(tmp_path / "bundle", bundle)
    command = [sys.executable, "-S", "-m", "blinding.verify", str(folder)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("PROVEN")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("labels", {"fields": {"condition": "plain"}, "raw_line": ""}),
        ("raw", "I am Claude and say 4"),
        ("expected", ["a"]),
        ("shown", "I am [name] and say  4."),
        ("cluster", "C3"),
    ],
)
def test_an_altered_part_is_named(bundle, tmp_path, part, value):
    bundle[verify.LEAVES][4]["parts"][part]["value"] = value
    assert altered(write(tmp_path, bundle)) == f"record one-id-04: {part}: not what was committed"


def test_a_swap_of_two_labels_is_named(bundle, tmp_path):
    lines = bundle[verify.LEAVES]
    lines[4]["parts"]["labels"], lines[5]["parts"]["labels"] = (
        lines[5]["parts"]["labels"],
        lines[4]["parts"]["labels"],
    )
    assert altered(write(tmp_path, bundle)) == "record one-id-04: not what was committed"


def test_a_part_committed_anew_is_named(bundle, tmp_path):
    lines = bundle[verify.LEAVES]
    lines[4]["parts"]["shown"] = commitment.opened(Part.SHOWN, "Other words.", bytes(32))
    assert altered(write(tmp_path, bundle)) == "record one-id-04: not what was committed"
    del bundle[verify.COMMITMENTS]["batches"][0]["leaves"]
    assert altered(write(tmp_path, bundle)) == "batch one: the records do not give the committed root"


def test_missing_added_and_repeated_records_are_found(bundle, tmp_path):
    lines = bundle[verify.LEAVES]
    removed = deepcopy(bundle) | {verify.LEAVES: lines[:6] + lines[7:]}
    assert altered(write(tmp_path, removed)) == "batch one: 8 records were committed, 7 are there"
    repeated = deepcopy(bundle) | {verify.LEAVES: [*lines, lines[0]]}
    assert altered(write(tmp_path, repeated)) == "record one-id-00: there twice"
    strange = deepcopy(lines[0]) | {"blinded_output_id": "one-id-99"}
    added = deepcopy(bundle) | {verify.LEAVES: [*lines, strange]}
    assert altered(write(tmp_path, added)) == "record one-id-99: not what was committed"
    unamended = deepcopy(bundle) | {verify.LEAVES: lines[:2] + lines[3:]}
    assert altered(write(tmp_path, unamended)) == "record one-id-02: amended, but not there"


def test_an_altered_order_is_named(bundle, tmp_path):
    placements = bundle[verify.ALLOCATION]["batches"][1]["allocation"]["placements"]
    first, second = placements[0], placements[1]
    assert [first[1:], second[1:]] == [["A", "a1", 1], ["A", "a1", 2]]
    first[0], second[0] = second[0], first[0]
    assert altered(write(tmp_path, bundle)) == (
        "batch two, slot A, coder a1, position 1: the committed seed gives another record"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entry: entry.update(seed="00" * 32), "the seed is not the one that was committed"),
        (lambda entry: entry.update(nonce="00" * 32), "the seed is not the one that was committed"),
        (lambda entry: entry["allocation"]["placements"].pop(), "or their length, was altered"),
        (lambda entry: entry["allocation"].update(spacing=1), "the committed seed gives another record"),
        (lambda entry: entry["allocation"]["units"].pop(), "allocated and committed records differ"),
        (lambda entry: entry["allocation"]["units"][0].append(1), "not what was written there"),
        (lambda entry: entry["allocation"].update(note=1), "or their length, was altered"),
        (lambda entry: entry.update(batch="three"), "not the batches that were committed"),
    ],
)
def test_an_altered_allocation_is_found(bundle, tmp_path, change, message):
    change(bundle[verify.ALLOCATION]["batches"][0])
    assert message in altered(write(tmp_path, bundle))


def test_an_altered_recall_is_named(bundle, tmp_path):
    bundle[verify.LEAVES][2]["amended"][0]["value"] = "I am."
    assert altered(write(tmp_path, bundle)) == "record one-id-02: shown: not what was committed"
    del bundle[verify.LEAVES][2]["amended"]
    assert "after a recall" in altered(write(tmp_path, bundle))


def test_a_bundle_is_held_against_what_was_published(bundle, tmp_path):
    published = tmp_path / "published.json"
    published.write_bytes(encoded(verify.COMMITMENTS, bundle[verify.COMMITMENTS]))
    folder = write(tmp_path / "bundle", bundle)
    assert verify.main([str(folder), "--published", str(published)]) == 0
    lines, manifest, entry = make_batch("two", 4)
    forged = deepcopy(bundle)
    forged[verify.LEAVES][8:] = lines
    forged[verify.COMMITMENTS]["batches"][1] = manifest
    forged[verify.ALLOCATION]["batches"][1] = entry
    assert verify.verify(write(folder, forged))
    with pytest.raises(verify.Altered, match="batch two: not the commitment that was published"):
        verify.verify(folder, published)
    bundle[verify.COMMITMENTS]["amendments"] = []
    del bundle[verify.LEAVES][2]["amended"]
    with pytest.raises(verify.Altered, match="record one-id-02: its published amendment is missing"):
        verify.verify(write(folder, bundle), published)


def test_a_receipt_for_another_manifest_is_found(bundle, tmp_path):
    bundle[verify.COMMITMENTS]["batches"][0]["sealed_at"] = "2024-01-01T00:00:00Z"
    assert "a receipt of a timestamp is for another manifest" in altered(write(tmp_path, bundle))


def test_an_altered_log_is_found(bundle, tmp_path):
    bundle[verify.EVENTS][1]["kind"] = "unlocked"
    assert altered(write(tmp_path, bundle)).startswith("event log: block 1: an event was altered or removed")


def test_closed_parts_are_counted(bundle, tmp_path):
    for line in bundle[verify.LEAVES]:
        line["parts"]["raw"] = {"digest": line["parts"]["raw"]["digest"]}
    assert "13 parts of records stay closed" in verify.verify(write(tmp_path, bundle))


def test_what_cannot_be_read_has_its_own_status(bundle, tmp_path, capsys):
    sealed = write(tmp_path / "sealed", {verify.COMMITMENTS: bundle[verify.COMMITMENTS]})
    (tmp_path / "broken.zip").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    unallocated = write(tmp_path / "unallocated", bundle)
    (unallocated / verify.ALLOCATION).unlink()
    for path in (sealed, tmp_path / "broken.zip", tmp_path / "empty", tmp_path / "nowhere", unallocated):
        assert verify.main([str(path)]) == 2
    told = capsys.readouterr().err
    assert "STILL SEALED  2 batches are committed; nothing is opened before unblinding" in told
    assert told.count("UNREADABLE") == 4
    folder = write(tmp_path / "bundle", bundle)
    (folder / verify.LEAVES).write_bytes(b"\xff\n")
    assert verify.main([str(folder)]) == 1
    assert capsys.readouterr().out.startswith("ALTERED  leaves.jsonl, line 1")


def alone(bundle: Bundle, index: int) -> Bundle:
    """A bundle that hands out one record: its line, its path, and the manifest without leaves."""
    manifest = bundle[verify.COMMITMENTS]["batches"][0]
    leaves = [bytes.fromhex(leaf) for leaf in manifest["leaves"]]
    path = [sibling.hex() for sibling in commitment.path(leaves, index)]
    line = bundle[verify.LEAVES][index] | {"index": index, "path": path}
    short = {key: value for key, value in manifest.items() if key != "leaves"}
    return {verify.COMMITMENTS: {"batches": [short], "amendments": []}, verify.LEAVES: [line]}


def test_one_record_opens_without_another(bundle, tmp_path, capsys):
    handed = alone(bundle, 5)
    handed[verify.LEAVES][0]["parts"]["labels"].pop("salt")
    handed[verify.LEAVES][0]["parts"]["labels"].pop("value")
    folder = write(tmp_path, handed)
    everything = b"".join(path.read_bytes() for path in folder.iterdir()).decode()
    others = [
        part for n, line in enumerate(bundle[verify.LEAVES]) if n != 5 for part in line["parts"].values()
    ]
    assert not [part for part in others if part["salt"] in everything or part["digest"] in everything]
    assert verify.main([str(folder), "--record", "one-id-05"]) == 0
    printed = capsys.readouterr().out
    assert "record one-id-05: leaf 5 of 8 under root " in printed
    assert 'shown: "I am [name] and say 5."' in printed
    assert "labels: closed" in printed
    assert verify.main([str(folder), "--record", "one-id-06"]) == 2


def test_one_record_is_found_among_all(bundle, tmp_path, capsys):
    folder = write(tmp_path, bundle)
    assert verify.main([str(folder), "--record", "one-id-05"]) == 0
    assert "leaf 5 of 8" in capsys.readouterr().out
    bundle[verify.LEAVES][5]["parts"]["cluster"] = commitment.opened(Part.CLUSTER, "C9", bytes(32))
    assert verify.main([str(write(tmp_path, bundle)), "--record", "one-id-05"]) == 1
    assert "record one-id-05: not under the committed root" in capsys.readouterr().out


@pytest.mark.parametrize("change", [{"index": 4}, {"path": []}, {"path": ["00" * 32] * 3}, {"index": "x"}])
def test_a_wrong_path_does_not_open_a_record(bundle, tmp_path, change):
    handed = alone(bundle, 5)
    handed[verify.LEAVES][0] |= change
    with pytest.raises(verify.Altered):
        verify.verify_record(write(tmp_path, handed), "one-id-05")


def test_a_record_without_path_or_leaves_cannot_be_proven(bundle, tmp_path):
    handed = alone(bundle, 5)
    del handed[verify.LEAVES][0]["path"]
    with pytest.raises(verify.Unreadable, match="neither"):
        verify.verify_record(write(tmp_path, handed), "one-id-05")


def parsed(name: str, data: bytes) -> object:
    try:
        if name.endswith(".jsonl"):
            return [commitment.parse_json(line) for line in data.splitlines(keepends=True)]
        return commitment.parse_json(data)
    except (ValueError, RecursionError):
        return None


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("whole") / "bundle", make_bundle())


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([verify.COMMITMENTS, verify.LEAVES, verify.ALLOCATION, verify.EVENTS, verify.BLOCKS]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 7),
)
def test_any_flipped_bit_is_found(whole, name, place, bit):
    """Whatever changes what a file says, a label, a text, an order, a salt or a name, is found."""
    before = (whole / name).read_bytes()
    flipped = bytearray(before)
    flipped[int(place * len(before))] ^= 1 << bit
    (whole / name).write_bytes(flipped)
    try:
        if repr(parsed(name, bytes(flipped))) != repr(parsed(name, before)):
            with pytest.raises((verify.Altered, verify.Unreadable)):
                verify.verify(whole)
    finally:
        (whole / name).write_bytes(before)


def test_every_bit_of_a_label_a_text_and_an_order_counts(bundle, tmp_path):
    """Exhaustive for one record's label and shown text, and for one place in an order."""
    folder = write(tmp_path, bundle)
    for name, text in (
        (verify.LEAVES, b'"condition": "hint"'),
        (verify.LEAVES, b"I am [name] and say 4."),
        (verify.ALLOCATION, b'["one-id-04", "B", "b1", '),
    ):
        before = (folder / name).read_bytes()
        start = before.index(text)
        for position in range(start, start + len(text)):
            for bit in range(8):
                flipped = bytearray(before)
                flipped[position] ^= 1 << bit
                (folder / name).write_bytes(flipped)
                with pytest.raises((verify.Altered, verify.Unreadable)):
                    verify.verify(folder)
        (folder / name).write_bytes(before)
