"""How an item ends: revised, corrected, recognised, skipped, given back, taken away, or closed while it is open on a screen."""

import pytest
from playwright.sync_api import Page, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import BOSS, Person, Product
from tests.journeys.studies import WHY, Study, make_study
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
    return make_study(product, members={"primary_A": 9}, outputs=rows(tasks=9, per_task=3))


@pytest.fixture(scope="module")
def brief(product: Product) -> Study:
    """A study without a grace period: what is submitted is final."""
    return make_study(product, protocol={"grace_minutes": 0}, outputs=rows(tasks=2, per_task=2))


def voided(study: Study, assignment: str) -> str:
    statement = "SELECT coalesce(void_reason, '') AS reason FROM annotation_app_assignment WHERE id = %s"
    return str(study.query(statement, assignment)[0]["reason"])


def exposures_of(study: Study, assignment: str) -> list[str]:
    return [
        row["how"]
        for row in study.query("SELECT how FROM blinding_exposure WHERE assignment = %s", assignment)
    ]


def test_a_record_is_revised_from_my_records_while_its_time_lasts(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_by_keys(page)
    submit_by_keys(page)
    coder.go(study.page("records/"))
    assert_accessible(page)
    page.get_by_role("link", name="Revise item 1").click()
    expect_ready(page)
    expect(page.locator("[data-notices]")).to_contain_text("min left")
    assert_accessible(page)
    before = chosen(page)
    answer_one(page, 1, 2)
    expect(page.locator("[data-saved]")).to_contain_text("Changes saved as a draft")
    page.reload()
    expect_ready(page)
    assert chosen(page) != before
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("Item 2 of")
    first, second = study.records_of(item)
    assert (first["version"], second["version"]) == (1, 2)
    assert first["payload"] != second["payload"]
    coder.go(study.page("records/"))
    expect(page.locator("tbody tr")).to_have_count(1)


def test_when_the_time_for_revision_is_over_the_form_closes_and_names_what_is_lost(person, study):
    """The page's clock is moved on."""
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_by_keys(page)
    submit_by_keys(page)
    coder.page.clock.install()
    coder.go(study.page(f"annotate/{item}/"))
    expect_ready(page)
    expect(page.locator("[data-saved]")).to_have_text("Nothing changed yet")
    page.route("**/draft/", lambda route: route.abort())
    answer_one(page, 1, 2)
    page.clock.fast_forward(601_000)
    expect(page.get_by_text("The time for revision is over.")).to_be_visible()
    expect(page.get_by_text("Changes that were not submitted are lost.")).to_be_visible()
    expect(page.locator("#code-form textarea").first).to_be_disabled()
    expect(page.locator("[data-submit]")).to_be_hidden()
    assert_accessible(page)
    assert len(study.records_of(item)) == 1


def test_a_mistake_in_a_final_record_is_reported_and_the_record_stays(person, brief):
    coder: Person = person(brief.names["primary_A"])
    page = open_next(coder, brief)
    item = assignment_on(page)
    answer_by_keys(page)
    submit_by_keys(page)
    brief.wait_until_final(item)
    coder.go(brief.page("records/"))
    page.get_by_role("link", name="Read item 1").click()
    expect(page.get_by_text("This record is final.")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("What is wrong, and what would be right").fill("I meant the other bank.")
    page.get_by_role("button", name="Report it").click()
    expect(page.get_by_text("I meant the other bank.")).to_be_visible()
    assert len(brief.records_of(item)) == 1
    coder.go(brief.page("records/"))
    expect(page.get_by_text("1 correction reported")).to_be_visible()


def recognise(page: Page, answer: str, what: str = "") -> None:
    page.get_by_role("button", name="I recognise the source").first.click()
    assert_accessible(page)
    page.get_by_label(answer).check()
    page.get_by_label("What do you recognise?").fill(what)
    page.get_by_role("button", name="Record it and go on").click()


def test_a_hunch_is_noted_and_the_item_stays_with_what_was_entered(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    item = assignment_on(page)
    answer_one(page, 1)
    before = chosen(page)
    recognise(page, "It feels like something I know", "The tone.")
    expect(page).to_have_url(f"{page.url.split('/annotate/')[0]}/annotate/{item}/")
    expect_ready(page)
    assert chosen(page) == before
    assert exposures_of(study, item) == ["hunch"]
    assert voided(study, item) == ""
    answer_by_keys(page)
    submit_by_keys(page)
    assert len(study.records_of(item)) == 1


@pytest.mark.parametrize(
    ("answer", "how"), [("It says so", "says_so"), ("I know it from elsewhere", "knows")]
)
def test_what_is_recognised_is_set_apart_without_a_word_of_blame(person, study, answer, how):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    recognise(page, answer)
    expect(page.locator("h1")).to_contain_text("Item 2 of")
    assert assignment_on(page) != item
    assert exposures_of(study, item) == [how]
    assert voided(study, item) == "exposed"
    coder.go(study.page())
    expect(page.get_by_text("1, set apart")).to_be_visible()
    assert_accessible(page)


def test_a_skipped_item_comes_back_with_what_was_entered(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_one(page, 1)
    before = chosen(page)
    page.get_by_role("button", name="Skip", exact=True).first.click()
    assert_accessible(page)
    page.get_by_role("button", name="Skip for now").click()
    expect(page.locator("h1")).to_contain_text("Item 2 of")
    coder.go(study.page())
    expect(page.get_by_role("heading", name="Skipped")).to_be_visible()
    page.get_by_role("link", name="Code now item 1").click()
    expect_ready(page)
    assert assignment_on(page) == item
    assert chosen(page) == before


def test_an_item_is_given_back_without_a_reason_and_is_no_exposure(person, study):
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    total = (
        page.locator("h1").inner_text().split()[-1]
    )  # what another test's coder gave back may have come here
    page.get_by_role("button", name="Skip", exact=True).first.click()
    page.get_by_role("button", name="Not for me").click()
    expect(page.locator("h1")).to_have_text(f"Item 2 of {total}")
    assert voided(study, item) == "opted_out"
    assert exposures_of(study, item) == []
    coder.go(study.page())
    expect(page.get_by_text("set apart")).to_have_count(0)


def test_where_nobody_else_has_the_role_an_item_leaves_the_list_all_the_same(person, brief):
    page = open_next(person(brief.names["primary_B"]), brief)
    item = assignment_on(page)
    answer_one(page, 1)
    page.get_by_role("button", name="Skip", exact=True).first.click()
    assert_accessible(page)
    page.get_by_role("button", name="Not for me").click()
    expect(page.locator("#code-form")).not_to_have_attribute("data-record", item)
    expect_ready(page)
    assert voided(brief, item) == "opted_out"


def test_an_item_taken_away_while_it_is_open_keeps_what_was_typed_on_the_page(person, study):
    """Another tab of the same coder sets the item apart; this one still shows it."""
    coder: Person = person(study.names[study.coder()])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_by_keys(page)
    expect_saved(page)
    other = coder.context.new_page()
    other.goto(page.url)
    expect_ready(other)
    recognise(other, "It says so")
    expect(other.locator("h1")).to_contain_text("Item 2 of")
    page.keyboard.press("Control+Enter")
    expect(notice(page)).to_contain_text("This item was taken out of your list.")
    assert_accessible(page)
    assert len(chosen(page)) > 2
    assert study.records_of(item) == []


def test_a_slot_reassigned_while_its_item_is_open_keeps_what_was_typed_on_the_page(person, study):
    """The admin lets the coder go; what is left goes to others."""
    who = study.coder()
    page = open_next(person(study.names[who]), study)
    item = assignment_on(page)
    answer_by_keys(page)
    expect_saved(page)
    boss: Person = person(BOSS)
    boss.go(study.page("members/"))
    boss.page.get_by_role("button", name=f"Let go {study.aliases[who]}").click()
    dialog = boss.page.locator(f"#end-{study.aliases[who]}")
    dialog.get_by_label("Reason").fill("Moves to another town.")
    dialog.get_by_role("button", name="Let go").click()
    expect(boss.page.get_by_text("items went to others.")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(notice(page)).to_contain_text("This item is not yours any more.")
    assert_accessible(page)
    assert len(chosen(page)) > 2
    assert voided(study, item) == "reassigned"
    assert study.records_of(item) == []


def test_a_recall_while_the_item_is_open_stops_it_with_a_reason(person, brief):
    page = open_next(person(brief.names["primary_B"]), brief)
    item = assignment_on(page)
    answer_by_keys(page)
    expect_saved(page)
    blinded = brief.query(
        "SELECT o.blinded_output_id AS id FROM annotation_app_output o JOIN annotation_app_assignment a"
        " ON a.output_id = o.id WHERE a.id = %s",
        item,
    )[0]["id"]
    brief.call("admin", "POST", f"outputs/{blinded}/recall/", {"reason": WHY})
    page.keyboard.press("Control+Enter")
    expect(notice(page)).to_contain_text("on hold")
    assert len(chosen(page)) > 2
    assert brief.records_of(item) == []


def test_coding_closed_while_an_item_is_open_gives_the_reason_and_keeps_the_work(person, product):
    study = make_study(product, outputs=rows(tasks=1, per_task=2))
    coder: Person = person(study.names["primary_A"])
    page = open_next(coder, study)
    item = assignment_on(page)
    answer_by_keys(page)
    expect_saved(page)
    study.to("review")
    page.keyboard.press("Control+Enter")
    expect(notice(page)).to_contain_text("Coding is closed.")
    assert_accessible(page)
    assert len(chosen(page)) > 2
    assert study.records_of(item) == []
    coder.go(study.page("annotate/"))
    expect(page.locator("h1")).to_have_text("Coding is closed")
    assert_accessible(page)
