"""The arithmetic of sealing, in processes beside the import: boxes, digests and id digests, one piece of a file at a time.

Libsodium lets go of the interpreter while it works, but a thread that comes back from it has to wait for the one that
reads the file; a process has not. Each is a plain child on two pipes, because a worker's processes may not start those
of multiprocessing; it ends when its input ends, so it never outlives the import. Imports no Django.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from blinding import sealing
from blinding.commitment import encode_labels, sealed_digests

FEW = 1_000  # rows that are sealed before a process has started
PROCESSES = 2

_ROOT = Path(__file__).parents[3]
_PATIENCE = 10.0  # seconds for a process to end by itself
_NO_LABELS = (sealing.label_box({}, b"", bytes(32)), encode_labels({}, b""))
_LABELS_START = len(_NO_LABELS[0]) - len(_NO_LABELS[1])


class Means(NamedTuple):
    """What one batch is sealed with. `box_size` is the one size of its label boxes before they are closed."""

    public_key: bytes
    id_secret: bytes
    box_size: int


class Plain(NamedTuple):
    """What is sealed of one output: ids and labels, everything else of its row, its raw text; a fresh nonce of 32 bytes."""

    fields: dict[str, Any]
    rest: bytes
    text: str
    nonce: bytes


class Sealed(NamedTuple):
    """Two closed boxes, the digests of what is in them, and that of the output's id."""

    labels: bytes
    text: bytes
    digests: bytes
    output_id: bytes


Seal = Callable[[Sequence[Plain]], list[Sealed]]


def sealers(means: Means, rows: int) -> list[AbstractContextManager[Seal]]:
    """Return what seals a batch of so many rows; each may be called from one thread at a time."""
    return [_here(means)] if rows <= FEW else [_beside(means) for _ in range(PROCESSES)]


def label_size(fields: dict[str, Any], rest: bytes) -> int:
    """Return the length of a row's label box before padding, without making it: orjson is quick and as long."""
    return len(_NO_LABELS[0]) - len(b"{}") + len(orjson.dumps(fields)) + len(rest)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Seal each piece that `source` brings, until it ends: what a process does."""
    with _here(pickle.load(source)) as seal:
        while True:
            try:
                rows = pickle.load(source)
            except EOFError:
                return
            _send(seal(rows), sink)


@contextmanager
def _here(means: Means) -> Iterator[Seal]:
    sealer = sealing.Sealer(means.public_key)
    yield lambda rows: [_sealed(row, means, sealer) for row in rows]


@contextmanager
def _beside(means: Means) -> Iterator[Seal]:
    process = _start()
    to, back = process.stdin, process.stdout
    assert to is not None
    assert back is not None

    def seal(rows: Sequence[Plain]) -> list[Sealed]:
        try:
            _send(rows, to)
            answer: list[Sealed] = pickle.load(back)
        except (OSError, EOFError) as fault:
            raise ChildProcessError("The sealing process has ended.") from fault
        return answer

    try:
        _send(means, to)
        yield seal
    finally:
        _end(process)


def _start() -> subprocess.Popen[bytes]:
    code = f"import sys; from {__name__} import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
    # Without the environment, because the process needs none of the product's secrets.
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=_ROOT,
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=_PATIENCE)
    except (subprocess.TimeoutExpired, OSError):
        process.kill()
        process.communicate()


def _send(what: Any, pipe: IO[bytes]) -> None:
    pickle.dump(what, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _sealed(row: Plain, means: Means, sealer: sealing.Sealer) -> Sealed:
    """Close an output's boxes; the digests are over exactly what is in them."""
    labels = sealing.label_box(row.fields, row.rest, row.nonce)
    return Sealed(
        sealer.seal(sealing.pad_to(labels, means.box_size)),
        sealer.seal(sealing.text_box(row.text)),
        sealed_digests(labels[_LABELS_START:], row.text, row.fields["gold_expected"], row.nonce),
        sealing.duplicate_key(means.id_secret, row.fields["output_id"]),
    )
