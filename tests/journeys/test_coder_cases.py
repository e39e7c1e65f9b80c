"""A case decided by keyboard, and what its page says of what is left."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import Person, Product
from tests.journeys.studies import Study, answers_to, make_study


@pytest.fixture(scope="module")
def study(product: Product) -> Study:
    """One output on which the coders disagree in every question that has options."""
    protocol = {"grace_minutes": 0, "adjudication": {"sham_share": 0, "steps": 1}}
    made = make_study(product, protocol=protocol, outputs=rows(tasks=1, per_task=1))
    made.code_all("primary_A")
    item = made.next("primary_B")
    assert item is not None
    fields = answers_to(item["form"]) | last_answers(item["form"])
    made.call("primary_B", "POST", f"assignments/{item['assignment_uid']}/record/", {"fields": fields})
    return made


def last_answers(form: dict[str, Any]) -> dict[str, Any]:
    """Return the last option of every question with options alone."""
    asked = [control for control in form["fields"] if control["kind"] == "radio"]
    return {control["key"]: control["options"][-1]["value"] for control in asked}


def open_case(somebody: Person, study: Study) -> Page:
    page = somebody.page
    for _ in range(240):  # comparing is a periodic task
        somebody.go(study.page("cases/"))
        if page.locator("form#code-form").count():
            break
        page.wait_for_timeout(500)
    expect(page.locator("[data-decided]")).to_contain_text(" of ")
    return page


def test_a_case_is_decided_by_keys_and_each_error_goes_with_its_decision(person, study):
    page = open_case(person(study.names["adjudicator"]), study)
    disputes = page.locator("[data-dispute]").all()
    page.keyboard.press("Control+Enter")
    summary = page.locator("#errors")
    expect(summary).to_be_focused()
    expect(summary.locator("a")).to_have_count(len(disputes) + 1)
    expect(summary.locator("a").last).to_have_text("Rationale")
    for field in disputes:
        page.keyboard.press("Enter")
        page.keyboard.press("2")
        expect(field.locator("input[value=right]")).to_be_checked()
        expect(field.locator(".error")).to_have_count(0)
    expect(summary.locator("a")).to_have_text(["Rationale"])
    page.keyboard.press("1")
    expect(disputes[-1].locator("input[value=left]")).to_be_checked()
    page.keyboard.press("4")
    expect(disputes[-1].locator("input[value=undecided]")).to_be_checked()
    page.keyboard.press("n")
    page.keyboard.type("The anchor settles it.")
    expect(summary).to_have_count(0)
    expect(page.locator("#code-form .error")).to_have_count(0)
    assert_accessible(page)


def test_the_sheet_of_a_case_lists_the_keys_that_work_there(person, study):
    page = open_case(person(study.names["adjudicator"]), study)
    page.keyboard.press("?")
    sheet = page.locator("#keys")
    expect(sheet).to_contain_text("Coding 1")
    expect(sheet).to_contain_text("Rationale")
    expect(sheet).not_to_contain_text("Cluster before")
    expect(sheet).not_to_contain_text("on the scale")
    assert_accessible(page)
