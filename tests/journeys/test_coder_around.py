"""What lies around the items: the declaration, warnings, questions, one's own data, times, and a browser without scripts."""

import json
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import PASSWORD, Person, Product, unique
from tests.journeys.studies import Study, make_study
from tests.journeys.workbench import (
    answer_by_keys,
    leave_fields,
    open_next,
    required_fields,
    submit_by_keys,
)

WARNING = "Some of these texts describe floods."


@pytest.fixture(scope="module")
def study(product: Product) -> Study:
    warning = {"content_warning": {"text": WARNING}, "forbidden_vocabulary": ["meadow"]}
    return make_study(product, members={"primary_A": 4}, outputs=rows(tasks=4, per_task=3), protocol=warning)


def test_the_declaration_tells_of_warnings_and_of_what_is_kept_and_comes_first(person, study):
    name = unique("newcomer")
    study.call("admin", "POST", "members/", {"username": name, "role": "primary_B", "password": PASSWORD})
    coder: Person = person(name)
    page = coder.go(study.page("annotate/"))
    expect(page.locator("h1")).to_have_text("Before you begin")
    expect(page.get_by_text(WARNING)).to_be_visible()
    expect(page.get_by_role("heading", name="What is kept about you")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Sign and go on").click()
    expect(page.locator("h1")).to_have_text("Before you begin")
    page.get_by_label("I sign this declaration.").check()
    page.get_by_role("button", name="Sign and go on").click()
    expect(page).to_have_url(re.compile("/annotate/$"))
    expect(page.locator("h1")).to_have_text("No items yet")


def test_a_covered_text_is_opened_by_keyboard_and_stays_open_with_a_draft(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    expect(page.get_by_text("Content warning")).to_be_visible()
    expect(page.locator(".curtain summary")).to_be_focused()
    expect(page.locator("#output article")).to_be_hidden()
    expect(page.locator("#clusters")).to_be_hidden()
    assert_accessible(page)
    page.keyboard.press("Enter")
    expect(page.locator("#output article")).to_be_visible()
    expect(page.locator("#clusters")).to_be_visible()
    assert_accessible(page)
    answer_by_keys(page)
    submit_by_keys(page)
    expect(page.locator("#output article")).to_be_hidden()


def test_a_question_goes_to_the_project_author_and_its_answer_to_all_at_once(person, study):
    coder: Person = person(study.names[study.coder()])
    open_next(coder, study)
    page = coder.go(study.page("questions/"))
    page.get_by_label("Your question").fill("Is a list of two a contrast?")
    page.get_by_role("button", name="Send it").dblclick()
    expect(page.get_by_text("Your question is on its way.")).to_be_visible()
    expect(page.get_by_role("heading", name="Is a list of two a contrast?")).to_have_count(1)
    assert_accessible(page)
    answer_with_care(person(study.names["project_author"]), study)
    coder.go(study.page())
    expect(page.get_by_text("A question about a rule was answered.")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Read the answers").click()
    expect(page.get_by_text("Only if it sets one against the other.")).to_be_visible()
    other = person(study.names["primary_B"]).go(study.page("questions/"))
    expect(other.get_by_text("Only if it sets one against the other.")).to_be_visible()
    assert coder.name not in other.content()


def answer_with_care(author: Person, study: Study) -> None:
    """The first answer would tell coders something: it is refused, and kept in the form."""
    page = author.go(study.page("questions/"))
    page.get_by_label("Your answer").fill("Only in the meadow.")
    page.get_by_role("button", name="Answer to all").click()
    expect(page.get_by_text("The answer uses “meadow”")).to_be_visible()
    expect(page.get_by_label("Your answer")).to_have_value("Only in the meadow.")
    assert_accessible(page)
    page.get_by_label("Your answer").fill("Only if it sets one against the other.")
    page.get_by_role("button", name="Answer to all").click()
    expect(page.get_by_text("Answered to all coders.")).to_be_visible()
    assert "primary" not in page.locator("main").inner_text()


def test_times_are_the_readers_own_with_utc_beside_them_and_own_data_are_downloaded(person, study):
    coder: Person = person(study.names[study.coder()], timezone_id="Asia/Tokyo", locale="en-GB")
    page = open_next(coder, study)
    answer_by_keys(page)
    submit_by_keys(page)
    coder.go(study.page("records/"))
    shown = page.locator("tbody time").nth(1)
    moment = datetime.fromisoformat(str(shown.get_attribute("datetime")))
    assert moment.utcoffset() is not None
    expect(shown).to_have_text(moment.astimezone(ZoneInfo("Asia/Tokyo")).strftime("%H:%M"))
    expect(shown).to_have_attribute(
        "title", moment.astimezone(ZoneInfo("UTC")).strftime("%-d %b %Y, %H:%M UTC")
    )
    coder.go("/account/")
    assert_accessible(page)
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download it as JSON").click()
    held = json.loads(Path(begun.value.path()).read_text())
    assert held["username"] == coder.name
    own = held["memberships"][0]["items"]
    assert [entry["position"] for entry in own if entry["versions"]] == [1]


def test_everything_that_is_needed_works_without_scripts(person, study):
    coder: Person = person(study.names[study.coder()], java_script_enabled=False)
    page = coder.go(study.page("annotate/"))
    page.locator(".curtain summary").click()
    page.locator("[data-submit]").click()
    expect(page.locator("#errors")).to_contain_text("Not submitted.")
    for field in required_fields(page):
        if field.locator(".options").count():
            field.locator(".options > .option").first.click()
        else:
            field.locator("input[type=number]").fill("0.5")
    page.locator("[data-submit]").click()
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    page.get_by_role("button", name="Skip", exact=True).first.click()
    page.get_by_role("button", name="Skip for now").click()
    expect(page.locator("h1")).to_contain_text("Item 3 of ")


def test_pages_without_an_item_are_read_by_everybody(person, study):
    """What is not there, a codebook to read, a sign-in that does not fit."""
    coder: Person = person(study.names["primary_B"])
    for path in (study.page("codebook/"), study.page("annotate/"), study.page("no-such-page/")):
        page = coder.go(path)
        leave_fields(page)
        assert_accessible(page)
    stranger: Person = person("nobody", sign_in=False)
    page = stranger.go("/sign-in/")
    assert_accessible(page)
    page.get_by_label("User name", exact=True).fill("nobody")
    page.get_by_label("Password", exact=True).fill("not this one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Name and password do not fit together.")).to_be_visible()
    assert_accessible(page)
