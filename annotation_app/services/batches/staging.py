"""The second pass of an import: every output cleaned, searched, sealed and copied in. Flat memory; random order in the heap.

Rows go through temporary tables, which no dump shows, and from there into their tables in the order of their random keys.
"""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection

from annotation_app.batch_file import CheckResult, Opened, OutputRow, read_outputs
from annotation_app.models import Batch
from annotation_app.services.batches.arms import ArmTable
from annotation_app.services.batches.findings import FindingTable
from annotation_app.services.batches.tasks import store_clusters, store_tasks
from annotation_app.services.batches.wording import telling_wording
from blinding import entropy, sealing
from blinding.commitment import encode_labels, sealed_digests
from blinding.models import StudyKey
from blinding.redaction.finder import Finder
from blinding.redaction.unicode import clean

CHUNK = 2000
THREADS = 2

_TEMPORARY = """
CREATE TEMP TABLE staged_rows (id uuid, batch_id uuid, task_id uuid, cluster_id uuid, text text, spans text) ON COMMIT DROP;
CREATE TEMP TABLE sealed_rows (id uuid, study uuid, batch uuid, output uuid, labels bytea, raw_text bytea, digests bytea) ON COMMIT DROP;
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
    """Rows of the three temporary tables, the boxes still plain or, once sealed, closed."""

    staged: list[tuple[Any, ...]]
    used: list[tuple[Any, ...]]
    outputs: list[tuple[UUID, UUID]]  # (key of the sealed row, output)
    labels: list[bytes]
    texts: list[bytes]
    digests: list[bytes]


class Staging:
    """One batch's second pass. Plain labels live in this object and die with it."""

    def __init__(self, batch: Batch, checked: CheckResult) -> None:
        key = StudyKey.objects.get(study=batch.study_id)
        self._batch = batch
        self._checked = checked
        self._sealer = sealing.Sealer(bytes(key.public_key))
        self._id_secret = bytes(key.id_secret)
        labels = frozenset().union(*checked.labels.values())
        self._finder = Finder(labels, batch.study.protocol.get("forbidden_vocabulary", ()))
        self._findings = FindingTable(batch)
        self._arms = ArmTable(batch)
        self._box_size = sealing.padded_size(checked.longest_label_box)

    def store(self, opened: Opened, progress: Any) -> None:
        """Copy all outputs of the file in, in the caller's transaction."""
        tasks = store_tasks(self._batch, self._checked.tasks, self._checked.metadata)
        clusters = store_clusters(self._batch, tasks, self._checked.tasks)
        self._task_ids = {key: task.pk for key, task in tasks.items()}
        self._cluster_ids = {key: cluster.pk for key, cluster in clusters.items()}
        with connection.cursor() as cursor:
            cursor.execute(_TEMPORARY)
            rows = read_outputs(opened, self._batch.mapping, clean, progress)
            for chunk in self._sealed_ahead(self._chunks(rows)):
                self._copy(cursor, chunk)
            cursor.execute(_INTO_TABLES)
        self._findings.store()
        self._wording = telling_wording(self._batch.study, tasks, self._checked.tasks, self._finder)
        self._warnings = self._arms.seal_figures(self._sealer)

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

    def _chunks(self, rows: Iterator[OutputRow]) -> Iterator[Chunk]:
        while part := list(islice(rows, CHUNK)):
            yield self._chunk(part)

    def _chunk(self, rows: list[OutputRow]) -> Chunk:
        chunk = Chunk([], [], [], [], [], [])
        batch, study = self._batch.pk, self._batch.study_id
        drawn = iter(_keys(3 * len(rows), batch))
        for row in rows:
            output = next(drawn)
            task = (row.task_id, row.task_version)
            spans = self._findings.take(row.shown, self._finder.find(row.shown))
            cluster = self._cluster_ids.get((task, row.auto_cluster_id)) if row.auto_cluster_id else None
            chunk.staged.append((output, batch, self._task_ids[task], cluster, row.shown, json.dumps(spans)))
            chunk.used.append(
                (next(drawn), study, batch, sealing.duplicate_key(self._id_secret, row.output_id))
            )
            chunk.outputs.append((next(drawn), output))
            self._seal_later(chunk, row, output)
            self._arms.take(row, len(spans), self._task_ids[task], cluster)
        return chunk

    def _seal_later(self, chunk: Chunk, row: OutputRow, output: UUID) -> None:
        nonce = entropy.draw("leaf nonce", output, 32)
        expected = list(row.gold_expected) if row.gold_expected is not None else None
        rest, fields = row.rest(), sealed_fields(row)
        chunk.labels.append(sealing.pad_to(sealing.label_box(fields, rest, nonce), self._box_size))
        chunk.texts.append(sealing.text_box(row.text))
        chunk.digests.append(sealed_digests(encode_labels(fields, rest), row.text, expected, nonce))

    def _sealed_ahead(self, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[bytes], list[bytes]]]:
        """Seal one chunk in threads (libsodium works outside the GIL) while the next one is read."""
        with ThreadPoolExecutor(THREADS) as pool:
            waiting: tuple[Chunk, Future[list[bytes]], Future[list[bytes]]] | None = None
            for chunk in chunks:
                started = (chunk, pool.submit(self._seal, chunk.labels), pool.submit(self._seal, chunk.texts))
                if waiting is not None:
                    yield waiting[0], waiting[1].result(), waiting[2].result()
                waiting = started
            if waiting is not None:
                yield waiting[0], waiting[1].result(), waiting[2].result()

    def _seal(self, boxes: list[bytes]) -> list[bytes]:
        return [self._sealer.seal(box) for box in boxes]

    def _copy(self, cursor: Any, sealed: tuple[Chunk, list[bytes], list[bytes]]) -> None:
        chunk, labels, texts = sealed
        batch, study = self._batch.pk, self._batch.study_id
        boxes = [
            (key, study, batch, output, label, text, digest)
            for (key, output), label, text, digest in zip(
                chunk.outputs, labels, texts, chunk.digests, strict=True
            )
        ]
        for table, rows in (("staged_rows", chunk.staged), ("sealed_rows", boxes), ("used_rows", chunk.used)):
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


def _keys(n: int, batch: UUID) -> list[UUID]:
    drawn = entropy.draw("staged keys", batch, 16 * n)
    return [UUID(bytes=drawn[16 * i : 16 * i + 16], version=4) for i in range(n)]
