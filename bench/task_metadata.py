"""How fast task packages are checked: 2,000 of them, a quarter variants, each with two files of materials.

python -m bench.task_metadata [packages]
"""

import sys
import time
import tracemalloc

from blinding.task_metadata import Lint, distributions, lint_tasks
from blinding.task_metadata.hashes import hash_files

MATERIALS = {"notes.md": b"A note.\n" * 500, "table.csv": b"1,2,3\n" * 500}
TASK_TOML = """
version = "1.0"
[metadata]
source_group = "group-{group}"
task_id = "{task_id}"
task_version = "1.0.0"
family = "bm-family-{group}"
capabilities = ["A.1", "B.2.3"]
split = "{split}"
source = "synthetic"
submission_path = "out/answer.md"
materials_sha256 = "{materials}"
checkpoints_total = 6
veto_categories = ["fabricated_result", "unsafe_advice"]
difficulty_function = "difficulty-function@0.1.0"
difficulty_class = {difficulty}
judgement_points = [
    {{ id = "jp-1", field = "date", decidable = true }},
    {{ id = "jp-2", field = "dose", decidable = false, reason = "missing_information" }},
]
seeded_defects = [{{ id = "sd-1", defect_class = "swapped_units" }}]
compliance_checkpoints = [{{ checkpoint = "cc-1", grading_reference = "gr-letter" }}]
references = ["gr-letter"]
reference_set_version = "1"
{perturbation}
[metadata.labels]
t1_horizon = "short"
t2_environment = "static_materials"
t3_specialties = "two"
t4_modalities = ["text", "structured_table"]
t5_omics = {{ kind = "none" }}
t6_interaction = "independent"
t7_knowledge_currency = "before_cutoff"
t8_jurisdiction = {{ standards = ["std-1"], region = "EU" }}
t9_scale = "single_case"
t10_risk = "{risk}"

[metadata.action_granularity]
unit = "one field"

[metadata.difficulty_components]
required_steps = 10
dependency_depth = 10
information_sources = {sources}
distractors = 0
ambiguous_judgement_points = 0

[metadata.required_actions]
actions = [{actions}]
precedence = [{precedence}]

[metadata.reference_solution]
action_count = 10
"""


def package(number: int, materials: str) -> dict[str, bytes]:
    task_id = f"task-{number}"
    is_variant = number % 4 == 3
    text = TASK_TOML.format(
        task_id=task_id,
        group=number // 4 % 20,
        split=("dev", "holdout", "calib")[number % 3],
        materials=materials,
        difficulty=number % 4 + 1,
        sources=number % 4,
        risk=("low", "medium", "high")[number % 3],
        perturbation=f'perturbation = {{ variant_of = "task-{number - 1}", kind = "changed_format" }}'
        if is_variant
        else "",
        actions=", ".join(f'{{ id = "a{step}" }}' for step in range(10)),
        precedence=", ".join(f'["a{step}", "a{step + 1}"]' for step in range(9)),
    )
    folder = f"tasks/{task_id}"
    files = {f"{folder}/materials/{name}": data for name, data in MATERIALS.items()}
    return {f"{folder}/task.toml": text.encode(), **files}


def main(packages: int) -> None:
    materials = hash_files(MATERIALS_AT_ROOT, "m", MATERIALS)
    files = {path: data for number in range(packages) for path, data in package(number, materials).items()}
    lint, seconds = timed(files)
    if lint.errors or lint.warnings or len(lint.tasks) != packages:
        raise SystemExit(f"the generated packages should be sound: {(lint.errors + lint.warnings)[:3]}")
    print(f"{packages} packages checked in {seconds:.2f} s: {packages / seconds:.0f} packages/s")
    started = time.perf_counter()
    distributions(task.metadata for task in lint.tasks)
    print(f"distributions in {time.perf_counter() - started:.3f} s")
    tracemalloc.start()
    lint_tasks(files)
    print(f"peak memory of the check beyond the files: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")


def timed(files: dict[str, bytes]) -> tuple[Lint, float]:
    started = time.perf_counter()
    lint = lint_tasks(files)
    return lint, time.perf_counter() - started


MATERIALS_AT_ROOT = {f"m/{name}": data for name, data in MATERIALS.items()}

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
