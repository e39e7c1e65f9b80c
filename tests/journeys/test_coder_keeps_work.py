"""Nothing that a coder enters is lost, and nothing is submitted twice, whatever happens to network, session, server or tab."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import PASSWORD, PATIENCE, Person, Product
from tests.journeys.studies import Study, make_study
from tests.journeys.workbench import (
    answer_by_keys,
    answer_one,
    assignment_on,
    chosen,
    expect_ready,
    expect_saved,
    notice,
    open_next,
    submit_by_keys,
)


@pytest.fixture(scope="module")
def study(product: Product) -> Study:
    return make_study(product, members={"primary_A": 14}, outputs=rows(tasks=14, per_task=3))


def drafts_of(study: Study, assignment: str) -> list[dict[str, object]]:
    return study.query(
        "SELECT fields, version, active_seconds FROM annotation_app_draft WHERE assignment_id = %s",
        assignment,
    )


def sign_in_in_place(page: Page) -> None:
    expect(notice(page)).to_contain_text("Your session has ended.")
    assert_accessible(page)
    page.get_by_role("button", name="Sign in again").click()
    dialog = page.locator("#sign-in-again")
    expect(dialog.get_by_label("Password")).to_be_focused()
    assert_accessible(page)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()


def test_a_draft_reaches_the_server_while_one_types_and_is_there_after_a_reload(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    item = assignment_on(page)
    with page.expect_response(lambda r: r.url.endswith("/draft/") and r.status == 200):
        answer_one(page, 1)
        answer_one(page, 2)
        page.locator("#code-form textarea").first.fill("Two banks, one bridge.")
    expect_saved(page)
    before = chosen(page)
    page.reload()
    expect_ready(page)
    assert chosen(page) == before
    expect(page.locator("#code-form textarea").first).to_have_value("Two banks, one bridge.")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    assert study.records_of(item) == []


def test_a_draft_is_sent_within_two_seconds_however_long_one_types(person, study):
    coder: Person = person(study.names[study.coder()])
    coder.page.clock.install()
    page = open_next(coder, study)
    page.locator("#code-form textarea").first.focus()
    with page.expect_request("**/draft/", timeout=PATIENCE):
        for letter in "bridge":
            page.keyboard.type(letter)
            page.clock.run_for(300)


def test_saved_is_said_only_once_the_server_has_answered(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/draft/", hold)
    answer_one(page, 1)
    expect(page.locator("[data-saved]")).to_have_text("Saving")
    held[0].continue_()
    expect_saved(page)


def test_leaving_an_item_without_a_network_or_a_session_loses_neither_page_nor_work(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_one(page, 1)
    expect_saved(page)
    coder.context.set_offline(True)
    skip(page)
    expect(notice(page)).to_contain_text("No connection")
    coder.context.set_offline(False)
    coder.context.clear_cookies()
    skip(page)
    sign_in_in_place(page)
    assert assignment_on(page) == item
    assert len(chosen(page)) == 1
    skip(page)
    expect(page.locator("h1")).to_contain_text("Item 2 of ")


def skip(page: Page) -> None:
    page.get_by_role("button", name="Skip", exact=True).first.click()
    page.get_by_role("button", name="Skip for now").click()


def test_work_that_can_no_longer_be_sent_is_discarded_at_home(person, study):
    """What was typed never reached the server, and the item was set apart in another tab."""
    coder: Person = person(study.names[study.coder()])
    coder.context.route("**/draft/", lambda route: route.abort())
    page = open_next(coder, study)
    page.on("dialog", lambda dialog: dialog.accept())
    answer_one(page, 1)
    expect(notice(page)).to_contain_text("No connection")
    page.get_by_role("button", name="I recognise the source").first.click()
    page.get_by_label("It says so").check()
    page.get_by_role("button", name="Record it and go on").click()
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    coder.go(study.page())
    kept = page.locator("[data-kept-work]")
    expect(kept).to_contain_text("Items with changes that the server does not have: 1.")
    kept.get_by_role("link").click()
    expect(page.get_by_text("This item was taken out of your list.")).to_be_visible()
    coder.go(study.page())
    kept.get_by_role("button", name="Discard it").click()
    expect(kept).to_be_hidden()
    page.reload()
    expect(page.locator("h1")).to_have_text("2 of 2 items left")
    expect(kept).to_be_hidden()


def test_without_a_network_the_submission_waits_and_goes_out_once(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item, submission = assignment_on(page), page.locator("[name=submission_id]").input_value()
    coder.context.set_offline(True)
    answer_by_keys(page)
    expect(notice(page)).to_contain_text("No connection")
    assert_accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-submit]")).to_contain_text("Submit when back online")
    expect(page.locator("[data-saved]")).to_have_text("Waiting to be submitted")
    page.keyboard.press("Control+Enter")
    coder.context.set_offline(False)
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    assert [r["submission_id"] for r in study.records_of(item)] == [submission]
    assert drafts_of(study, item) == []


def test_work_left_offline_is_named_at_home_and_sent_from_there(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    page.route("**/draft/", lambda route: route.abort())
    answer_one(page, 1)
    expect(notice(page)).to_contain_text("No connection")
    page.on("dialog", lambda dialog: dialog.accept())
    coder.go(study.page())
    kept = page.locator("[data-kept-work]")
    expect(kept).to_contain_text("Work is waiting in this browser.")
    assert_accessible(page)
    page.unroute("**/draft/")
    kept.get_by_role("link").click()
    expect_ready(page)
    expect_saved(page)
    assert len(chosen(page)) == 1
    assert len(drafts_of(study, item)) == 1


def test_an_answer_that_never_came_back_makes_no_second_record(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    item = assignment_on(page)
    lost: list[int] = []

    def lose_the_first(route):
        if lost:
            route.continue_()
            return
        lost.append(route.fetch(max_redirects=0).status)
        route.abort()

    answer_by_keys(page)
    expect_saved(page)
    page.route(f"**/annotate/{item}/", lose_the_first)
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    assert lost == [204]
    assert [r["version"] for r in study.records_of(item)] == [1]


def test_a_session_that_ended_is_taken_up_in_place(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_one(page, 1)
    expect_saved(page)
    coder.context.clear_cookies()
    answer_one(page, 2)
    sign_in_in_place(page)
    expect_saved(page)
    assert len(chosen(page)) == 2
    coder.context.clear_cookies()
    answer_by_keys(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-saved]")).to_have_text("Waiting to be submitted")
    sign_in_in_place(page)
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    assert [r["version"] for r in study.records_of(item)] == [1]


def test_two_tabs_make_one_record_and_neither_overwrites_the_other_unasked(person, study):
    coder: Person = person(study.names[study.coder()])
    first = open_next(coder, study)
    second = coder.context.new_page()
    second.goto(coder.address + study.page("annotate/"))
    expect_ready(second)
    item = assignment_on(first)
    assert assignment_on(second) == item
    answer_one(first, 1)
    expect_saved(first)
    answer_one(second, 2)
    expect(notice(second)).to_contain_text("Changed in another tab.")
    assert_accessible(second)
    second.get_by_role("button", name="Keep this one").click()
    expect_saved(second)
    answer_by_keys(second)
    submit_by_keys(second)
    answer_by_keys(first)
    first.keyboard.press("Control+Enter")
    expect(notice(first)).to_contain_text("submitted from another window")
    assert len(chosen(first)) > 2
    assert [r["version"] for r in study.records_of(item)] == [1]


def test_a_double_click_and_a_held_key_submit_once(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    item = assignment_on(page)
    answer_by_keys(page)
    page.locator("[data-submit]").dblclick()
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    assert [r["version"] for r in study.records_of(item)] == [1]
    second = assignment_on(page)
    answer_by_keys(page)
    for _ in range(4):
        page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("Item 3 of ")
    assert [r["version"] for r in study.records_of(second)] == [1]


def test_back_and_reload_neither_submit_again_nor_blank_a_draft(person, study):
    coder: Person = person(study.names[study.coder()])
    coder.go(study.page())
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_by_keys(page)
    submit_by_keys(page)
    second = assignment_on(page)
    answer_one(page, 1)
    expect_saved(page)
    before = chosen(page)
    page.go_back()
    expect(page.locator("h1")).to_contain_text("items left")
    page.go_forward()
    expect_ready(page)
    page.reload()
    expect_ready(page)
    assert assignment_on(page) == second
    assert chosen(page) == before
    assert [r["version"] for r in study.records_of(item)] == [1]
    assert drafts_of(study, item) == []
    assert drafts_of(study, second)[0]["fields"] != {}


def test_a_server_that_is_restarted_costs_nothing(person, study, product):
    page = open_next(person(study.names[study.coder()]), study)
    item = assignment_on(page)
    with product.without_server():
        answer_by_keys(page)
        page.keyboard.press("Control+Enter")
        expect(page.locator("[data-saved]")).to_have_text("Waiting to be submitted")
        expect(notice(page)).to_contain_text("No connection")
    expect(page.locator("h1")).to_contain_text("Item 2 of ")
    assert [r["version"] for r in study.records_of(item)] == [1]


def test_time_is_counted_over_sittings_active_and_idle_apart(person, study):
    """The page's clock is moved on: half a minute at the keyboard, five minutes away, a reload in between."""
    coder: Person = person(study.names[study.coder()])
    coder.page.clock.install()
    page = open_next(coder, study)
    item = assignment_on(page)
    for choice in range(3):
        page.clock.run_for(10_000)
        answer_one(page, 1, choice)
    page.clock.run_for(3_000)
    expect_saved(page)
    page.reload()
    expect_ready(page)
    page.clock.run_for(300_000)
    answer_by_keys(page)
    page.clock.run_for(3_000)
    submit_by_keys(page)
    record = study.records_of(item)[0]
    assert record["active_seconds"] >= 60
    assert record["idle_seconds"] >= 200
