"""The uploads of each world: the same texts in the same order, under other sealed labels and other sealed metadata."""

import io
import json
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tests.blinding.task_metadata.packages import metadata, packages, variant

ARMS = [(condition, model) for condition in ("meadow", "harbour") for model in ("quartz-1", "Claude 3 Opus")]
TASKS, PER_TASK = 3, 8
Sealed = tuple[
    str, str, float, str, str
]  # family, risk, amount, sets of references of the training and of the rest
SEALED = ("output_id", "condition", "model", "theory", "gold_expected", "note_of_the_lab", "prompt")
ASIDE = {
    (0, 1): "As Claude, made by Anthropic, I would stay.",
    (1, 1): "As ChatGPT, made by OpenAI, I would walk.",
    (1, 2): "Then past the harbour, which is a word of the fixture too.",
    (1, 5): "Claude 3 Opus would go the other way.",
    (2, 0): "# A heading\n\n- **bold** and `code`",
    (2, 3): "ثم انعطف يسارًا عند النهر 🌊",
    (3, 4): "The meadow is quartz-1 green.",
}


@dataclass(frozen=True)
class Fixture:
    """A round of training texts and a main upload; task packages by path, `file_name` is what the uploader called both."""

    name: str
    file_name: str
    trial: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    trial_files: dict[str, bytes]
    files: dict[str, bytes]

    def training_upload(self) -> bytes:
        return _zipped(self.trial, self.trial_files)

    def upload(self) -> bytes:
        return _zipped(self.rows, self.files)

    def row_of(self, text: str) -> dict[str, Any]:
        """Return the row whose output is shown as `text`: what a leak would need to know."""
        return next(row for row in (*self.rows, *self.trial) if _mark(row["text"]) == _mark(text))

    def condition_of(self, text: str) -> str:
        return str(self.row_of(text)["condition"])


def _mark(text: str) -> str:
    """The part of a text that no redaction touches."""
    return text[: text.index(".")]


def as_it_is() -> Fixture:
    rows = [[_row(task, turn) for turn in range(PER_TASK)] for task in range(1 + TASKS)]
    return _fixture(
        "as it is", "outputs of the week.zip", rows, ("bm-walks", "low", 12.5, "spring", "autumn")
    )


def permuted() -> Fixture:
    """Within each task, every output has the labels of another one; every task the metadata of a riskier one."""
    sealed = ("bm-walks", "high", 99.0, "autumn", "spring")
    return _fixture("permuted", "quartz-1, then Claude.zip", _permuted_rows(), sealed)


def renamed() -> Fixture:
    """No label is left: each is 200 characters of its own, the theory is absent, and cluster ids sort the other way."""
    rows = [
        [_renamed(row, task * PER_TASK + turn) for turn, row in enumerate(of_task)]
        for task, of_task in enumerate(_permuted_rows())
    ]
    sealed = ("bm-strolls-of-another-kind", "medium", 1.0, "the first", "another")
    return _fixture("renamed", f"{'x' * 120}.zip", rows, sealed)


def _fixture(name: str, file_name: str, rows: list[list[dict[str, Any]]], sealed: Sealed) -> Fixture:
    """Make a fixture of rows by task; task 0 is that of the training."""
    trial, *main = rows
    files = _packages(*sealed)
    return Fixture(name, file_name, trial, [row for of_task in main for row in of_task], *files)


def _zipped(rows: list[dict[str, Any]], files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        outputs = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        for path, content in {"outputs.jsonl": outputs, **files}.items():
            archive.writestr(zipfile.ZipInfo(path), content)
    return buffer.getvalue()


def _permuted_rows() -> list[list[dict[str, Any]]]:
    rows = [[_row(task, turn) for turn in range(PER_TASK)] for task in range(1 + TASKS)]
    return [[row | _labels(task[(3 * i + 5) % PER_TASK]) for i, row in enumerate(task)] for task in rows]


def _row(task: int, turn: int) -> dict[str, Any]:
    condition, model = ARMS[turn % len(ARMS)]
    control = {"positive_control": True, "gold_classes": ["left bank", "right bank"]} if task == TASKS else {}
    return {
        "output_id": f"{model}/{task}/{turn}",
        "task_id": f"task-{task}",
        "task_version": "1.0.0",
        "task_statement": f"Describe the way to place {task}.",
        "text": f"Follow the river to place {task}, turn number {turn}. {ASIDE.get((task, turn), 'Then rest.')}",
        "condition": condition,
        "model": model,
        "theory": "tides" if turn % 2 else "drift",
        "auto_cluster_id": f"kappa-{'abc'[turn % 3]}",
        "cluster_label": f"{['By the bank', 'Over the bridge', 'Through the wood'][turn % 3]}",
        "note_of_the_lab": f"kept {turn}",
        "prompt": f"You are in the arm {condition}.",
        **control,
        **({"gold_expected": [["left bank"], ["right bank"]][turn % 2]} if control else {}),
    }


def _labels(row: dict[str, Any]) -> dict[str, Any]:
    return {column: row[column] for column in SEALED if column in row}


def _renamed(row: dict[str, Any], number: int) -> dict[str, Any]:
    kept = {column: value for column, value in row.items() if column not in ("theory", "gold_expected")}
    long = {
        column: _long(f"{column} {number}")
        for column in ("output_id", "condition", "model", "note_of_the_lab", "prompt")
    }
    # The ids of clusters sort the other way round: zz…, yy…, xx….
    rank = "abc".index(str(row["auto_cluster_id"])[-1])
    return kept | long | {"auto_cluster_id": "zyx"[rank] * 2 + _long(row["auto_cluster_id"])[:198]}


def _long(seed: str) -> str:
    """Return 200 letters that occur nowhere else."""
    digest = sha256(seed.encode()).hexdigest() * 4
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest)[:200]


def _packages(
    family: str, risk: str, amount: float, trial_references: str, references: str
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the packages of the training and of the main upload.

    What is sealed differs by world; declared facts do not: the variant group, the split, and whether the main sample is
    graded against other references than the training.
    """
    sealed = {
        "task_version": "1.0.0",
        "family": family,
        "labels.t10_risk": risk,
        "reference_solution.amount": amount,
        "veto_categories": ["fabricated_result", "unsafe_advice"],
    }
    main = sealed | {"reference_set_version": references}
    trial = sealed | {"reference_set_version": trial_references, "split": "calib", "task_id": "task-0"}
    return packages(metadata(trial)), packages(
        metadata({"task_id": "task-1", **main}),
        variant("task-2", "task-1", main),
        metadata({"task_id": "task-3", **main}),
    )
