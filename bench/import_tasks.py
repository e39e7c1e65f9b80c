"""How long a batch with many task packages takes from upload to release, and what the tasks' pages cost then.

    python -m bench.import_tasks [--packages 2000] [--outputs-each 2]

Works in a test database of its own on the server in DATABASE_URL, which is dropped at the end.
"""

import argparse
import io
import os
import resource
import tempfile
import time
import zipfile
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.test.runner import DiscoverRunner  # noqa: E402

from annotation_app.services.distributions import publish_distributions  # noqa: E402
from bench.task_metadata import MATERIALS, MATERIALS_AT_ROOT, package  # noqa: E402
from blinding.task_metadata.hashes import hash_files  # noqa: E402
from tests.factories import StudyUnderTest, a_study, jsonl  # noqa: E402


def archive(packages: int, outputs_each: int) -> bytes:
    """Return a ZIP of packages with materials and outputs in two conditions; none is of the calibration split."""
    materials = hash_files(MATERIALS_AT_ROOT, "m", MATERIALS)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "outputs.jsonl", jsonl(_row(n, k) for n in range(packages) for k in range(outputs_each))
        )
        for number in range(packages):
            for path, data in package(number, materials).items():
                file.writestr(path, data.replace(b'split = "calib"', b'split = "dev"'))
    return packed.getvalue()


def _row(task: int, turn: int) -> dict[str, str]:
    return {
        "output_id": f"output-{task}-{turn}",
        "task_id": f"task-{task}",
        "task_statement": f"Write the letter of case {task}.",
        "text": f"Dear colleague, about case {task} we found {turn} things to be considered. " * 12,
        "condition": f"arm-{turn % 2}",
        "model": f"model-{task % 3}",
    }


def measure(packages: int, outputs_each: int) -> None:
    study = a_study(phase="coding", members={"primary_A": 2, "primary_B": 2})
    content = archive(packages, outputs_each)
    print(f"{packages:,} packages, {packages * outputs_each:,} outputs, {len(content) / 1e6:.1f} MB")
    started = time.perf_counter()
    batch = study.import_batch(content, file_name="upload.zip")
    assert batch.status == "in_review", batch.errors[:3]
    _told("import", started, packages)
    started = time.perf_counter()
    study.release(batch)
    _told("release", started, packages)
    _page(study, f"batches/{batch.pk}/")
    _page(study, "tasks/")
    study.to("review")
    started = time.perf_counter()
    publish_distributions(membership=study["project_author"])
    _told("distributions", started, packages)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _page(study: StudyUnderTest, path: str) -> None:
    started = time.perf_counter()
    answer = study.client("admin").get(study.page(path))
    print(f"page {path.partition('/')[0]}: {answer.status_code}, {time.perf_counter() - started:.2f} s")


def _told(what: str, started: float, packages: int) -> None:
    seconds = time.perf_counter() - started
    print(f"{what}: {seconds:.1f} s, {packages / seconds:,.0f} packages/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=int, default=2_000)
    parser.add_argument("--outputs-each", type=int, default=2)
    options = parser.parse_args()
    runner = DiscoverRunner(verbosity=0, interactive=False)
    runner.setup_test_environment()
    databases = runner.setup_databases()
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings.TWINBLIND_UPLOADS = Path(folder) / "uploads"
            measure(options.packages, options.outputs_each)
    finally:
        runner.teardown_databases(databases)


if __name__ == "__main__":
    main()
