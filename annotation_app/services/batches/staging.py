"""The second pass of an import: every output cleaned, searched, sealed and copied in. Flat memory; random order in the heap.

Rows go through temporary tables, which no dump shows, and from there into their tables in the order of their random keys.
"""

import json
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from uuid import UUID

from django.db import connection

from annotation_app.batch_file import CheckResult, Opened, OutputRow, read_outputs
from annotation_app.models import Batch
from annotation_app.services.batches.arms import ArmTable
from annotation_app.services.batches.findings import FindingTable
from annotation_app.services.batches.sealer import Means, Plain, Sealed, sealers
from annotation_app.services.batches.tasks import store_clusters, store_tasks
from annotation_app.services.batches.wording import telling_wording
from blinding import entropy, sealing
from blinding.models import StudyKey
from blinding.redaction.finder import Finder
from blinding.redaction.unicode import clean

CHUNK_ROWS, CHUNK_BYTES = 1_000, 4_000_000  # whichever is reached first
BLOCK = 32  # bytes that are drawn for a key or a nonce

_TEMPORARY = """
CREATE TEMP TABLE staged_rows (id uuid, batch_id uuid, task_id uuid, cluster_id uuid, text text, spans text)
    ON COMMIT DROP;
CREATE TEMP TABLE sealed_rows (id uuid, study uuid, batch uuid, output uuid, labels bytea, raw_text bytea, digests bytea)
    ON COMMIT DROP;
CREATE TEMP TABLE used_rows (id uuid, study uuid, batch uuid, digest bytea) ON COMMIT DROP;
"""
_COPIES = {
    "staged_rows": ("uuid", "uuid", "uuid", "uuid", "text", "text"),
    "sealed_rows": ("uuid", "uuid", "uuid", "uuid", "bytea", "bytea", "bytea"),
    "used_rows": ("uuid", "uuid", "uuid", "bytea"),
}
_INTO_TABLES = """
INSERT INTO annotation_app_stagedoutput (id, batch_id, task_id, cluster_id, text, spans)
    SELECT id, batch_id, task_id, cluster_id, text, spans::jsonb FROM staged_rows ORDER BY id;
INSERT INTO blinding_sealedoutput (id, study, batch, output, labels, raw_text, digests)
    SELECT id, study, batch, output, labels, raw_text, digests FROM sealed_rows ORDER BY id;
INSERT INTO blinding_usedoutputid (id, study, batch, digest)
    SELECT id, study, batch, digest FROM used_rows ORDER BY digest;
DROP TABLE staged_rows, sealed_rows, used_rows;
"""


@dataclass(frozen=True)
class Chunk:
    """Some outputs on their way into the temporary tables; what is to be sealed is still plain."""

    staged: list[tuple[Any, ...]] = field(default_factory=list)
    outputs: list[UUID] = field(default_factory=list)
    plain: list[Plain] = field(default_factory=list)


