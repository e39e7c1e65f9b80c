"""What the schema cannot say about one table of metadata. A rule passes over what is missing and over what is
None, that is unsound: those are the schema's to tell."""

from collections.abc import Callable, Iterator
from typing import Any

from blinding.task_metadata.findings import Hit
from blinding.task_metadata.graph import check_graph
from blinding.task_metadata.values import at, tables

Tree = dict[str, Any]

_MOST_STEPS = {"single_step": 1, "short": 10, "medium": 50}


def check_task(tree: Tree, folder_name: str) -> Iterator[Hit]:
    """Yield every hit in one table of metadata, with None in place of values that break the schema."""
    task_id = tree.get("task_id")
    if task_id is not None and task_id != folder_name:
        yield Hit("task_id_mismatch", "/task_id", f"the folder is {folder_name}, task_id is {task_id}")
    for rule in _RULES:
        yield from rule(tree)


def _ids_twice(tree: Tree) -> Iterator[Hit]:
    for keys, name, rule in (
        (("required_actions", "actions"), "id", "duplicate_action_id"),
        (("judgement_points",), "id", "duplicate_judgement_point_id"),
        (("seeded_defects",), "id", "duplicate_defect_id"),
        (("compliance_checkpoints",), "checkpoint", "duplicate_checkpoint"),
    ):
        values = [
            (f"/{'/'.join(keys)}/{index}/{name}", item.get(name)) for index, item in tables(tree, *keys)
        ]
        yield from _twice(values, rule)


def _entries_twice(tree: Tree) -> Iterator[Hit]:
    for key, rule in (("capabilities", "duplicate_capability"), ("references", "duplicate_reference")):
        yield from _twice([(f"/{key}/{i}", entry) for i, entry in enumerate(tree.get(key) or [])], rule)


def _twice(values: list[tuple[str, Any]], rule: str) -> Iterator[Hit]:
    seen: set[Any] = set()
    for pointer, value in values:
        if value is not None and value in seen:
            yield Hit(rule, pointer, str(value))
        seen.add(value)


def _horizon(tree: Tree) -> Iterator[Hit]:
    horizon = at(tree, "labels", "t1_horizon")
    steps = at(tree, "difficulty_components", "required_steps")
    if steps is None or horizon not in _MOST_STEPS:
        return
    if steps > _MOST_STEPS[horizon] or (horizon == "single_step" and steps != 1):
        yield Hit("horizon_mismatch", "/labels/t1_horizon", f"it is {horizon}, required_steps is {steps}")


def _risk(tree: Tree) -> Iterator[Hit]:
    categories = tree.get("veto_categories")
    high = at(tree, "labels", "t10_risk") == "high"
    if high and categories is not None and "unsafe_advice" not in categories:
        yield Hit("high_risk_needs_unsafe_advice", "/veto_categories")


def _omics(tree: Tree) -> Iterator[Hit]:
    kind, layers = at(tree, "labels", "t5_omics", "kind"), at(tree, "labels", "t5_omics", "layers")
    if kind is None or layers is None:
        return
    fits = {"single": layers == 1, "multi": layers >= 2}.get(kind, layers == 0)
    if not fits:
        yield Hit("omics_layers_mismatch", "/labels/t5_omics/layers", f"{kind} with {layers}")


def _modalities(tree: Tree) -> Iterator[Hit]:
    modalities = at(tree, "labels", "t4_modalities") or []
    if "not_applicable" in modalities and len(modalities) > 1:
        yield Hit("not_applicable_beside_modalities", "/labels/t4_modalities")


def _judgement_points(tree: Tree) -> Iterator[Hit]:
    for index, point in tables(tree, "judgement_points"):
        if point.get("decidable") is False and "reason" not in point:
            yield Hit("undecidable_without_reason", f"/judgement_points/{index}", str(point.get("id", "")))
        if point.get("decidable") is True and "reason" in point:
            yield Hit("decidable_with_reason", f"/judgement_points/{index}/reason", str(point.get("id", "")))


def _references(tree: Tree) -> Iterator[Hit]:
    declared = tree.get("references", [])
    if declared is None:
        return
    for index, checkpoint in tables(tree, "compliance_checkpoints"):
        cited = checkpoint.get("grading_reference")
        if cited is not None and cited not in declared:
            yield Hit("undeclared_reference", f"/compliance_checkpoints/{index}/grading_reference", cited)
    if "reference_set_version" in tree and not declared:
        yield Hit("reference_set_without_references", "/reference_set_version")


def _checkpoints(tree: Tree) -> Iterator[Hit]:
    total, listed = tree.get("checkpoints_total"), len(tree.get("compliance_checkpoints") or [])
    if total is not None and listed > total:
        yield Hit(
            "too_many_checkpoints", "/compliance_checkpoints", f"{listed} listed, checkpoints_total {total}"
        )


def _reference_solution(tree: Tree) -> Iterator[Hit]:
    solution = tree.get("reference_solution") or {}
    if "amount" in solution and solution.get("price_table_version", "") == "":
        named = "/price_table_version" if "price_table_version" in solution else ""
        yield Hit("amount_without_price_table", f"/reference_solution{named}")
    count = solution.get("action_count")
    steps = at(tree, "difficulty_components", "required_steps")
    if count is not None and steps is not None and count != steps:
        yield Hit(
            "action_count_differs", "/reference_solution/action_count", f"{count}, required_steps {steps}"
        )


_RULES: tuple[Callable[[Tree], Iterator[Hit]], ...] = (
    _ids_twice,
    _entries_twice,
    check_graph,
    _horizon,
    _risk,
    _omics,
    _modalities,
    _judgement_points,
    _references,
    _checkpoints,
    _reference_solution,
)
