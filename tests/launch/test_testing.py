import json
import os
from pathlib import Path

import pytest

from launch.testing import side_by_side, worth_repeating


def test_all_tests_run_side_by_side_on_the_cores_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert "-n2" in side_by_side(["--durations=25"])


@pytest.mark.parametrize("arguments", [["tests/launch"], ["-k", "seal"], ["-n0"]])
def test_tests_that_somebody_chose_run_as_they_said(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert side_by_side(arguments) == []


def test_one_core_runs_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert side_by_side([]) == []


JOURNEY, FAULT, OTHER = (
    "tests/journeys/test_a.py::test_b[chromium]",
    "tests/faults/test_c.py::test_d",
    "tests/test_e.py::test_f",
)


@pytest.mark.parametrize(
    ("failed", "repeated"),
    [
        ([JOURNEY, FAULT], [JOURNEY, FAULT]),
        ([JOURNEY, OTHER], []),
        ([f"{JOURNEY}{n}" for n in range(4)], []),
        ([], []),
    ],
    ids=["a busy machine may be the reason", "something else failed too", "too many", "none"],
)
def test_only_few_tests_that_wait_for_others_are_repeated(
    tmp_path: Path, failed: list[str], repeated: list[str]
) -> None:
    noted = tmp_path / "lastfailed"
    noted.write_text(json.dumps(dict.fromkeys(failed, True)))
    assert worth_repeating(noted) == repeated


def test_nothing_is_repeated_when_pytest_noted_nothing(tmp_path: Path) -> None:
    assert worth_repeating(tmp_path / "lastfailed") == []
