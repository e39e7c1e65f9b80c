"""Outputs for the demonstration, put together from sentences by rule: the same rows every time."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

CONDITIONS = ("brief", "stepwise", "courteous")
MODELS = ("Halden-1", "Orrery-L")
PER_TASK = 12

_MATERIAL: dict[str, Any] = json.loads(Path(__file__).with_name("tasks.json").read_text(encoding="utf-8"))


def rows(part: str) -> Iterator[dict[str, Any]]:
    """Yield the upload rows of one study ("coding" or "locked"): tasks × conditions × models × 2."""
    for task in _MATERIAL[part]:
        for number in range(PER_TASK):
            yield _row(task, number)


def as_jsonl(part: str) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows(part))


def pick(options: Sequence[Any], *subject: object) -> Any:
    """Return one of `options`, the same for the same subject."""
    digest = hashlib.sha256("\x1f".join(map(str, subject)).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def chance(share: float, *subject: object) -> bool:
    """Say yes for a `share` of subjects, always the same ones."""
    return bool(pick(range(1000), "chance", *subject) < share * 1000)


def _row(task: dict[str, Any], number: int) -> dict[str, Any]:
    condition = CONDITIONS[number % 3]
    model = MODELS[number // 3 % 2]
    name = f"{task['id']}-{condition}-{model}-{number:02}"
    at = pick(range(len(task["clusters"])), "cluster", name)
    row = {
        "output_id": name,
        "task_id": task["id"],
        "task_statement": task["statement"],
        "text": _text(task, at, condition, model, name),
        "condition": condition,
        "model": model,
        "auto_cluster_id": f"{task['id']}/{at}",
        "cluster_label": task["clusters"][at][0],
    }
    if task.get("control"):
        row |= {
            "positive_control": True,
            "gold_classes": task["classes"],
            "gold_expected": [pick(task["classes"], "gold", name)],
        }
    return row


def _text(task: dict[str, Any], at: int, condition: str, model: str, name: str) -> str:
    sentences = task["clusters"][at][1]
    start = pick(range(len(sentences)), "start", name)
    body = [sentences[(start + i) % len(sentences)] for i in range(2 if condition == "brief" else 3)]
    if len(task["clusters"]) > 1 and chance(0.3, "mixed", name):
        body.append(pick(task["clusters"][at - 1][1], "other", name))
    opener = pick(_MATERIAL["openers"][model], "opener", name)
    closer = pick(_MATERIAL["closers"][condition], "closer", name)
    parts = [f"{opener} {' '.join(body)}", *_extras(name), closer]
    return "\n\n".join(part for part in parts if part)


def _extras(name: str) -> Iterator[str]:
    for kind, share in (("naming", 0.14), ("right_to_left", 0.08), ("emoji", 0.08), ("markdown", 0.1)):
        if chance(share, kind, name):
            yield pick(_MATERIAL["extras"][kind], kind, name)
