import contextlib
import gzip
import hashlib
import io
import stat
import struct
import zipfile

import pytest

from annotation_app.batch_file import Limits, UploadRefused, sha256_of
from tests.annotation_app.batch_file.uploads import Uploads, csv_rows, jsonl, row, zipped

GOOD = jsonl(row())


def refusal(uploads, name, content):
    with pytest.raises(UploadRefused) as caught:
        uploads.open(name, content)
    return caught.value.code


def outputs_of(opened):
    with opened.outputs() as reader:
        return reader.read(1_000_000)


@pytest.mark.parametrize(
    ("name", "packing", "row_format"),
    [
        ("a.jsonl", "plain", "jsonl"),
        ("A.JSONL", "plain", "jsonl"),
        ("a.b.Csv", "plain", "csv"),
    ],
)
def test_the_ending_of_the_name_says_how_a_file_is_read(uploads, name, packing, row_format):
    opened = uploads.open(name, GOOD)
    assert (opened.packing, opened.row_format, opened.size) == (packing, row_format, len(GOOD))


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.csv.gz", "a.gz", "jsonl", "a.jsonl.zip.bak", ""])
def test_another_ending_is_an_unknown_format(uploads, name):
    assert refusal(uploads, name, GOOD) == "unknown_format"


@pytest.mark.parametrize("content", [zipped({"outputs.jsonl": GOOD}), gzip.compress(GOOD), b"%PDF-1.7\n"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_content_that_is_plainly_something_else_is_an_unknown_format(uploads, name, content):
    assert refusal(uploads, name, content) == "unknown_format"


def test_gzip_is_read_through_and_read_again(uploads):
    opened = uploads.open("a.JSONL.GZ", gzip.compress(GOOD))
    assert outputs_of(opened) == outputs_of(opened) == GOOD


@pytest.mark.parametrize("content", [GOOD, b""])
def test_a_file_named_gz_that_is_none_is_a_bad_archive(uploads, content):
    assert refusal(uploads, "a.jsonl.gz", content) == "bad_archive"


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-9], lambda b: b[:-6] + b"\0\0" + b[-4:], lambda b: b + b"more"]
)
def test_damaged_gzip_is_a_bad_archive_and_nothing_else(uploads, damage):
    content = damage(gzip.compress(jsonl(row(1), row(1))))
    assert uploads.errors(content, "a.jsonl.gz") == [(None, None, "bad_archive")]


def test_gzip_that_unpacks_to_too_much_is_not_read_to_its_end(tmp_path):
    uploads = Uploads(tmp_path, Limits(unpacked=1_000_000, unpacked_ratio=100))
    opened = uploads.open("a.jsonl.gz", gzip.compress(b" " * 50_000_000))
    chunks: list[bytes] = []
    with opened.outputs() as reader, pytest.raises(UploadRefused, match="unpacks to far more") as caught:
        chunks.extend(iter(lambda: reader.read(100_000), b""))
    assert caught.value.code == "archive_too_large"
    with opened.outputs() as reader:
        assert len(reader.read(100 * opened.size)) == 100 * opened.size < 50_000_000


@pytest.mark.parametrize("limits", [Limits(unpacked=100_000_000), Limits(unpacked_ratio=2_000)])
def test_either_bound_alone_is_not_enough_to_refuse_an_archive(tmp_path, limits):
    content = zipped({"outputs.jsonl": GOOD + b"\n" * 11_000_000})
    assert Uploads(tmp_path, limits).open("a.zip", content).size == len(GOOD) + 11_000_000


def test_a_zip_that_would_unpack_to_too_much_is_refused_by_its_directory(uploads):
    bomb = zipped({"outputs.jsonl": GOOD, "padding.bin": b"\0" * 11_000_000})
    assert refusal(uploads, "a.zip", bomb) == "archive_too_large"


def test_a_zip_that_lies_about_its_sizes_is_a_bad_archive(uploads):
    content = bytearray(zipped({"outputs.jsonl": GOOD * 1_000}))
    directory = content.rindex(b"PK\x01\x02")
    struct.pack_into("<L", content, directory + 24, 50)
    assert uploads.errors(bytes(content), "a.zip") == [(None, None, "bad_archive")]


