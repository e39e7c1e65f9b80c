"""Prints how fast the import job takes a file of outputs in: from the file on disk to a batch in review, everything sealed.

    python -m bench.import_batch [--items 50000]

A real database of the product's own, and the job as a worker runs it, in a process of its own that has imported a
small file before, so that peak memory is the job's. A chunk is what is cleaned, searched, sealed and copied at once;
the memory is also given for a tenth of the items, and is flat where the two are close.
"""

import argparse
import resource
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from bench.read_batch import write
from bench.servers import as_product, circumstances, own_instance, percentile


@dataclass(frozen=True)
class Measured:
    seconds: float
    chunks: list[float]
    busy: float  # seconds of the processor: the job
    busy_beside: float  # and the processes that seal
    memory: int  # kB at the peak, of the job
    memory_before: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=50_000)
    options = parser.parse_args()
    with own_instance() as (instance, _):
        small = _file(instance.folder.path / "small", 200)
        for count in (options.items // 10, options.items):
            path = _file(instance.folder.path / "large", count)
            with get_context("spawn").Pool(1) as pool:
                found = pool.apply(_import, (str(path), str(small), f"of-{count}"))
            _print(count, path.stat().st_size, found)


def _file(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    return next(path for path in write(folder, count) if path.suffix == ".jsonl")


def _print(count: int, size: int, found: Measured) -> None:
    p50, p95 = (percentile(found.chunks, share) * 1000 for share in (0.5, 0.95))
    print(
        f"{count:,} items of {size / count:,.0f} bytes in {found.seconds:.1f} s: {count / found.seconds:,.0f} items/s,"
        f" {size / found.seconds / 1e6:.1f} MB/s; {len(found.chunks)} chunks, p50 {p50:.0f} p95 {p95:.0f} ms;"
        f" peak memory {found.memory // 1024} MB ({found.memory_before // 1024} before);"
        f" processor {found.busy / count * 1e6:.0f} + {found.busy_beside / count * 1e6:.0f} µs an item;"
        f" {circumstances()}"
    )


def _import(path: str, small: str, slug: str) -> Measured:
    """Import one file into a fresh study, in a process of its own."""
    as_product()
    from django.conf import settings

    settings.TWINBLIND_ARGON2 = "test"  # its memory would hide that of the job
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from blinding import jobs

    jobs.run(_uploaded(Path(small), f"{slug}-before"))
    job = _uploaded(Path(path), slug)
    chunks: list[float] = []
    _note_chunks(chunks)
    before = resource.getrusage(resource.RUSAGE_SELF)
    start, beside = perf_counter(), _busy(resource.getrusage(resource.RUSAGE_CHILDREN))
    jobs.run(job)
    seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    _require_in_review(slug)
    return Measured(
        seconds,
        chunks,
        _busy(after) - _busy(before),
        _busy(resource.getrusage(resource.RUSAGE_CHILDREN)) - beside,
        after.ru_maxrss,
        before.ru_maxrss,
    )


def _uploaded(path: Path, slug: str) -> str:
    from django.core.files import File

    from annotation_app.services.batches.upload import upload_batch
    from blinding.models import Job
    from tests.factories import a_study

    study = a_study(slug)
    with path.open("rb") as file:
        batch = upload_batch(membership=study["admin"], upload=File(file, path.name))
    return str(Job.objects.get(subject=batch.pk).pk)


def _note_chunks(times: list[float]) -> None:
    """Note the time from one chunk's copy into the database to the next one's."""
    from annotation_app.services.batches.staging import Staging

    copy, last = Staging._copy, [perf_counter()]

    def copy_and_note(*arguments: object) -> None:
        copy(*arguments)  # type: ignore[arg-type]
        now = perf_counter()
        times.append(now - last[0])
        last[0] = now

    Staging._copy = copy_and_note  # type: ignore[method-assign,assignment]


def _require_in_review(slug: str) -> None:
    from annotation_app.models import Batch
    from blinding.models import Job

    batch = Batch.objects.get(study__slug=slug)
    assert batch.status == "in_review", (batch.status, list(Job.objects.values_list("error", flat=True)))


def _busy(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
