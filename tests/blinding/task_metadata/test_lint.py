import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.task_metadata import ERRORS, WARNINGS, TaskMetadata, lint_tasks, load_registry, parse_canonical
from blinding.task_metadata.registry import RESULT
from tests.blinding.task_metadata.packages import metadata, packages, task_toml, variant
from tests.blinding.task_metadata.test_rules import BREACHES, SCHEMA_BREACHES

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
names = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,8}", fullmatch=True)
counts = st.integers(0, 2**70)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, Any], int]:
    """Return required actions and the length of their longest chain, found by growing chains one by one."""
    actions = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    pairs = [(a, b) for i, a in enumerate(actions) for b in actions[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    chains: set[tuple[str, ...]] = {(action,) for action in actions}
    depth = 0
    while chains:
        depth += 1
        chains = {(*chain, after) for chain in chains for before, after in edges if before == chain[-1]}
    order = draw(st.permutations(actions))
    return {
        "actions": [{"id": action} for action in order],
        "precedence": [list(edge) for edge in edges],
    }, depth


@st.composite
def valid_metadata(draw: st.DrawFn) -> dict[str, Any]:
    actions, depth = draw(graphs())
    horizon, steps = draw(
        st.one_of(
            st.just(("single_step", 1)),
            st.tuples(st.just("short"), st.integers(0, 10)),
            st.tuples(st.just("medium"), st.integers(0, 50)),
            st.tuples(st.sampled_from(["long", "not_applicable"]), counts),
        )
    )
    amounts = st.floats(0, allow_infinity=False) | st.integers(0, 2**70)
    points = st.builds(lambda id, field: {"id": id, "field": field, "decidable": True}, names, texts)
    changes = {
        "source_group": draw(texts),
        "submission_path": draw(texts),
        "split": draw(st.sampled_from(["dev", "holdout", "calib"])),
        "labels.t1_horizon": horizon,
        "labels.t4_modalities": draw(
            st.lists(st.sampled_from(["text", "speech", "video"]), min_size=1, unique=True)
        ),
        "labels.t8_jurisdiction.standards": draw(st.lists(texts, min_size=1, max_size=3)),
        "difficulty_components.required_steps": steps,
        "difficulty_components.dependency_depth": depth,
        "difficulty_components.information_sources": draw(counts),
        "required_actions": actions,
        "judgement_points": draw(st.lists(points, max_size=3, unique_by=lambda point: point["id"])),
        "reference_solution.amount": draw(amounts),
        "reference_solution.price_table_version": draw(texts),
    }
    return metadata(changes)


def identical(one: Any, other: Any) -> bool:
    """Like equality, but 1, 1.0 and true differ."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


@given(valid_metadata())
def test_valid_metadata_come_back_identical_from_what_is_sealed(tree: dict[str, Any]) -> None:
    result = lint_tasks(packages(tree))
    assert result.errors == ()
    (task,) = result.tasks
    assert identical(task.metadata, tree)
    assert identical(parse_canonical(task.canonical), tree)


@given(valid_metadata(), st.randoms(use_true_random=False))
def test_canonical_bytes_do_not_depend_on_order(tree: dict[str, Any], random: Any) -> None:
    keys = list(tree)
    random.shuffle(keys)
    shuffled = {key: tree[key] for key in keys}
    assert TaskMetadata.of("", shuffled).canonical == TaskMetadata.of("", tree).canonical


def test_canonical_bytes_are_compact_and_sorted() -> None:
    tree = {"b": [1, 1.0, True], "a": "é", "B": {}}
    assert TaskMetadata.of("", tree).canonical == '{"B":{},"a":"é","b":[1,1.0,true]}'.encode()


def test_a_task_tells_its_design_facts() -> None:
    tree = variant("menu-2", "menu-1", {"split": "calib"})
    original, varied = lint_tasks(packages(metadata(), tree)).tasks
    assert (original.task_id, original.task_version, original.path) == (
        "menu-1",
        "1.0.0",
        "tasks/menu-1/task.toml",
    )
    assert (original.variant_of, original.variant_group) == (None, "menu-1")
    assert (varied.variant_of, varied.variant_group) == ("menu-1", "menu-1")
    assert (original.is_calibration, varied.is_calibration, original.is_holdout) == (False, True, False)
    assert (original.family, original.difficulty_class, original.risk) == ("bm-menus", 2, "low")
    assert (original.modalities, original.reference_set_version) == (("text", "imaging"), "3")


def test_only_tasks_without_an_error_are_handed_on() -> None:
    broken = metadata({"task_id": "menu-2", "checkpoints_total": 0})
    result = lint_tasks(packages(metadata(), broken) | {"tasks/menu-3/task.toml": b"{", "outputs.jsonl": b""})
    assert ([task.task_id for task in result.tasks], result.packages) == (["menu-1"], 3)
    assert [error.path for error in result.errors] == ["tasks/menu-2/task.toml", "tasks/menu-3/task.toml"]


def test_no_package_is_no_error() -> None:
    result = lint_tasks({"outputs.jsonl": b""})
    assert (result.errors, result.warnings, result.tasks, result.packages) == ((), (), (), 0)


def test_the_stand_in_is_named(tmp_path: Path) -> None:
    assert lint_tasks(packages(metadata())).stand_in_used
    (tmp_path / "result.json").write_text(f'{{"$id": "{RESULT}", "$defs": {{"veto_category": {{}}}}}}')
    assert not lint_tasks(packages(metadata()), registry=load_registry(tmp_path)).stand_in_used


@pytest.mark.parametrize(
    "changes", [changes for _, changes, _ in BREACHES] + [changes for changes, _ in SCHEMA_BREACHES]
)
def test_a_message_never_holds_a_value_that_is_sealed(changes: dict[str, Any]) -> None:
    result = lint_tasks(packages(metadata(changes)))
    for finding in (*result.errors, *result.warnings):
        told = (
            " ".join(finding.as_dict().values())
            .replace("not_applicable", "")
            .replace("missing_information", "")
        )
        for value in (
            "shop",
            "chop",
            "cook",
            "serve",
            "gr-",
            "kumquat",
            "soup",
            "four",
            "because",
            "calm",
            "mood",
        ):
            assert value not in told


def test_the_author_of_a_file_gets_the_detail() -> None:
    (error,) = lint_tasks(packages(metadata({"required_actions.precedence.2": ["cook", "shop"]}))).errors
    assert "cook → " not in error.as_dict()["message"]
    assert "cook → " in error.as_dict_for_author()["message"]


def test_every_rule_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[3] / "docs" / "task_metadata.md").read_text()
    assert [rule for rule in (*ERRORS, *WARNINGS) if f"`{rule}`" not in text] == []


def test_files_are_looked_up_only_where_they_matter() -> None:
    class Watched(dict[str, bytes]):
        def __getitem__(self, path: str) -> bytes:
            assert path != "tasks/menu-1/solution/answer.md"
            return super().__getitem__(path)

    files = Watched({"tasks/menu-1/task.toml": task_toml(metadata()), "tasks/menu-1/solution/answer.md": b""})
    assert lint_tasks(files).errors == ()