def test_a_directory_of_too_many_entries_is_refused_before_it_is_read(tmp_path):
    uploads = Uploads(tmp_path, Limits(zip_directory=1_000))
    content = zipped({"outputs.jsonl": GOOD, **{f"noise-{n}": b"" for n in range(30)}})
    assert refusal(uploads, "a.zip", content) == "bad_archive"


@pytest.mark.parametrize(
    "name",
    [
        "../outputs.jsonl",
        "tasks/a/../../../task.toml",
        "/etc/notes",
        "C:/notes",
        "c:notes",
        "\\\\host\\notes",
        "tasks\\..\\..\\notes",
        "__MACOSX/../notes",
    ],
)
def test_an_unsafe_path_refuses_the_archive_even_if_it_would_be_ignored(uploads, name):
    assert refusal(uploads, "a.zip", zipped({"outputs.jsonl": GOOD, name: b""})) == "unsafe_path"


def test_a_nul_in_a_path_is_unsafe(uploads):
    content = zipped({"outputs.jsonl": GOOD, "noteszzz.jpg": b""}).replace(b"noteszzz", b"notes\0zz")
    assert refusal(uploads, "a.zip", content) == "unsafe_path"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_a_device_is_unsafe(uploads, kind):
    link = zipfile.ZipInfo("tasks/a/task.toml")
    link.external_attr = (kind | 0o777) << 16
    assert refusal(uploads, "a.zip", zipped({"outputs.jsonl": GOOD, link: b"../x"})) == "unsafe_path"


def test_dots_within_a_name_are_safe(uploads):
    opened = uploads.open("a.zip", zipped({"outputs.jsonl": GOOD, "a..b/c...d": b"", "./e": b""}))
    assert outputs_of(opened) == GOOD


@pytest.mark.parametrize("top", ["", "pilot one/", "./"])
def test_a_zip_may_have_one_top_folder(uploads, top):
    entries = {
        f"{top}outputs.jsonl": GOOD,
        f"{top}tasks/set/hours/task.toml": b"x = 1",
        f"{top}tasks/set/hours/materials/plan.txt": b"plan",
        f"{top}tasks/set/hours/.DS_Store": b"",
        f"{top}README.md": b"notes",
        f"{top}old.zip": zipped({"outputs.jsonl": b""}),
        "__MACOSX/outputs.jsonl": b"\0",
        ".DS_Store": b"\0",
    }
    opened = uploads.open("a.ZIP", zipped(entries))
    assert outputs_of(opened) == GOOD
    assert opened.task_ids == {"hours"}
    with opened.task_files() as files:
        assert dict(files) == {
            "tasks/set/hours/task.toml": b"x = 1",
            "tasks/set/hours/materials/plan.txt": b"plan",
        }


def test_a_zip_of_csv_is_read_as_csv(uploads):
    opened = uploads.open("a.zip", zipped({"outputs.csv": csv_rows(row())}))
    assert opened.row_format == "csv"
    assert opened.task_ids is None
    with opened.task_files() as files:
        assert not files


@pytest.mark.parametrize(
    "entries",
    [
        {},
        {"results.jsonl": GOOD},
        {"a/b/outputs.jsonl": GOOD},
        {"outputs.jsonl.gz": gzip.compress(GOOD)},
        {"outputs.jsonl": GOOD, "outputs.csv": b""},
        {"outputs.jsonl": GOOD, "older/outputs.jsonl": GOOD},
        {"a/outputs.jsonl": GOOD, "b/outputs.jsonl": GOOD},
        {"a/outputs.jsonl": GOOD, "tasks/hours/task.toml": b""},
        {"outputs.jsonl": GOOD, "tasks/hours/task.toml": b"1", "./tasks/hours/task.toml": b"2"},
    ],
)
def test_a_zip_must_say_unmistakably_what_it_holds(uploads, entries):
    assert refusal(uploads, "a.zip", zipped(entries)) == "bad_archive"


@pytest.mark.parametrize("content", [b"", GOOD, zipped({"outputs.jsonl": GOOD})[:-30]])
def test_a_file_named_zip_that_is_none_is_a_bad_archive(uploads, content):
    assert refusal(uploads, "a.zip", content) == "bad_archive"


