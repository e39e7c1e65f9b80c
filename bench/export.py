"""Prints how fast records leave: 100,000 lines of `records.jsonl` out of a real database, and how much memory that takes.

    python -m bench.export [--records 100000]

The outputs go through the real import and release; the records themselves are put in by one statement, past the
coders and under all rules of the database. A chunk is what is read and written at once.
"""

import argparse
import json
import resource
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from bench.servers import as_product, circumstances, own_instance, percentile

TASKS = 200
PAYLOAD = {
    "semantic_cluster_decision": {"cluster_id": "C1", "decision": "confirm", "merge_target": None, "notes": "as proposed"},
    "gold_class_match": [],
    "relevance": "relevant",
    "factuality": "mixed",
    "r_meta_class": "uncertain",
    "elicitation_signal": "none_detected",
    "confidence": 0.7,
    "notes": "The second half leaves the question, then comes back to it.",
    "adjudication_required": False,
}  # fmt: skip

_SERVE = "UPDATE annotation_app_assignment SET served_at = now(), codebook_id = (SELECT id FROM annotation_app_codebook)"
_SUBMIT = """
INSERT INTO annotation_app_record (id, assignment_id, version, submission_id, payload, flagged, flag_reason,
                                   codebook_id, submitted_at, active_seconds, idle_seconds)
SELECT gen_random_uuid(), id, 1, id::text, %s::jsonb, false, '', codebook_id, now(), 40, 2 FROM annotation_app_assignment
"""
_FINAL = "UPDATE annotation_app_assignment SET version = 1, submitted_at = now(), revisable_until = now(), final_at = now()"


@dataclass(frozen=True)
class Measured:
    seconds: float
    bytes: int
    lines: int
    chunks: list[float]
    busy: float
    memory: int
    memory_before: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args()
    with own_instance():
        with get_context("spawn").Pool(1) as pool:
            pool.apply(_fill, (options.records // 2,))
        for most in (options.records // 10, options.records):
            with get_context("spawn").Pool(1) as pool:
                _print(pool.apply(_export, (most,)))


def _print(found: Measured) -> None:
    p50, p95 = (percentile(found.chunks, share) * 1000 for share in (0.5, 0.95))
    print(
        f"{found.lines:,} records of {found.bytes / found.lines:,.0f} bytes in {found.seconds:.2f} s:"
        f" {found.bytes / found.seconds / 1e6:.1f} MB/s, {found.lines / found.seconds:,.0f} records/s;"
        f" {len(found.chunks)} chunks, p50 {p50:.0f} p95 {p95:.0f} ms;"
        f" peak memory {found.memory // 1024} MB ({found.memory_before // 1024} before);"
        f" processor {found.bytes / found.busy / 1e6:.1f} MB a second of it; {circumstances()}"
    )


def _fill(outputs: int) -> None:
    """Make a study of short outputs, all of them coded by both coders."""
    as_product()
    from django.conf import settings
    from django.db import connection

    from tests.factories import a_study

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    a_study("export", phase="coding", outputs=[_row(number) for number in range(outputs)])
    with connection.cursor() as cursor:
        cursor.execute(_SERVE)
        cursor.execute(_SUBMIT, [json.dumps(PAYLOAD)])
        cursor.execute(_FINAL)
        cursor.execute("VACUUM ANALYZE")  # as the server does by itself in the meantime


def _row(number: int) -> dict[str, Any]:
    task = number % TASKS
    return {
        "output_id": f"output-{number}",
        "task_id": f"task-{task}",
        "task_statement": f"Say what question {task} asks.",
        "text": f"A short answer, number {number}.",
        "condition": f"arm-{number % 3}",
        "model": f"model-{number % 6}",
        "auto_cluster_id": f"cluster-{number % 5}",
    }


def _export(most: int) -> Measured:
    """Read records until at least `most` of them have come, as a download does, and throw them away."""
    as_product()
    from annotation_app.models import Study
    from annotation_app.services.exports import record_lines

    study = Study.objects.get()
    before = resource.getrusage(resource.RUSAGE_SELF)
    size, lines, chunks, start = 0, 0, [], perf_counter()
    last = start
    for chunk in record_lines(study):
        size, lines = size + len(chunk), lines + chunk.count(b"\n")
        now = perf_counter()
        chunks.append(now - last)
        last = now
        if lines >= most:
            break
    seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(seconds, size, lines, chunks, busy, after.ru_maxrss, before.ru_maxrss)


if __name__ == "__main__":
    main()
