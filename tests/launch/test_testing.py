import os

import pytest

from launch.testing import side_by_side


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
