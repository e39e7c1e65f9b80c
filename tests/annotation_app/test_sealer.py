"""Sealing beside an import gives what sealing in it gives, ends with it, and fails loudly."""

import os
import signal
from contextlib import ExitStack
from subprocess import Popen
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from nacl.public import PrivateKey

from annotation_app.models import StagedOutput
from annotation_app.services.batches import sealer, staging
from annotation_app.services.batches.sealer import Means, Plain, Seal, label_size, sealers
from blinding import sealing
from blinding.commitment import encode_labels, sealed_digests
from blinding.models import SealedOutput, StudyKey, UsedOutputId
from tests.factories import a_study, rows

KEY = PrivateKey(bytes(range(32)))
SECRET = b"s" * 32
FIELDS: dict[str, Any] = {
    "output_id": "out-1", "task_id": "t", "task_version": None, "condition": "meadow", "model": "quartz",
    "theory": None, "auto_cluster_id": "k", "gold_expected": ["left bank"],
}  # fmt: skip
ROW = Plain(FIELDS, b'{"cost":1}', "Take the left path.\u2028", b"n" * 32)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def _open(number_of_rows: int, stack: ExitStack) -> Seal:
    means = Means(KEY.public_key.encode(), SECRET, 512)
    return stack.enter_context(sealers(means, number_of_rows)[0])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Popen[bytes]]:
    """The processes that a test starts, in their order."""
    found: list[Popen[bytes]] = []
    start = sealer._start

    def start_and_note() -> Popen[bytes]:
        found.append(start())
        return found[-1]

    monkeypatch.setattr(sealer, "_start", start_and_note)
    return found


@pytest.mark.parametrize("number_of_rows", [1, sealer.FEW + 1], ids=["here", "beside"])
def test_boxes_hold_what_was_given_and_digests_are_over_it(number_of_rows: int) -> None:
    opener = sealing.Opener(KEY.encode())
    with ExitStack() as stack:
        seal = _open(number_of_rows, stack)
        first, second = seal([ROW, ROW._replace(text="")])
        assert seal([]) == []
    labels = sealing.open_label_box(opener.open(first.labels))
    assert (labels.fields, labels.raw_line, labels.nonce) == (FIELDS, ROW.rest, ROW.nonce)
    assert sealing.open_text_box(opener.open(first.text)) == ROW.text
    assert sealing.open_text_box(opener.open(second.text)) == ""
    assert first.digests == sealed_digests(
        encode_labels(FIELDS, ROW.rest), ROW.text, ["left bank"], ROW.nonce
    )
    assert first.output_id == sealing.duplicate_key(SECRET, "out-1")
    assert len(first.labels) == len(second.labels) == 512 + 48


def test_a_process_that_has_ended_is_told_and_leaves_nothing(started: list[Popen[bytes]]) -> None:
    with ExitStack() as stack:
        seal = _open(sealer.FEW + 1, stack)
        os.kill(started[0].pid, signal.SIGKILL)
        started[0].wait()
        with pytest.raises(ChildProcessError):
            seal([ROW])
    assert started[0].poll() == -signal.SIGKILL


def test_a_process_ends_with_its_input_and_knows_no_secret(started: list[Popen[bytes]]) -> None:
    with ExitStack() as stack:
        _open(sealer.FEW + 1, stack)([ROW])
        with open(f"/proc/{started[0].pid}/environ") as environment:
            assert environment.read() == ""
    assert started[0].poll() == 0


@given(
    st.fixed_dictionaries(
        {"output_id": TEXT, "theory": st.none() | TEXT, "gold_expected": st.none() | st.lists(TEXT)}
    )
)
def test_a_label_box_is_as_long_as_is_said_before_it_is_made(fields: dict[str, Any]) -> None:
    assert label_size(fields, b"{}") == len(sealing.label_box(fields, b"{}", bytes(32)))


@pytest.mark.django_db
def test_a_large_batch_is_sealed_by_processes_in_pieces_and_each_output_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sealer, "FEW", 0)
    monkeypatch.setattr(staging, "CHUNK_ROWS", 5)
    study = a_study()
    opener = sealing.Opener(KEY.encode())
    StudyKey.objects.filter(study=study.study.pk).update(public_key=KEY.public_key.encode())
    batch = study.import_batch(rows(3, 8))
    assert batch.status == "in_review", batch.errors
    staged = dict(StagedOutput.objects.values_list("pk", "text"))
    assert len(staged) == SealedOutput.objects.count() == UsedOutputId.objects.count() == 24
    for row in SealedOutput.objects.all():
        labels = sealing.open_label_box(opener.open(bytes(row.labels)))
        assert sealing.open_text_box(opener.open(bytes(row.raw_text))) == staged[row.output]
        assert labels.fields["output_id"].split("-")[1:] == _place_in(staged[row.output])


@pytest.mark.django_db
def test_rows_lie_in_the_order_of_their_random_keys() -> None:
    study = a_study()
    study.import_batch(rows(3, 8))
    for table, key in (
        ("annotation_app_stagedoutput", "id"),
        ("blinding_sealedoutput", "id"),
        ("blinding_usedoutputid", "digest"),
    ):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {key} FROM {table} ORDER BY ctid")
            keys = [bytes(value) if key == "digest" else value for (value,) in cursor.fetchall()]
        assert keys == sorted(keys)


def _place_in(text: str) -> list[str]:
    """Return task and turn, which a row's text and its id both name."""
    words = text.replace(",", " ").replace(".", " ").split()
    return [words[words.index("place") + 1], words[-1]]
