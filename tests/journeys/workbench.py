"""The coding page, as a coder uses it with the keyboard."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Person
from tests.journeys.studies import Study


def open_next(coder: Person, study: Study) -> Page:
    page = coder.go(study.page("annotate/"))
    expect_ready(page)
    return page


def expect_ready(page: Page) -> None:
    """Wait until the page counts answers, as it does once its keys work."""
    expect(page.locator("[data-answered]")).to_contain_text(" of ")


def assignment_on(page: Page) -> str:
    """Return the assignment whose form is open."""
    return str(page.locator("#code-form").get_attribute("data-record"))


def required_fields(page: Page) -> list[Locator]:
    return page.locator("#code-form [data-required]").all()


def hotkeys_of(field: Locator) -> list[str]:
    """Return the keys that the page shows beside a field's answers; of a cluster decision, only its answers'."""
    keys: list[str] = field.evaluate(
        "field => [...field.querySelectorAll('[data-hotkey]')]"
        ".filter(node => node.checkVisibility() && !node.closest('.sub')).map(node => node.dataset.hotkey)"
    )
    return keys


def answer_by_keys(page: Page, choice: int = 0) -> None:
    """Answer every required question by keyboard alone: the key of its answer number `choice` (or the last), + on a scale."""
    expect_ready(page)
    leave_fields(page)
    for field in required_fields(page):
        keys = hotkeys_of(field)
        page.keyboard.press(keys[min(choice, len(keys) - 1)] if keys else "+")
        target = field.locator(".sub [data-hotkey]:visible")
        if target.count():
            page.keyboard.press(str(target.first.get_attribute("data-hotkey")))
    expect(page.locator("[data-answered]")).to_have_text(re.compile(r"^(\d+) of \1 "))


def leave_fields(page: Page) -> None:
    page.evaluate("document.activeElement?.blur()")


def answer_one(page: Page, number: int, choice: int = 0) -> None:
    """Press the key of one answer to required question `number`, counted from 0."""
    expect_ready(page)
    page.keyboard.press(hotkeys_of(required_fields(page)[number])[choice])


def submit_by_keys(page: Page) -> None:
    """Submit, and wait until the next page is there and takes keys, if it has a form."""
    before = assignment_on(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(f'#code-form[data-record="{before}"]')).to_have_count(0)
    page.wait_for_load_state()
    if page.locator("[data-answered]").count():
        expect_ready(page)


def chosen(page: Page) -> dict[str, str]:
    """Return the checked answers by field name, without the cluster that a picker may be preset to."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#code-form input:is([type=radio], [type=checkbox]):checked')]"
        ".filter(input => !input.closest('[data-picker]')).map(input => [input.name, input.value]))"
    )
    return found


def expect_saved(page: Page) -> None:
    """Wait for the server's word that everything typed is stored."""
    expect(page.locator("[data-saved]")).to_have_text(re.compile("^(Saved|Changes saved as a draft)"))


def notice(page: Page) -> Locator:
    return page.locator("[data-notices] [data-own]")
