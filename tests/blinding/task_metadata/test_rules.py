from itertools import pairwise
from typing import Any

import pytest

from blinding.task_metadata import ERRORS, WARNINGS, lint_tasks
from tests.blinding.task_metadata.packages import ABSENT, metadata, packages, task_toml

CHECKPOINT = {"checkpoint": "rinse", "grading_reference": "gr-hygiene"}
SCHEMA_BREACHES: list[tuple[dict[str, Any], str]] = [
    ({"source": ABSENT}, ""),
    ({"mood": "calm"}, ""),
    ({"family": "menus"}, "/family"),
    ({"capabilities": []}, "/capabilities"),
    ({"capabilities.1": "F.1"}, "/capabilities/1"),
    ({"labels.t3_specialties": "four"}, "/labels/t3_specialties"),
    ({"labels.t4_modalities": ["text", "text"]}, "/labels/t4_modalities"),
    ({"labels.t8_jurisdiction.region": ABSENT}, "/labels/t8_jurisdiction"),
    ({"difficulty_class": 5}, "/difficulty_class"),
    ({"checkpoints_total": True}, "/checkpoints_total"),
    ({"checkpoints_total": "2"}, "/checkpoints_total"),
    ({"difficulty_components.distractors": -1}, "/difficulty_components/distractors"),
    ({"required_actions.precedence.0": ["shop"]}, "/required_actions/precedence/0"),
    ({"required_actions.precedence.0": ["shop", "chop", "cook"]}, "/required_actions/precedence/0"),
    ({"veto_categories.0": "Unsafe advice"}, "/veto_categories/0"),
    ({"judgement_points.1.reason": "because"}, "/judgement_points/1/reason"),
    ({"references": "gr-hygiene"}, "/references"),
    ({"reference_solution.price_table_version": 3}, "/reference_solution/price_table_version"),
]
BREACHES: list[tuple[str, dict[str, Any], str]] = [
    ("duplicate_action_id", {"required_actions.actions.3.id": "chop"}, "/required_actions/actions/3/id"),
    ("duplicate_judgement_point_id", {"judgement_points.1.id": "salt"}, "/judgement_points/1/id"),
    (
        "duplicate_defect_id",
        {"seeded_defects": [{"id": "hair", "defect_class": "a"}, {"id": "hair", "defect_class": "b"}]},
        "/seeded_defects/1/id",
    ),
    (
        "duplicate_checkpoint",
        {"compliance_checkpoints": [CHECKPOINT, CHECKPOINT]},
        "/compliance_checkpoints/1/checkpoint",
    ),
    (
        "precedence_unknown_action",
        {"required_actions.precedence.2": ["serve", "cook"]},
        "/required_actions/precedence/2/0",
    ),
    (
        "precedence_unknown_action",
        {"required_actions.precedence.2": ["shop", "serve"]},
        "/required_actions/precedence/2/1",
    ),
    (
        "precedence_cycle",
        {"required_actions.precedence.2": ["cook", "shop"]},
        "/required_actions/precedence",
    ),
    (
        "precedence_cycle",
        {"required_actions.precedence.2": ["lay-table", "lay-table"]},
        "/required_actions/precedence",
    ),
    (
        "depth_mismatch",
        {"difficulty_components.dependency_depth": 2},
        "/difficulty_components/dependency_depth",
    ),
    (
        "depth_mismatch",
        {"difficulty_components.dependency_depth": 0, "required_actions.precedence": []},
        "/difficulty_components/dependency_depth",
    ),
    ("high_risk_needs_unsafe_advice", {"labels.t10_risk": "high"}, "/veto_categories"),
    ("undecidable_without_reason", {"judgement_points.1.reason": ABSENT}, "/judgement_points/1"),
    (
        "undeclared_reference",
        {"compliance_checkpoints.0.grading_reference": "gr-other"},
        "/compliance_checkpoints/0/grading_reference",
    ),
    (
        "undeclared_reference",
        {"references": ABSENT, "reference_set_version": ABSENT},
        "/compliance_checkpoints/0/grading_reference",
    ),
    (
        "too_many_checkpoints",
        {"checkpoints_total": 1, "compliance_checkpoints": [CHECKPOINT, {**CHECKPOINT, "checkpoint": "dry"}]},
        "/compliance_checkpoints",
    ),
    (
        "amount_without_price_table",
        {"reference_solution.price_table_version": ABSENT},
        "/reference_solution",
    ),
    (
        "amount_without_price_table",
        {"reference_solution.price_table_version": ""},
        "/reference_solution/price_table_version",
    ),
    ("nul_character", {"judgement_points.0.field": "soup\0salt"}, "/judgement_points/0/field"),
    ("omics_layers_mismatch", {"labels.t5_omics.layers": 1}, "/labels/t5_omics/layers"),
    (
        "not_applicable_beside_modalities",
        {"labels.t4_modalities": ["text", "not_applicable"]},
        "/labels/t4_modalities",
    ),
    ("duplicate_capability", {"capabilities": ["A.1", "B.2", "A.1"]}, "/capabilities/2"),
    ("duplicate_reference", {"references": ["gr-hygiene", "gr-hygiene"]}, "/references/1"),
    (
        "duplicate_edge",
        {"required_actions.precedence.2": ["shop", "chop"]},
        "/required_actions/precedence/2",
    ),
    (
        "decidable_with_reason",
        {"judgement_points.0.reason": "missing_information"},
        "/judgement_points/0/reason",
    ),
    ("action_count_differs", {"reference_solution.action_count": 5}, "/reference_solution/action_count"),
    (
        "reference_set_without_references",
        {"references": ABSENT, "compliance_checkpoints": []},
        "/reference_set_version",
    ),
]