class Staging:
    """One batch's second pass. Plain labels live in this object and die with it."""

    def __init__(self, batch: Batch, checked: CheckResult) -> None:
        key = StudyKey.objects.get(study=batch.study_id)
        self._batch = batch
        self._checked = checked
        size = sealing.padded_size(checked.longest_label_box)
        self._means = Means(bytes(key.public_key), bytes(key.id_secret), size)
        labels = frozenset().union(*checked.labels.values())
        self._finder = Finder(labels, batch.study.protocol.get("forbidden_vocabulary", ()))
        self._findings = FindingTable(batch)
        self._arms = ArmTable(batch)

    def store(self, opened: Opened, progress: Any) -> None:
        """Copy all outputs of the file in, in the caller's transaction."""
        tasks = store_tasks(self._batch, self._checked.tasks, self._checked.metadata)
        clusters = store_clusters(self._batch, tasks, self._checked.tasks)
        self._task_ids = {key: task.pk for key, task in tasks.items()}
        self._cluster_ids = {key: cluster.pk for key, cluster in clusters.items()}
        with connection.cursor() as cursor:
            cursor.execute(_TEMPORARY)
            rows = read_outputs(opened, self._batch.mapping, clean, progress)
            for chunk, sealed in self._sealed_ahead(map(self._chunk, _pieces(rows))):
                self._copy(cursor, chunk, sealed)
            with ThreadPoolExecutor(1) as aside:
                moving = aside.submit(cursor.execute, _INTO_TABLES)
                # Meanwhile: mostly arithmetic, and what it writes waits for its turn on the connection.
                self._warnings = self._arms.seal_figures(sealing.Sealer(self._means.public_key))
                moving.result()
        self._findings.store()
        self._wording = telling_wording(self._batch.study, tasks, self._checked.tasks, self._finder)

    @property
    def has_one_arm(self) -> bool:
        return self._arms.has_one_arm

    def summary(self) -> dict[str, Any]:
        """Return counts free of labels for the admin."""
        tasks = self._checked.tasks
        return {
            "tasks": len(tasks),
            "clusters": sum(len(t.clusters) for t in tasks.values()),
            "controls": sum(t.positive_control for t in tasks.values()),
            **(self._checked.metadata.summary() if self._checked.metadata else {}),
            **self._warnings,
            "wording": self._wording,
        }

    def _chunk(self, rows: list[OutputRow]) -> Chunk:
        chunk, batch = Chunk(), self._batch.pk
        nonces = entropy.draw("leaf nonces", batch, BLOCK * len(rows))
        for number, (row, output) in enumerate(
            zip(rows, _keys("staged keys", batch, len(rows)), strict=True)
        ):
            task = (row.task_id, row.task_version)
            spans = self._findings.take(row.shown, self._finder.find(row.shown))
            cluster = self._cluster_ids.get((task, row.auto_cluster_id)) if row.auto_cluster_id else None
            place = json.dumps(spans) if spans else "[]"
            chunk.staged.append((output, batch, self._task_ids[task], cluster, row.shown, place))
            chunk.outputs.append(output)
            nonce = nonces[BLOCK * number : BLOCK * (number + 1)]
            chunk.plain.append(Plain(sealed_fields(row), row.rest(), row.text, nonce))
            self._arms.take(row, len(spans), self._task_ids[task], cluster)
        return chunk

    def _sealed_ahead(self, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[Sealed]]]:
        """Let chunks be sealed while the next ones are read; they come back in their order."""
        waiting: deque[tuple[Chunk, Future[list[Sealed]]]] = deque()
        with ExitStack() as stack:
            ways = [stack.enter_context(way) for way in sealers(self._means, self._checked.rows)]
            lines = [(seal, stack.enter_context(ThreadPoolExecutor(1))) for seal in ways]
            for chunk, (seal, line) in zip(chunks, cycle(lines), strict=False):
                waiting.append((chunk, line.submit(seal, chunk.plain)))
                if len(waiting) > len(lines):
                    done, sealed = waiting.popleft()
                    yield done, sealed.result()
            for done, sealed in waiting:
                yield done, sealed.result()

    def _copy(self, cursor: Any, chunk: Chunk, sealed: list[Sealed]) -> None:
        batch, study = self._batch.pk, self._batch.study_id
        keys = zip(_keys("sealed keys", batch, len(sealed)), chunk.outputs, sealed, strict=True)
        boxes = [(key, study, batch, output, row.labels, row.text, row.digests) for key, output, row in keys]
        fresh = zip(_keys("used keys", batch, len(sealed)), sealed, strict=True)
        used = [(key, study, batch, row.output_id) for key, row in fresh]
        for table, rows in (("staged_rows", chunk.staged), ("sealed_rows", boxes), ("used_rows", used)):
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(_COPIES[table])
                for row in rows:
                    copy.write_row(row)


def sealed_fields(row: OutputRow) -> dict[str, Any]:
    """Return the ids and labels that a label box holds beside the raw line."""
    return {
        "output_id": row.output_id,
        "task_id": row.task_id,
        "task_version": row.task_version,
        "condition": row.condition,
        "model": row.model,
        "theory": row.theory,
        "auto_cluster_id": row.auto_cluster_id,
        "gold_expected": list(row.gold_expected) if row.gold_expected is not None else None,
    }


def _pieces(rows: Iterator[OutputRow]) -> Iterator[list[OutputRow]]:
    """Cut a file into lists of bounded length, so that memory depends on neither its rows nor its texts."""
    piece, size = [], 0
    for row in rows:
        piece.append(row)
        size += len(row.raw)
        if len(piece) >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _keys(purpose: str, batch: UUID, n: int) -> list[UUID]:
    """Return random keys. Each takes a whole block of its stream, so that when a history is replayed no key depends on
    where a file was cut."""
    drawn = entropy.draw(purpose, batch, BLOCK * n)
    return [UUID(bytes=drawn[start : start + 16], version=4) for start in range(0, BLOCK * n, BLOCK)]
