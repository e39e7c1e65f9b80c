"""A coder who never touches the mouse."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import Product
from tests.journeys.studies import Study, make_study
from tests.journeys.workbench import (
    answer_by_keys,
    assignment_on,
    chosen,
    expect_ready,
    expect_saved,
    hotkeys_of,
    leave_fields,
    open_next,
    required_fields,
    submit_by_keys,
)
from tests.shared_folder import FOLDER

FIFTY = 50


@pytest.fixture(scope="module")
def study(product: Product) -> Study:
    return make_study(product, members={"primary_A": 9}, outputs=rows(tasks=9, per_task=4))


def test_every_answer_has_its_key_and_the_next_item_opens_with_focus_on_its_heading(person, study):
    who = study.coder()
    page = open_next(person(study.names[who]), study)
    first = assignment_on(page)
    answer_by_keys(page, choice=1)
    marked = chosen(page)
    submit_by_keys(page)
    expect(page.locator("h1")).to_have_text("Item 2 of 4")
    expect(page.locator("h1")).to_be_focused()
    assert len(study.records_of(first)) == 1
    assert len(marked) >= len(required_fields(page)) - 1


def test_the_sheet_lists_every_key_and_gives_the_focus_back(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    page.keyboard.press("?")
    sheet = page.locator("#keys")
    expect(sheet).to_be_visible()
    listed = set(sheet.locator("dt").all_inner_texts())
    shown = {key.upper() for field in required_fields(page) for key in hotkeys_of(field)}
    assert shown <= listed
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#codebook")).to_be_visible()
    assert_accessible(page)
    search = page.locator("[data-codebook-search]")
    search.focus()
    page.keyboard.type("zzzz")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    search.fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#codebook")).to_be_hidden()


def test_the_codebook_opens_at_the_field_in_focus_and_coding_goes_on_beside_it(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    field = next(
        f for f in required_fields(page) if hotkeys_of(f) and f.get_attribute("role") == "radiogroup"
    )
    page.keyboard.press(hotkeys_of(field)[0])
    page.keyboard.press("/")
    entry = page.locator(f"#cb-{field.get_attribute('id')}")
    expect(entry).to_be_in_viewport()
    page.keyboard.press(hotkeys_of(field)[1])
    expect(field.locator("input").nth(1)).to_be_checked()


def test_keys_are_only_letters_in_a_text_field_and_can_be_turned_off(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    key = hotkeys_of(required_fields(page)[1])[0]
    notes = page.locator("#code-form textarea").first
    notes.focus()
    page.keyboard.type(f"{key}1?/m")
    expect(notes).to_have_value(f"{key}1?/m")
    assert chosen(page) == {}
    expect(page.locator("#keys")).to_be_hidden()
    page.locator("[data-hotkey-toggle]").focus()
    page.keyboard.press("Enter")
    leave_fields(page)
    page.keyboard.press(key)
    assert chosen(page) == {}
    expect_saved(page)
    page.reload()
    expect(page.locator("[data-hotkey-toggle]")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press(key)
    assert chosen(page) == {}
    page.locator("[data-hotkey-toggle]").focus()
    page.keyboard.press("Enter")
    leave_fields(page)
    page.keyboard.press(key)
    assert len(chosen(page)) == 1


def test_no_key_reaches_the_form_through_a_dialog(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    key = hotkeys_of(required_fields(page)[1])[0]
    page.get_by_role("button", name="I recognise the source").first.click()
    page.get_by_label("It says so").focus()
    page.keyboard.press(key)
    page.get_by_label("What do you recognise?").fill("A turn of phrase.")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_hidden()
    assert chosen(page) == {}
    expect(page.locator("#errors")).to_have_count(0)


def test_gaps_are_named_beside_the_fields_and_in_the_summary(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    wanted = [str(f.get_attribute("data-name")) for f in required_fields(page)]
    page.keyboard.press("Control+Enter")
    summary = page.locator("#errors")
    expect(summary).to_be_focused()
    named = summary.locator("a").all_inner_texts()
    assert named == wanted
    assert_accessible(page)
    for name in named:
        field = page.locator(f'#code-form [data-name="{name}"]').first
        expect(field.locator(".error").first).to_be_visible()
    link = summary.locator("a").nth(1)
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-name="{named[1]}"] input').first).to_be_focused()
    page.keyboard.press("Escape")
    answer_by_keys(page)
    submit_by_keys(page)
    expect(page.locator("h1")).to_have_text("Item 2 of 4")


def test_an_error_goes_once_its_field_is_answered_and_so_does_its_line_in_the_summary(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    page.keyboard.press("Control+Enter")
    summary = page.locator("#errors")
    expect(summary).to_be_focused()
    named = summary.locator("a").all_inner_texts()
    first = required_fields(page)[1]
    page.keyboard.press(hotkeys_of(first)[0])
    expect(first.locator(".error")).to_have_count(0)
    expect(first).not_to_have_class(re.compile("is-invalid"))
    expect(summary.locator("a")).to_have_text([name for name in named if name != named[1]])
    assert_accessible(page)
    answer_by_keys(page)
    expect(summary).to_have_count(0)
    expect(page.locator("#code-form .error")).to_have_count(0)
    submit_by_keys(page)
    expect(page.locator("h1")).to_contain_text("Item ")


def test_the_key_of_the_flag_leads_to_its_reason_and_escape_leads_back(person, study):
    who = study.coder()
    page = open_next(person(study.names[who]), study)
    item = assignment_on(page)
    answer_by_keys(page)
    before = chosen(page)
    page.keyboard.press("m")
    page.keyboard.type("because unsure")
    page.keyboard.press("Escape")
    reason = page.locator(".flag input:not([type=checkbox])")
    expect(reason).to_have_value("because unsure")
    expect(reason).not_to_be_focused()
    flag = page.locator(".flag input[type=checkbox]")
    assert chosen(page) == {**before, str(flag.get_attribute("name")): "on"}
    assert page.evaluate("document.activeElement.closest('#code-form .field') !== null")
    page.keyboard.press("m")
    expect(flag).not_to_be_checked()
    expect(flag).to_be_focused()
    page.keyboard.press("m")
    expect(reason).to_be_focused()
    submit_by_keys(page)
    assert study.records_of(item)[0]["flag_reason"] == "because unsure"


def test_enter_leads_to_the_first_unanswered_field(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    fields = required_fields(page)
    page.keyboard.press(hotkeys_of(fields[0])[0])
    page.keyboard.press("Enter")
    assert fields[1].evaluate("field => field.contains(document.activeElement)")


def test_the_proposed_cluster_is_shown_once_an_own_choice_is_stored(person, product):
    later = {"show_proposed_cluster": "after_own_choice"}
    study = make_study(product, protocol=later, outputs=rows(tasks=1, per_task=2))
    page = open_next(person(study.names["primary_A"]), study)
    note = page.locator("[data-proposed-note]")
    expect(note).to_have_text("")
    page.keyboard.press("1")
    page.keyboard.press(".")
    expect(note).to_have_text(re.compile("^grouped into C[12]$"))
    expect(page.locator("[data-here]:visible")).to_have_count(1)
    page.reload()
    expect_ready(page)
    expect(note).to_have_text(re.compile("^grouped into C[12]$"))


def fifty_outputs() -> list[dict[str, Any]]:
    """Real outputs where they are at hand, made ones elsewhere."""
    path = FOLDER / "data" / "instruction_pilot" / "outputs.jsonl"
    if not path.exists():
        return rows(tasks=10, per_task=5)
    with path.open(encoding="utf-8") as lines:
        return [json.loads(next(lines)) for _ in range(FIFTY)]


def test_fifty_outputs_are_coded_by_keyboard_alone(person, product):
    study = make_study(product, outputs=fifty_outputs())
    page = open_next(person(study.names["primary_A"]), study)
    for number in range(1, FIFTY + 1):
        expect(page.locator("h1")).to_have_text(f"Item {number} of {FIFTY}")
        code_by_keys(page, number)
        submit_by_keys(page)
    expect(page.locator("h1")).to_have_text(f"All {FIFTY} items are coded")
    records = study.query(
        "SELECT r.payload FROM annotation_app_record r JOIN annotation_app_assignment a"
        " ON a.id = r.assignment_id JOIN annotation_app_study s ON s.id = a.study_id WHERE s.slug = %s",
        study.slug,
    )
    assert len(records) == FIFTY
    assert len({json.dumps(record["payload"], sort_keys=True) for record in records}) > 3


def code_by_keys(page: Page, number: int) -> None:
    """Other answers on each item; every tenth gets a note and a flag with its reason."""
    answer_by_keys(page, choice=number % 3 if number % 3 != 1 else 0)
    if number % 10 == 0:
        page.keyboard.press("m")
        page.keyboard.type("I am not sure of this one.")
        leave_fields(page)
    expect(page.locator("[data-submit]")).to_have_text(re.compile("Submit and open next"))