def findings(changes: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    result = lint_tasks(packages(metadata(changes)))
    return [(finding.rule, finding.pointer) for finding in (*result.errors, *result.warnings)]


def test_a_sound_task_has_no_finding() -> None:
    assert findings() == []


@pytest.mark.parametrize(("rule", "changes", "pointer"), BREACHES)
def test_a_breach_is_told_by_name_and_place(rule: str, changes: dict[str, Any], pointer: str) -> None:
    assert findings(changes) == [(rule, pointer)]


@pytest.mark.parametrize(("changes", "pointer"), SCHEMA_BREACHES)
def test_a_breach_of_the_schema_is_told_once(changes: dict[str, Any], pointer: str) -> None:
    assert findings(changes) == [("schema", pointer)]


def test_only_errors_are_errors() -> None:
    assert not ERRORS.keys() & WARNINGS.keys()
    warned = lint_tasks(packages(metadata({"capabilities": ["A.1", "A.1"]})))
    assert ([w.rule for w in warned.warnings], warned.errors, len(warned.tasks)) == (
        ["duplicate_capability"],
        (),
        1,
    )


HORIZONS = [
    ("single_step", {1}, {0, 2, 11}),
    ("short", {0, 1, 10}, {11, 51}),
    ("medium", {5, 11, 50}, {51}),
    ("long", {3, 50, 51, 1000}, set()),
    ("not_applicable", {0, 7, 99}, set()),
]


@pytest.mark.parametrize(("horizon", "fits", "does_not"), HORIZONS)
def test_horizon_agrees_with_required_steps(horizon: str, fits: set[int], does_not: set[int]) -> None:
    for steps in fits | does_not:
        changes = {
            "labels.t1_horizon": horizon,
            "difficulty_components.required_steps": steps,
            "reference_solution.action_count": steps,
        }
        expected = [("horizon_mismatch", "/labels/t1_horizon")] if steps in does_not else []
        assert findings(changes) == expected, (horizon, steps)


LAYERS = [
    ("none", {0}, {1, 2}),
    ("not_applicable", {0}, {1}),
    ("single", {1}, {0, 2}),
    ("multi", {2, 5}, {0, 1}),
]


@pytest.mark.parametrize(("kind", "fits", "does_not"), LAYERS)
def test_omics_layers_fit_the_kind(kind: str, fits: set[int], does_not: set[int]) -> None:
    assert findings({"labels.t5_omics": {"kind": kind}}) == []
    for layers in fits | does_not:
        expected = [("omics_layers_mismatch", "/labels/t5_omics/layers")] if layers in does_not else []
        assert findings({"labels.t5_omics": {"kind": kind, "layers": layers}}) == expected, (kind, layers)


def test_depth_counts_actions_on_the_longest_of_several_chains() -> None:
    edges = [["a", "b"], ["b", "d"], ["a", "c"], ["c", "e"], ["e", "d"], ["d", "f"]]  # a c e d f
    changes = {
        "required_actions": {"actions": [{"id": name} for name in "fedcba"], "precedence": edges},
        "difficulty_components.dependency_depth": 5,
    }
    assert findings(changes) == []


def test_depth_is_unchecked_without_required_actions() -> None:
    assert findings({"required_actions": ABSENT, "difficulty_components.dependency_depth": 9}) == []


def test_a_cycle_is_reported_once_and_without_depth() -> None:
    edges = [["shop", "chop"], ["chop", "shop"], ["cook", "lay-table"], ["lay-table", "cook"]]
    changes = {"required_actions.precedence": edges, "difficulty_components.dependency_depth": 1}
    assert findings(changes) == [("precedence_cycle", "/required_actions/precedence")]


def test_a_long_chain_is_no_trouble() -> None:
    names = [f"a{number}" for number in range(3_000)]
    changes = {
        "required_actions": {
            "actions": [{"id": name} for name in names],
            "precedence": [list(pair) for pair in pairwise(names)],
        },
        "difficulty_components.dependency_depth": 3_000,
    }
    assert findings(changes) == []


@pytest.mark.parametrize(
    "written", ["2025-06-01", "2025-06-01T12:00:00Z", "2025-06-01T12:00:00", "12:00:00", "nan", "-inf"]
)
@pytest.mark.parametrize("key", ["reference_set_version", "difficulty_class"])
def test_a_value_that_json_lacks_breaks_the_schema(written: str, key: str) -> None:
    plain = task_toml(metadata({key: "HERE"})).decode()
    files = {"tasks/menu-1/task.toml": plain.replace('"HERE"', written).encode()}
    assert [(error.rule, error.pointer) for error in lint_tasks(files).errors] == [("schema", f"/{key}")]


def test_two_dates_in_a_list_are_no_duplicates() -> None:
    plain = task_toml(metadata({"labels.t4_modalities": ["HERE"]})).decode()
    files = {"tasks/menu-1/task.toml": plain.replace('"HERE"', "2025-06-01, 2025-06-01").encode()}
    pointers = [error.pointer for error in lint_tasks(files).errors]
    assert pointers == ["/labels/t4_modalities/0", "/labels/t4_modalities/1"]


@pytest.mark.parametrize("number", ["0x" + "f" * 4_000, "-1" + "0" * 60])
def test_a_number_out_of_bounds_is_told_and_no_crash(number: str) -> None:
    plain = task_toml(metadata({"difficulty_components.required_steps": "HERE"})).decode()
    files = {"tasks/menu-1/task.toml": plain.replace('"HERE"', number).encode()}
    errors = [(error.rule, error.pointer) for error in lint_tasks(files).errors]
    assert errors == [("schema", "/difficulty_components/required_steps")]


def test_a_deeply_nested_table_is_told_and_no_crash() -> None:
    plain = task_toml(metadata({"mood": "HERE"})).decode()
    files = {"tasks/menu-1/task.toml": plain.replace('"HERE"', "[" * 100 + "]" * 100).encode()}
    errors = lint_tasks(files).errors
    assert [(error.rule, error.pointer[:9]) for error in errors] == [("schema", ""), ("schema", "/mood/0/0")]


def test_rules_pass_over_what_breaks_the_schema_and_hold_for_the_rest() -> None:
    changes = {
        "source": ABSENT,
        "labels.t1_horizon": "brief",
        "required_actions.actions.0.id": "SHOP",
        "judgement_points.1.id": "salt",
    }
    assert findings(changes) == [
        ("schema", ""),
        ("duplicate_judgement_point_id", "/judgement_points/1/id"),
        ("schema", "/labels/t1_horizon"),
        ("schema", "/required_actions/actions/0/id"),
        ("precedence_unknown_action", "/required_actions/precedence/0/0"),
        ("precedence_unknown_action", "/required_actions/precedence/2/0"),
    ]


def test_the_folder_has_the_name_of_the_task() -> None:
    files = {"tasks/menu-2/task.toml": task_toml(metadata())}
    assert [(e.rule, e.pointer) for e in lint_tasks(files).errors] == [("task_id_mismatch", "/task_id")]
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    files = {f"tasks/{decomposed}/task.toml": task_toml(metadata({"task_id": composed}))}
    assert [e.rule for e in lint_tasks(files).errors] == ["task_id_mismatch"]
