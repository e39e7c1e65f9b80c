"""The rate of caught leaks counts every test that planted one, and a test that fails as a leak that got through."""

from types import SimpleNamespace
from typing import Any

from tests.kill_rate import PROPERTY, kill_rate


def report(where: str, *, passed: bool = True, when: str = "call") -> Any:
    return SimpleNamespace(user_properties=[("other", 1), (PROPERTY, where)], passed=passed, when=when)


def test_leaks_are_counted_by_where_they_were_planted() -> None:
    reports = [report("on a page"), report("in a log", passed=False), report("on a page")]
    assert kill_rate(reports) == [
        "planted leaks: 2 of 3 caught",
        "  in a log: 0 of 1",
        "  on a page: 2 of 2",
    ]


def test_a_test_counts_once_and_others_do_not() -> None:
    others = [SimpleNamespace(user_properties=[], passed=True, when="call"), SimpleNamespace()]
    assert kill_rate([report("on a page"), report("on a page", when="teardown"), *others])[0] == (
        "planted leaks: 1 of 1 caught"
    )
    assert kill_rate(others) == []
