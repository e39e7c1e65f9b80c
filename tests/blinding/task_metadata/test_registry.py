import hashlib
import json
from pathlib import Path

import pytest

from blinding.task_metadata import RegistryError, load_registry
from blinding.task_metadata.registry import RESULT, SHIPPED, TASK_METADATA
from tests.blinding.task_metadata.packages import metadata
from tests.shared_folder import shared

SCHEMA_SHA256 = "9bd0c4386511fd8f8afa08bd06fd4d8fcc65338011324b9284a1d1a3bef3f4fc"


def write(folder: Path, name: str, document: object) -> None:
    (folder / name).write_text(json.dumps(document))


def result_schema(categories: object) -> dict[str, object]:
    return {"$id": RESULT, "$defs": {"veto_category": categories}}


def test_the_schema_ships_word_for_word() -> None:
    shipped = (SHIPPED / "task-metadata.schema.json").read_bytes()
    assert hashlib.sha256(shipped).hexdigest() == SCHEMA_SHA256


def test_the_shipped_schema_is_the_seed() -> None:
    seed = shared("seeds", "task-metadata.schema.json")
    assert (SHIPPED / "task-metadata.schema.json").read_bytes() == seed.read_bytes()


def test_the_stand_in_answers_until_the_real_file_is_there() -> None:
    registry = load_registry()
    assert registry.stand_in_used
    validator = registry.validator(TASK_METADATA)
    assert validator.is_valid(metadata({"veto_categories": ["unsafe_advice", "any_well_formed_name"]}))
    assert not validator.is_valid(metadata({"veto_categories": ["Not A Name"]}))


def test_the_real_file_takes_precedence(tmp_path: Path) -> None:
    write(tmp_path, "whatever-its-name.json", result_schema({"enum": ["unsafe_advice", "fabricated_result"]}))
    registry = load_registry(tmp_path)
    assert not registry.stand_in_used
    validator = registry.validator(TASK_METADATA)
    assert validator.is_valid(metadata({"veto_categories": ["unsafe_advice"]}))
    assert not validator.is_valid(metadata({"veto_categories": ["any_well_formed_name"]}))


def test_an_id_may_end_in_an_empty_fragment(tmp_path: Path) -> None:
    write(tmp_path, "result.json", {**result_schema({"type": "string"}), "$id": f"{RESULT}#"})
    registry = load_registry(tmp_path)
    assert not registry.stand_in_used
    assert registry.validator(TASK_METADATA).is_valid(metadata())


def test_an_unrelated_file_does_not_replace_the_stand_in(tmp_path: Path) -> None:
    write(tmp_path, "other.json", {"$id": "https://example.org/other.json", "type": "string"})
    assert load_registry(tmp_path).stand_in_used


def test_the_real_file_may_refer_to_a_neighbour(tmp_path: Path) -> None:
    write(tmp_path, "result.json", result_schema({"$ref": "veto.json"}))
    veto_id = RESULT.replace("result.schema.json", "veto.json")
    write(tmp_path, "veto.json", {"$id": veto_id, "enum": ["unsafe_advice"]})
    validator = load_registry(tmp_path).validator(TASK_METADATA)
    assert validator.is_valid(metadata({"veto_categories": ["unsafe_advice"]}))
    assert not validator.is_valid(metadata({"veto_categories": ["fabricated_result"]}))


def test_a_schema_that_is_not_at_hand_is_named_and_not_fetched(tmp_path: Path) -> None:
    write(tmp_path, "result.json", result_schema({"$ref": "https://example.org/far.json"}))
    with pytest.raises(RegistryError, match=r"https://example\.org/far\.json"):
        load_registry(tmp_path).validator(TASK_METADATA)


def test_a_real_file_without_the_definition_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "result.json", {"$id": RESULT})
    with pytest.raises(RegistryError, match="veto_category"):
        load_registry(tmp_path).validator(TASK_METADATA)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"$id": 3}', "\xff"])
def test_a_file_that_is_no_schema_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "broken.json").write_text(content, encoding="latin-1")
    with pytest.raises(RegistryError, match=r"broken\.json"):
        load_registry(tmp_path)


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.json", result_schema({}))
    write(tmp_path, "b.json", result_schema({}))
    with pytest.raises(RegistryError, match=r"b\.json"):
        load_registry(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="is no folder"):
        load_registry(tmp_path / "missing")


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(RegistryError, match="no schema"):
        load_registry().validator("https://example.org/other.json")


@pytest.mark.parametrize(
    "version", ["1.2.3\n", "1.2.3\r\n", "\n1.2.3", "١.٢.٣", "1.2.३", "1.2.3 ", "1.2", "1.2.3.4"]
)
def test_patterns_are_read_as_ecma_reads_them(version: str) -> None:
    assert not load_registry().validator(TASK_METADATA).is_valid(metadata({"task_version": version}))
