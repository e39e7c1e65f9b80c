import pytest

from blinding.task_metadata.package import MAX_BYTES, find_packages, read_table, task_entries


def folders(*paths: str) -> list[str]:
    return [package.folder for package in find_packages(paths)]


def test_packages_are_found_at_any_depth() -> None:
    assert folders("tasks/b/task.toml", "tasks/group/deep/a/task.toml", "a/task.toml") == [
        "a",
        "tasks/b",
        "tasks/group/deep/a",
    ]


def test_a_file_of_another_name_makes_no_package() -> None:
    assert folders("tasks/a/task.toml.bak", "tasks/a/mytask.toml", "tasks/a/Task.toml", "task.toml") == []


def test_what_systems_leave_behind_makes_no_package() -> None:
    assert folders("__MACOSX/tasks/a/task.toml", "tasks/a/._task.toml", "tasks/._a/task.toml") == []


def test_a_package_in_the_materials_of_another_is_a_file_of_it() -> None:
    paths = ["tasks/a/task.toml", "tasks/a/materials/task.toml", "tasks/a/tests/x/task.toml"]
    (package,) = find_packages(paths)
    assert package.subfolders == {"materials": ["task.toml"], "tests": ["x/task.toml"]}


def test_a_package_below_another_is_one_of_its_own() -> None:
    assert folders("tasks/a/task.toml", "tasks/a/b/task.toml") == ["tasks/a", "tasks/a/b"]


def test_files_belong_to_the_package_whose_subfolder_they_lie_in() -> None:
    paths = [
        "tasks/a/task.toml",
        "tasks/a/notes.md",
        "tasks/a/materials/x/y.txt",
        "tasks/a/materials/.DS_Store",
        "tasks/ab/task.toml",
        "tasks/ab/materials/z.txt",
        "tasks/loose/materials/z.txt",
    ]
    a, ab = find_packages(paths)
    assert (a.subfolders, a.path, a.name) == ({"materials": ["x/y.txt"]}, "tasks/a/task.toml", "a")
    assert ab.subfolders == {"materials": ["z.txt"]}


@pytest.mark.parametrize(
    ("subfolders", "verifier"),
    [([], None), (["tests"], "tests"), (["verifier"], "verifier"), (["tests", "verifier"], "verifier")],
)
def test_the_verifier_lies_in_one_of_two_folders(subfolders: list[str], verifier: str | None) -> None:
    (package,) = find_packages(["t/task.toml", *(f"t/{name}/check.py" for name in subfolders)])
    assert package.verifier == verifier


def test_entries_of_an_archive_are_those_at_tasks() -> None:
    names = [
        "outputs.jsonl",
        "tasks/",
        "tasks/a/task.toml",
        "__MACOSX/tasks/a/._task.toml",
        "old/tasks/b/task.toml",
    ]
    assert task_entries(names) == {"tasks/a/task.toml": "tasks/a/task.toml"}


def test_entries_of_an_archive_may_lie_in_one_common_folder() -> None:
    names = ["pilot/", "pilot/outputs.csv", "pilot/tasks/a/task.toml", "__MACOSX/pilot/._outputs.csv"]
    assert task_entries(names) == {"pilot/tasks/a/task.toml": "tasks/a/task.toml"}


def test_an_archive_of_tasks_alone_has_no_common_folder_to_strip() -> None:
    assert task_entries(["tasks/a/task.toml"]) == {"tasks/a/task.toml": "tasks/a/task.toml"}


def test_an_archive_without_tasks_has_none() -> None:
    assert task_entries(["outputs.jsonl", "README.md"]) == {}


def test_the_table_is_read_whatever_stands_beside_it() -> None:
    data = b'version = "1.0"\r\n[agent]\r\n[metadata]\r\ntask_id = "\xc3\xa9"\r\n'
    assert read_table(data) == ({"task_id": "é"}, [])


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read_table(b"\xef\xbb\xbf[metadata]\n") == ({}, [])


@pytest.mark.parametrize(
    "data",
    [
        b'[metadata]\na = "open',
        b"[metadata]\na = 1\na = 2",
        b"\xff\xfe[metadata]",
        b'[metadata]\na = "\xe9"',
        b"[metadata]\na = " + b"[" * 200_000,
        b"[metadata]\na = " + b"9" * 5_000,
        b"[metadata]\n" + b".".join([b"a"] * 200_000) + b" = 1",
        b"[metadata." + b" . ".join([b"'a.b'"] * 40) + b"]",
        b"[metadata]\n" + b".".join([b'"\\"."'] * 40) + b" = 1",
    ],
)
def test_a_file_that_is_no_toml_is_refused(data: bytes) -> None:
    table, (hit,) = read_table(data)
    assert (table, hit.rule, hit.pointer) == ({}, "bad_toml", "")


def test_the_message_says_where_toml_is_broken_and_quotes_nothing() -> None:
    _, (hit,) = read_table(b'[metadata]\nsecret = "kumquat"\nsecret = "kumquat"\n')
    assert "line 3" in hit.message
    assert "kumquat" not in hit.message


@pytest.mark.parametrize("data", [b"", b"metadata = 3", b"[[metadata]]", b"[task.metadata]"])
def test_a_file_without_the_table_is_refused(data: bytes) -> None:
    _, (hit,) = read_table(data)
    assert (hit.rule, hit.pointer) == ("no_metadata_table", "")


def test_a_large_file_is_refused_before_it_is_read() -> None:
    _, (hit,) = read_table(b"#" * (MAX_BYTES + 1))
    assert hit.rule == "task_file_too_large"
    assert read_table(b"[metadata]\n".ljust(MAX_BYTES, b"\n")) == ({}, [])


def test_a_key_of_several_parts_and_a_text_with_dots_are_read() -> None:
    key, text = b".".join([b"k"] * 20), b". ".join([b"One sentence"] * 99)
    table, hits = read_table(b"[metadata]\n" + key + b' = 1\nnotes = "' + text + b'"\n')
    assert (table["notes"], hits) == (text.decode(), [])
