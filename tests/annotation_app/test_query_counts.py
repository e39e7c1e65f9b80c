"""What coders do all day asks the database a fixed number of things, in a study of ten outputs as in one of a thousand."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.annotation_app.conftest import anew
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db
ANSWERS = {"f1": "1", "f1-cluster": "C1", "f3": "1", "f4": "1", "f5": "1", "f6": "1", "f7": "0.5"}


@dataclass
class Coder:
    """A coder with a program and a browser open."""

    study: StudyUnderTest
    program: APIClient
    browser: Client

    def next_item(self) -> dict[str, Any]:
        answer = self.program.get(self.study.url("assignments/next/"))
        assert answer.status_code == 200
        item: dict[str, Any] = answer.json()
        return item

    def save(self, item: dict[str, Any]) -> None:
        path = self.study.url(f"assignments/{item['assignment_uid']}/draft/")
        assert self.program.put(path, {"fields": {"f3": "1"}, "version": 0}, "json").status_code == 200

    def submit(self, item: dict[str, Any]) -> None:
        path = self.study.url(f"assignments/{item['assignment_uid']}/record/")
        answer = self.program.post(path, {"fields": ANSWERS | {"f7": 0.5}}, "json")
        assert answer.status_code == 201, answer.content

    def next_page(self) -> str:
        answer = self.browser.get(self.study.page("annotate/"))
        assert answer.status_code == 200
        return answer.content.decode()

    def submit_page(self, page: str) -> None:
        found = re.search(r'data-record="([^"]+)"', page)
        assert found is not None
        answer = self.browser.post(self.study.page(f"annotate/{found[1]}/"), ANSWERS)
        assert answer.status_code == 302, answer.content


@pytest.fixture(scope="module", params=[(2, 5), (20, 50)], ids=["10 outputs", "1,000 outputs"])
def shared(request: pytest.FixtureRequest, committed: None) -> StudyUnderTest:
    tasks, per_task = request.param
    outputs = rows(tasks, per_task, positive_control=None, gold_classes=None)
    return a_study(f"of-{tasks}", phase="coding", outputs=outputs)


@pytest.fixture
def coder(shared: StudyUnderTest) -> Coder:
    """A coder in the middle of the work: what a process reads once (the form) it has read."""
    study = anew(shared)
    coder = Coder(study, study.api("primary_A"), study.client("primary_A"))
    coder.submit(coder.next_item())
    coder.submit_page(coder.next_page())
    return coder


def test_next_over_rest_takes_two_queries(coder: Coder) -> None:
    with _queries() as first:
        item = coder.next_item()
    with _queries() as again:
        assert coder.next_item()["assignment_uid"] == item["assignment_uid"]
    assert (len(first), len(again)) == (2, 2)  # who asks; the item


def test_a_draft_over_rest_takes_two_queries(coder: Coder) -> None:
    item = coder.next_item()
    with _queries() as queries:
        coder.save(item)
    assert len(queries) == 2  # who asks; the draft


def test_a_record_over_rest_takes_three_queries(coder: Coder) -> None:
    item = coder.next_item()
    with _queries() as queries:
        coder.submit(item)
    assert (
        len(queries) == 3
    )  # who asks; what the answers are judged by; the record with all that follows from it


def test_next_on_a_page_takes_four_queries(coder: Coder) -> None:
    with _queries() as queries:
        coder.next_page()
    assert len(queries) == 4  # session, user, membership; the item


def test_a_record_on_a_page_takes_five_queries(coder: Coder) -> None:
    page = coder.next_page()
    with _queries() as queries:
        coder.submit_page(page)
    assert len(queries) == 5  # session, user, membership; what the answers are judged by; the record


def _queries() -> CaptureQueriesContext:
    return CaptureQueriesContext(connection)
