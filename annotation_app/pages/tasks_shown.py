"""Task versions as their pages show them: rows, one task's metadata, and results by label."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation_app.pages.figures import number, percent
from annotation_app.pages.task_graph import picture_of
from annotation_app.pages.task_words import LABELS, label_in_words, value_in_words
from annotation_app.services.task_metadata import LabelledTask, TaskRow
from blinding.task_metadata.distributions import LABELS as PUBLISHED

_IN_PARTS = frozenset(
    {
        "labels",
        "required_actions",
        "judgement_points",
        "seeded_defects",
        "compliance_checkpoints",
        "task_id",
        "task_version",
    }
)
_LISTED = ("family", "split", "difficulty_class")


def row_shown(task: TaskRow) -> dict[str, Any]:
    return {
        "uid": task.uid,
        "code": task.code,
        "task_id": task.task_id,
        "task_version": task.task_version,
        "outputs": task.outputs,
        "packages": task.packages,
        "variant_group": task.variant_group[:6],
        "calibration_split": task.calibration_split,
        "voided_at": task.voided_at,
        "void_reason": task.void_reason,
    }


def labelled_row(task: LabelledTask, slug: str) -> dict[str, Any]:
    metadata = task.metadata or {}
    labels = metadata.get("labels", {})
    shown = {name: value_in_words(metadata[name]) for name in _LISTED if name in metadata}
    return {
        **row_shown(task.task),
        **shown,
        "risk": value_in_words(labels["t10_risk"]) if labels else "",
        "modalities": value_in_words(labels["t4_modalities"]) if labels else "",
        "varies": metadata.get("perturbation", {}).get("variant_of", ""),
        "url": reverse("task", args=[slug, task.task.uid]),
    }


def task_shown(task: LabelledTask, slug: str) -> dict[str, Any]:
    """Return one task with all its metadata in words, its graph as a picture, and its variants."""
    metadata = task.metadata or {}
    return {
        **row_shown(task.task),
        "labels": _facts(metadata.get("labels", {})),
        "facts": _facts({k: v for k, v in metadata.items() if k not in _IN_PARTS}),
        "judgement_points": _points(metadata.get("judgement_points", [])),
        "seeded_defects": metadata.get("seeded_defects", []),
        "checkpoints": metadata.get("compliance_checkpoints", []),
        "graph": picture_of(metadata),
        "variants": [_link(other, slug) for other in task.variants],
    }


def label_shown(label: dict[str, Any]) -> dict[str, Any]:
    """Return one label's tables: a row for each field and value of the label."""
    rows = [_result_row(field, cell) for field in label["fields"] for cell in field["cells"]]
    return {"name": label["label"], "label": label_in_words(label["label"]), "rows": rows}


def variant_shown(field: dict[str, Any]) -> dict[str, Any]:
    distance = field["distance"]
    return {
        "path": field["path"],
        "compared": field["compared"],
        "same": field["same"],
        "distance": "–" if distance is None else number(distance, 2),
    }


def distribution_shown(family: dict[str, Any]) -> dict[str, Any]:
    """Return a family's distributions: for each label rows of value, tasks and share."""
    labels = [
        {
            "label": label_in_words(name),
            "rows": [
                {"value": value_in_words(value), "tasks": n, "share": percent(n / family["tasks"], 0)}
                for value, n in marginal["counts"].items()
            ],
            "suppressed": marginal["suppressed"],
        }
        for name, marginal in sorted(family["labels"].items(), key=lambda label: PUBLISHED.index(label[0]))
    ]
    return {"family": family["family"], "tasks": family["tasks"], "labels": labels}


def _facts(values: dict[str, Any]) -> list[dict[str, str]]:
    """Return values in words, those with a name of their own first and in its order."""
    ranks = {name: rank for rank, name in enumerate(LABELS)}
    ordered = sorted(values.items(), key=lambda fact: (ranks.get(fact[0], len(ranks)), fact[0]))
    return [{"label": label_in_words(name), "value": value_in_words(value)} for name, value in ordered]


def _points(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [point | {"reason": value_in_words(point.get("reason", ""))} for point in points]


def _link(task: TaskRow, slug: str) -> dict[str, str]:
    name = f"{task.task_id} {task.task_version}".strip()
    return {"url": reverse("task", args=[slug, task.uid]), "name": name}


def _result_row(field: dict[str, Any], cell: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": field["path"],
        "value": value_in_words(cell["value"]),
        "outputs": cell["outputs"],
        "tasks": cell["tasks"],
        "undecided": cell["undecided"],
        "figures": [_mean(cell)] if "mean" in cell else [_share(one) for one in cell.get("values", [])],
    }


def _mean(cell: dict[str, Any]) -> str:
    told = _("mean %(mean)s") % {"mean": number(cell["mean"], 2)}
    if cell["interval"] is None:
        return told
    low, high = (number(bound, 2) for bound in cell["interval"])
    return f"{told} ({low}–{high})"


def _share(one: dict[str, Any]) -> str:
    told = f"{value_in_words(one['value'])} {percent(one['share'], 0)}"
    if one["interval"] is None:
        return told
    low, high = (percent(bound, 0) for bound in one["interval"])
    return f"{told} ({low}–{high})"
