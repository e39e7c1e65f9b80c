"""Expected hashes were printed by GNU coreutils, as docs/task_metadata.md says:
find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
"""

from typing import Any

import pytest

from blinding.task_metadata import lint_tasks
from blinding.task_metadata.hashes import hash_files
from tests.blinding.task_metadata.packages import metadata, packages

FILES = {"a.txt": b"soup\n", "b/c.txt": b"", "B.txt": b"bread"}
FILES_HASH = "sha256:a29ed5f0a11ffdf37a9db5cc86b6b721cf120adfd923d63494f43ca63e3978ff"
ODD_NAMES = {"back\\slash": b"1", "line\nfeed": b"2", "é": b"3", "car\rriage": b"4"}
ODD_NAMES_HASH = "sha256:55282b3f73e74b333b99d8f08e6a42eedc64df78d016e45ab6d5d756ac38bf01"
OTHER_HASH = "sha256:" + "0" * 64


def lint(changes: dict[str, Any], subfolder: str) -> list[tuple[str, str]]:
    files = packages(metadata(changes)) | {
        f"tasks/menu-1/{subfolder}/{path}": data for path, data in FILES.items()
    }
    result = lint_tasks(files)
    return [(finding.rule, finding.pointer) for finding in (*result.errors, *result.warnings)]


@pytest.mark.parametrize(("files", "expected"), [(FILES, FILES_HASH), (ODD_NAMES, ODD_NAMES_HASH)])
def test_the_hash_is_what_coreutils_print(files: dict[str, bytes], expected: str) -> None:
    assert hash_files({f"m/{path}": data for path, data in files.items()}, "m", files) == expected


def test_materials_are_held_against_their_hash() -> None:
    assert lint({"materials_sha256": FILES_HASH}, "materials") == []
    assert lint({"materials_sha256": OTHER_HASH}, "materials") == [
        ("materials_hash_mismatch", "/materials_sha256")
    ]


@pytest.mark.parametrize("subfolder", ["verifier", "tests"])
def test_a_verifier_is_held_against_its_hash(subfolder: str) -> None:
    assert lint({"verifier": {"version": "1.0.0", "sha256": FILES_HASH}}, subfolder) == []
    assert lint({"verifier": {"version": "1.0.0", "sha256": OTHER_HASH}}, subfolder) == [
        ("verifier_hash_mismatch", "/verifier/sha256")
    ]


def test_files_without_a_hash_are_a_warning() -> None:
    assert lint({}, "materials") == [("materials_without_hash", "")]
    assert lint({}, "verifier") == [("verifier_without_hash", "")]


def test_a_hash_without_files_is_not_checked() -> None:
    changes = {"materials_sha256": OTHER_HASH, "verifier": {"version": "1.0.0", "sha256": OTHER_HASH}}
    result = lint_tasks(packages(metadata(changes)))
    assert (result.errors, result.warnings) == ((), ())


def test_a_hash_that_breaks_the_schema_is_told_once() -> None:
    assert lint({"materials_sha256": "sha256:ABC"}, "materials") == [("schema", "/materials_sha256")]
    assert lint({"verifier": {"version": "1.0.0"}}, "verifier") == [("schema", "/verifier")]


def test_noise_is_not_hashed() -> None:
    files = packages(metadata({"materials_sha256": FILES_HASH})) | {
        f"tasks/menu-1/materials/{path}": data
        for path, data in {**FILES, ".DS_Store": b"x", "b/._c.txt": b"x"}.items()
    }
    assert lint_tasks(files).errors == ()
