"""The arithmetic of sealing, in a process beside the import: boxes, digests and id digests, one piece of a file at a time.

Libsodium lets go of the interpreter while it works, but a thread that comes back from it has to wait for the one that
reads the file; a process has not. It is a plain child on two pipes, because a worker's processes may not start children
of multiprocessing's. It ends when its input ends, so it never outlives the import. It imports no Django.
"""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from blinding import sealing
from blinding.commitment import encode_labels, sealed_digests

_ROOT = Path(__file__).parents[3]
_PATIENCE = 10.0  # seconds for the process to end by itself
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


class Sealer:
    """The process, for the time of a `with`; `seal` may be called from one thread at a time."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def __enter__(self) -> "Sealer":
        # Without the environment: the process needs none of the product's secrets.
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import sys; from {__name__} import serve; serve(sys.stdin.buffer, sys.stdout.buffer)",
            ],
            cwd=_ROOT,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ask(self._means)
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        try:
            process.communicate(timeout=_PATIENCE)
        except (subprocess.TimeoutExpired, OSError):
            process.kill()
            process.communicate()

    def seal(self, rows: Sequence[Plain]) -> list[Sealed]:
        """Return what `seal_row` makes of each row. Raises ChildProcessError when the process has ended."""
        try:
            self._ask(list(rows))
            answer: list[Sealed] = pickle.load(_pipe(self._process.stdout))
        except (OSError, EOFError) as fault:
            raise ChildProcessError("The sealing process has ended.") from fault
        return answer

    def _ask(self, what: Any) -> None:
        pickle.dump(what, _pipe(self._process.stdin), protocol=pickle.HIGHEST_PROTOCOL)
        _pipe(self._process.stdin).flush()


def seal_row(row: Plain, means: Means, sealer: sealing.Sealer) -> Sealed:
    """Close an output's boxes; the digests are over exactly what is in them."""
    labels = sealing.label_box(row.fields, row.rest, row.nonce)
    return Sealed(
        sealer.seal(sealing.pad_to(labels, means.box_size)),
        sealer.seal(sealing.text_box(row.text)),
        sealed_digests(labels[_LABELS_START:], row.text, row.fields["gold_expected"], row.nonce),
        sealing.duplicate_key(means.id_secret, row.fields["output_id"]),
    )


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer each piece that `source` brings, until it ends: what the process does."""
    means: Means = pickle.load(source)
    sealer = sealing.Sealer(means.public_key)
    while True:
        try:
            rows: list[Plain] = pickle.load(source)
        except EOFError:
            return
        pickle.dump([seal_row(row, means, sealer) for row in rows], sink, protocol=pickle.HIGHEST_PROTOCOL)
        sink.flush()
