from collections.abc import Sequence
from typing import Any

import pytest

from blinding.task_metadata import KnownTask, lint_tasks
from blinding.task_metadata.metadata import TaskMetadata
from tests.blinding.task_metadata.packages import metadata, packages, task_toml, variant

Findings = list[tuple[str, str, str]]


def findings(*trees: dict[str, Any], known: Sequence[KnownTask] = ()) -> Findings:
    return of_files(packages(*trees), known)


def of_files(files: dict[str, bytes], known: Sequence[KnownTask] = ()) -> Findings:
    result = lint_tasks(files, known=known)
    return [
        (finding.path.split("/")[-2], finding.rule, finding.pointer)
        for finding in (*result.errors, *result.warnings)
    ]


def test_a_variant_finds_its_original() -> None:
    assert findings(metadata(), variant("menu-2", "menu-1"), variant("a-first", "menu-1")) == []


def test_a_variant_finds_its_original_in_an_earlier_batch() -> None:
    known = [KnownTask("menu-1", "0.9.0")]
    assert findings(variant("menu-2", "menu-1"), known=known) == []


def test_a_variant_of_itself_is_refused() -> None:
    assert findings(variant("menu-2", "menu-2")) == [
        ("menu-2", "variant_of_self", "/perturbation/variant_of")
    ]


def test_a_variant_of_an_unknown_task_is_refused() -> None:
    known = [KnownTask("menu-3", "1.0.0")]
    assert findings(variant("menu-2", "menu-1"), known=known) == [
        ("menu-2", "variant_of_unknown", "/perturbation/variant_of")
    ]


def test_an_original_that_cannot_be_read_is_there_all_the_same() -> None:
    files = packages(variant("menu-2", "menu-1")) | {"tasks/menu-1/task.toml": b"{"}
    assert of_files(files) == [("menu-1", "bad_toml", "")]


def test_a_variant_of_a_variant_is_refused() -> None:
    chain = [metadata(), variant("menu-2", "menu-1"), variant("menu-3", "menu-2")]
    assert findings(*chain) == [("menu-3", "variant_of_variant", "/perturbation/variant_of")]


@pytest.mark.parametrize(("is_variant", "refused"), [(True, True), (False, False), (None, False)])
def test_whether_an_earlier_task_is_a_variant_may_be_unknown(is_variant: bool | None, refused: bool) -> None:
    known = [KnownTask("menu-1", "1.0.0", is_variant=is_variant)]
    expected = [("menu-2", "variant_of_variant", "/perturbation/variant_of")] if refused else []
    assert findings(variant("menu-2", "menu-1"), known=known) == expected


def test_an_open_earlier_task_tells_that_it_is_a_variant() -> None:
    known = [KnownTask("menu-1", "1.0.0", metadata=variant("menu-1", "menu-0"))]
    rules = [rule for _, rule, _ in findings(variant("menu-2", "menu-1"), known=known)]
    assert rules == ["variant_of_variant"]


def test_a_variant_of_another_family_is_a_warning() -> None:
    trees = [metadata(), variant("menu-2", "menu-1", {"family": "bm-wines"})]
    assert findings(*trees) == [("menu-2", "variant_family_differs", "/family")]


def test_equal_difficulty_has_one_class() -> None:
    trees = [metadata(), metadata({"task_id": "menu-2", "difficulty_class": 3})]
    assert findings(*trees) == [("menu-2", "difficulty_class_differs", "/difficulty_class")]


@pytest.mark.parametrize(
    "other",
    [
        {"difficulty_function": "difficulty-function@0.2.0"},
        {"difficulty_components.distractors": 1},
        {"difficulty_components.ambiguous_judgement_points": 1},
        {"labels.t1_horizon": "medium"},
        {"labels.t2_environment": "stateful_environment"},
        {"labels.t3_specialties": "two"},
        {"labels.t4_modalities": ["text", "imaging", "video"]},
        {"labels.t5_omics": {"kind": "single"}},
        {"labels.t6_interaction": "multi_agent"},
        {"labels.t9_scale": "small_batch"},
    ],
)
def test_another_difficulty_may_have_another_class(other: dict[str, Any]) -> None:
    assert findings(metadata(), metadata({"task_id": "menu-2", "difficulty_class": 3, **other})) == []


@pytest.mark.parametrize(
    "same",
    [
        {"labels.t7_knowledge_currency": "guideline_revision"},
        {"labels.t8_jurisdiction.region": "Lemuria"},
        {"labels.t10_risk": "medium"},
        {"labels.t4_modalities": ["imaging", "text"]},
        {"labels.t5_omics": {"kind": "none", "layers": 0}},
        {"difficulty_components.required_steps": 4.0},
        {"family": "bm-wines"},
    ],
)
def test_what_does_not_enter_difficulty_excuses_no_other_class(same: dict[str, Any]) -> None:
    trees = [metadata(), metadata({"task_id": "menu-2", "difficulty_class": 3, **same})]
    assert findings(*trees) == [("menu-2", "difficulty_class_differs", "/difficulty_class")]


def test_other_modalities_in_the_same_number_are_a_warning() -> None:
    changes = {"task_id": "menu-2", "difficulty_class": 3, "labels.t4_modalities": ["text", "video"]}
    assert findings(metadata(), metadata(changes)) == [
        ("menu-2", "difficulty_class_differs_by_modality", "/difficulty_class")
    ]


def test_an_open_earlier_task_counts_for_the_class() -> None:
    known = [KnownTask("menu-0", "1.0.0", metadata=metadata({"difficulty_class": 1}))]
    assert findings(metadata(), known=known) == [("menu-1", "difficulty_class_differs", "/difficulty_class")]


def test_versions_of_a_task_may_lie_side_by_side() -> None:
    files = {
        "tasks/v1/menu-1/task.toml": task_toml(metadata()),
        "tasks/v2/menu-1/task.toml": task_toml(metadata({"task_version": "2.0.0"})),
    }
    assert of_files(files) == []


def test_a_task_version_is_there_once() -> None:
    files = {f"tasks/{folder}/menu-1/task.toml": task_toml(metadata()) for folder in ("a", "b")}
    (error,) = lint_tasks(files).errors
    assert (error.path, error.rule, error.pointer) == (
        "tasks/b/menu-1/task.toml",
        "duplicate_task",
        "/task_version",
    )


def test_a_task_version_never_changes() -> None:
    before = TaskMetadata.of("", metadata()).canonical
    known = [KnownTask("menu-1", "1.0.0", is_same=before.__eq__)]
    assert findings(metadata(), known=known) == []
    assert findings(metadata({"source": "real"}), known=known) == [
        ("menu-1", "task_version_changed", "/task_version")
    ]
    assert findings(metadata({"source": "real", "task_version": "1.0.1"}), known=known) == []
