"""An upload whose labels occur nowhere else in the world, sorted by arm as files often are."""

import io
import json
import random
import zipfile
from dataclasses import dataclass
from typing import Any

from tests.blinding.task_metadata.packages import metadata, packages

TASKS, PER_TASK, CLUSTERS = 5, 16, 4
# Lengths tell, where they are let: one arm's labels are short, the other's long.
ARMS = [("zqmarigold", "zqquince"), ("zqsaffron" + "x" * 300, "zqcassis" + "y" * 200)]


@dataclass(frozen=True)
class Upload:
    rows: list[dict[str, Any]]
    content: bytes
    name: str = "zqfilename.zip"

    @property
    def sentinels(self) -> list[str]:
        """Every word that no dump may hold; each is in the upload's sealed parts only."""
        sealed = {"zqmarigold", "zqquince", "zqsaffron", "zqcassis", "zqtheory", "zqprompt", "zqfilename"}
        sealed |= {"zqgroup", "zqregion", "zqdefect"}
        for row in self.rows:
            sealed |= {row["output_id"], row["note_of_the_lab"], row["auto_cluster_id"]}
        return sorted(sealed)

    def row_of(self, text: str) -> int:
        return next(i for i, row in enumerate(self.rows) if row["text"] == text)

    def arm_of(self, text: str) -> int:
        return [condition for condition, _ in ARMS].index(self.rows[self.row_of(text)]["condition"])


def an_upload() -> Upload:
    """Return outputs by arm, then task; what a text says and how long it is has nothing to do with its arm."""
    drawn = random.Random("texts")
    turns = [(task, turn) for turn in range(PER_TASK) for task in range(1, TASKS + 1)]
    lengths = {place: drawn.randrange(3, 60) for place in turns}
    rows = [_row(task, turn, lengths[task, turn]) for task, turn in turns]
    rows.sort(key=lambda row: [condition for condition, _ in ARMS].index(row["condition"]))
    files = packages(*(_metadata(task) for task in range(1, TASKS + 1)))
    return Upload(rows, _zipped(rows, files))


def _row(task: int, turn: int, words: int) -> dict[str, Any]:
    condition, model = ARMS[turn % 2]
    return {
        "output_id": f"zqid{task}x{turn}" + ("long" * 20 if turn % 2 else ""),
        "task_id": f"task-{task}",
        "task_version": "1.0.0",
        "task_statement": f"Describe the way to place {task}.",
        "text": f"Place {task}, turn {turn}: " + "along the river " * words,
        "condition": condition,
        "model": model,
        "theory": "zqtheory",
        "auto_cluster_id": f"zqcluster{(turn // 2) % CLUSTERS}",
        "note_of_the_lab": f"zqnote{task}y{turn}",
        "prompt": "zqprompt " * (1 + 9 * (turn % 2)),
    }


def _metadata(task: int) -> dict[str, Any]:
    sealed = {"source_group": "zqgroup", "labels.t8_jurisdiction.region": "zqregion", "family": "bm-walks"}
    tree = metadata({"task_id": f"task-{task}", **sealed})
    tree["seeded_defects"] = [{"id": f"zqdefect{task}", "defect_class": "zqdefect"}]
    return tree


def _zipped(rows: list[dict[str, Any]], files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("outputs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()
