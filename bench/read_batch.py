"""Prints how fast a batch file is checked and read again: items a second, time of one core, memory.

    python -m bench.read_batch [--items 50000] [--no-clean]

Each measurement runs in a process of its own, so that the peak memory is its own. `--no-clean` leaves the
cleaning of texts out and so measures reading and checking alone.
"""

import argparse
import csv
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from annotation_app.batch_file import Cleaned, check_file, open_upload, read_outputs

SEED = 20_260_101
TASKS = 200
COLUMNS = (
    "output_id",
    "task_id",
    "text",
    "condition",
    "model",
    "theory",
    "task_statement",
    "auto_cluster_id",
    "cost",
)


@dataclass(frozen=True, slots=True)
class Untouched:
    text: str
    invisible_removed: int = 0
    control_tokens_removed: int = 0


def cleaning(wanted: bool) -> Callable[[str], Cleaned]:
    if not wanted:
        return Untouched
    from blinding.redaction.unicode import clean

    return clean


def items(count: int) -> Iterator[dict[str, object]]:
    """Yield outputs of about 1 kB: words, some lines, now and then a letter that JSON escapes."""
    chance = random.Random(SEED)
    words = ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(2, 9))) for _ in range(2_000)]
    words += ["naïve", "Größe", "“quoted”", "été"]
    for number in range(count):
        lines = [" ".join(chance.choices(words, k=12)) for _ in range(chance.randint(6, 14))]
        task = number % TASKS
        yield {
            "output_id": f"output-{number:06d}",
            "task_id": f"task-{task:03d}",
            "text": "\n".join(lines),
            "condition": f"arm-{number % 3}",
            "model": f"model-{number % 6}",
            "theory": f"school-{number % 2}",
            "task_statement": f"Explain in a few sentences what question {task} asks, and say why.",
            "auto_cluster_id": f"cluster-{number % 5}",
            "cost": 0.125,
        }


def write(folder: Path, count: int) -> list[Path]:
    as_jsonl, as_csv = folder / "outputs.jsonl", folder / "outputs.csv"
    with (
        as_jsonl.open("w", encoding="utf-8") as lines,
        as_csv.open("w", encoding="utf-8", newline="") as cells,
    ):
        records = csv.DictWriter(cells, COLUMNS, lineterminator="\n")
        records.writeheader()
        for item in items(count):
            lines.write(json.dumps(item) + "\n")
            records.writerow(item)
    return [as_jsonl, as_csv]


def first_pass(path: Path, clean: Callable[[str], Cleaned]) -> int:
    result = check_file(open_upload(path, path.name), {}, clean=clean)
    assert result.errors_total == 0, result.errors
    return result.rows


def second_pass(path: Path, clean: Callable[[str], Cleaned]) -> int:
    return sum(1 for _ in read_outputs(open_upload(path, path.name), {}, clean))


def second_pass_with_rest(path: Path, clean: Callable[[str], Cleaned]) -> int:
    return sum(bool(output.rest()) for output in read_outputs(open_upload(path, path.name), {}, clean))


PASSES = {"first": first_pass, "second": second_pass, "second+rest": second_pass_with_rest}


def measure(name: str, path: Path, cleaned: bool) -> tuple[int, float, float, int, int]:
    """Return items, seconds by the clock and of the processor, and resident kB before and at the peak."""
    clean = cleaning(cleaned)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, busy = time.perf_counter(), time.process_time()
    count = PASSES[name](path, clean)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return count, seconds, busy, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--no-clean", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in write(Path(folder), options.items):
            size = path.stat().st_size
            print(f"{path.name}: {options.items:,} items, {size / options.items:,.0f} bytes each")
            for name in PASSES:
                with get_context("spawn").Pool(1) as pool:
                    count, seconds, busy, before, peak = pool.apply(
                        measure, (name, path, not options.no_clean)
                    )
                speed = f"{count / seconds:>8,.0f} items/s {size / seconds / 1e6:>6.1f} MB/s"
                memory = f"peak {peak / 1024:,.0f} MB, {before / 1024:,.0f} MB before"
                print(f"  {name:<12} {speed} {busy / count * 1e6:>6.1f} µs/item of one core   {memory}")


if __name__ == "__main__":
    main()
