"""Small task packages for the tests: one valid table of metadata, changes to it, and TOML to write it in."""

import json
from copy import deepcopy
from typing import Any

ABSENT = object()

_VALID: dict[str, Any] = {
    "source_group": "menus",
    "task_id": "menu-1",
    "task_version": "1.0.0",
    "family": "bm-menus",
    "capabilities": ["A.1", "X.2.1"],
    "split": "dev",
    "source": "synthetic",
    "submission_path": "menu.md",
    "labels": {
        "t1_horizon": "short",
        "t2_environment": "static_materials",
        "t3_specialties": "one",
        "t4_modalities": ["text", "imaging"],
        "t5_omics": {"kind": "none"},
        "t6_interaction": "independent",
        "t7_knowledge_currency": "before_cutoff",
        "t8_jurisdiction": {"standards": ["menu-code-2"], "region": "Atlantis"},
        "t9_scale": "single_case",
        "t10_risk": "low",
    },
    "action_granularity": {"unit": "one dish"},
    "difficulty_components": {
        "required_steps": 4,
        "dependency_depth": 3,
        "information_sources": 1,
        "distractors": 0,
        "ambiguous_judgement_points": 0,
    },
    "difficulty_function": "difficulty-function@0.1.0",
    "difficulty_class": 2,
    "checkpoints_total": 2,
    "required_actions": {
        "actions": [{"id": "shop"}, {"id": "chop"}, {"id": "cook"}, {"id": "lay-table"}],
        "precedence": [["shop", "chop"], ["chop", "cook"], ["shop", "cook"]],
    },
    "judgement_points": [
        {"id": "salt", "field": "soup.salt", "decidable": True},
        {"id": "spice", "field": "soup.spice", "decidable": False, "reason": "missing_information"},
    ],
    "seeded_defects": [{"id": "hair", "defect_class": "foreign_body"}],
    "compliance_checkpoints": [{"checkpoint": "wash", "grading_reference": "gr-hygiene"}],
    "veto_categories": ["fabricated_result"],
    "reference_solution": {"action_count": 4, "amount": 12.5, "price_table_version": "2025"},
    "references": ["gr-hygiene"],
    "reference_set_version": "3",
}


def metadata(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return valid metadata with the values at dotted paths changed, or taken out where they are ABSENT."""
    tree = deepcopy(_VALID)
    for path, value in (changes or {}).items():
        *parents, last = path.split(".")
        holder: Any = tree
        for part in parents:
            holder = holder[int(part)] if part.isdigit() else holder.setdefault(part, {})
        if value is ABSENT:
            del holder[last]
        else:
            holder[int(last) if last.isdigit() else last] = value
    return tree


def variant(task_id: str, of: str, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    perturbation = {"variant_of": of, "kind": "changed_format"}
    return metadata({"task_id": task_id, "perturbation": perturbation, **(changes or {})})


def task_toml(tree: dict[str, Any]) -> bytes:
    return f'version = "1.0"\nmetadata = {toml(tree)}\n'.encode()


def toml(value: Any) -> str:
    """Write a value as inline TOML, whose strings are JSON's but for surrogate escapes and U+007F."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else repr(value)


def packages(*trees: dict[str, Any]) -> dict[str, bytes]:
    """Return the files of packages in folders of their task ids."""
    return {f"tasks/{tree['task_id']}/task.toml": task_toml(tree) for tree in trees}