def test_an_encrypted_zip_is_a_bad_archive(uploads):
    content = bytearray(zipped({"outputs.jsonl": GOOD}))
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    assert refusal(uploads, "a.zip", bytes(content)) == "bad_archive"


def test_an_unusual_compression_is_a_bad_archive(uploads):
    assert refusal(uploads, "a.zip", zipped({"outputs.jsonl": GOOD}, zipfile.ZIP_LZMA)) == "bad_archive"


def test_a_damaged_entry_is_a_bad_archive(uploads):
    content = zipped({"outputs.jsonl": GOOD}, zipfile.ZIP_STORED).replace(b"It opens", b"It closes"[:8])
    assert uploads.errors(content, "a.zip") == [(None, None, "bad_archive")]


def test_a_damaged_task_file_is_a_bad_archive(uploads):
    content = zipped({"outputs.jsonl": GOOD, "tasks/hours/task.toml": b"one = 1"}, zipfile.ZIP_STORED)
    errors = uploads.errors(
        content.replace(b"one = 1", b"one = 2"), "a.zip", check_tasks=lambda files: ([], list(files.values()))
    )
    assert errors == [(None, None, "bad_archive")]


def test_a_task_file_beyond_the_limit_is_not_read(tmp_path):
    opened = Uploads(tmp_path, Limits(task_file=10)).open(
        "a.zip", zipped({"outputs.jsonl": GOOD, "tasks/hours/task.toml": b"x" * 11})
    )
    with opened.task_files() as files, pytest.raises(UploadRefused, match="more than 10 bytes"):
        files["tasks/hours/task.toml"]


def test_nothing_is_written_beside_the_upload(uploads):
    uploads.check(zipped({"outputs.jsonl": GOOD, "tasks/hours/task.toml": b""}), "a.zip")
    assert [path.name for path in uploads.folder.iterdir()] == ["upload"]


def test_the_digest_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "three.bin"
    path.write_bytes(b"abc")
    # The example of FIPS 180-4 for one block.
    assert sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    path.write_bytes(bytes(3_000_000))
    assert sha256_of(path) == hashlib.sha256(bytes(3_000_000)).hexdigest()


def test_an_archive_with_any_byte_changed_is_read_whole_or_refused(uploads):
    original = zipped({"outputs.jsonl": jsonl(row(1), row(2)), "tasks/hours/task.toml": b"x = 1"})
    for at in range(0, len(original), 3):
        content = original[:at] + bytes([original[at] ^ 0x55]) + original[at + 1 :]
        with contextlib.suppress(UploadRefused):
            result = uploads.check(content, "a.zip")
            assert result.rows == 2 or result.errors_total, at


def test_a_zip_with_a_text_before_it_is_still_a_zip(uploads):
    opened = uploads.open("a.zip", b"#!/bin/sh\n" + zipped({"outputs.jsonl": GOOD}))
    assert outputs_of(opened) == GOOD


def test_gzip_of_several_members_is_one_file(uploads):
    out = io.BytesIO(gzip.compress(jsonl(row(1))) + gzip.compress(jsonl(row(2))))
    assert uploads.check(out.getvalue(), "a.jsonl.gz").rows == 2


@pytest.mark.parametrize(
    "beside", [{}, {"README.md": b"About"}, {"LICENSE": b"Free", "__MACOSX/tasks/._x": b""}]
)
@pytest.mark.parametrize("top", ["", "menus/"])
def test_task_packages_may_come_alone(uploads, top: str, beside: dict[str, bytes]):
    entries = {f"{top}tasks/hours/task.toml": b"x = 1"} | {
        f"{top}{name}": data for name, data in beside.items()
    }
    opened = uploads.open("a.zip", zipped(entries))
    assert (opened.has_tasks_only, opened.task_ids) == (True, frozenset({"hours"}))
    result = uploads.check(zipped(entries), "a.zip")
    assert (result.rows, result.errors_total) == (0, 0)


@pytest.mark.parametrize("name", ["output.jsonl", "outputs.json", "data/outputs.txt", "Outputs .csv"])
def test_what_may_be_a_misspelt_outputs_file_is_not_passed_over(uploads, name: str):
    content = zipped({"tasks/hours/task.toml": b"x = 1", name: b"{}"})
    with pytest.raises(UploadRefused, match="README"):
        uploads.check(content, "a.zip")
