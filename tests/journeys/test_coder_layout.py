"""The coding page on screens of all sizes, with texts of all kinds, read by eye and by axe."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import Person, Product
from tests.journeys.studies import Study, make_study
from tests.journeys.workbench import (
    answer_by_keys,
    answer_one,
    expect_ready,
    hotkeys_of,
    open_next,
    required_fields,
    submit_by_keys,
)

HEBREW = "הנהר זורם דרך העיר, ואחרי הגשר פונים שמאלה ב-3 רחובות."
ARABIC = "اتبع النهر ثم انعطف يسارًا عند الجسر رقم 12 (Bridge Street)."
LONG_WORD = "Donau" + "dampfschifffahrts" * 30 + "kapitän"
CODE = "```\n" + "let way = river.follow({ until: bridge, side: 'left' }); " * 6 + "\n```"
TABLE = (
    "| place | turn | "
    + " | ".join(f"step {n}" for n in range(12))
    + " |\n"
    + "|---" * 14
    + "|\n"
    + "| a | b " * 7
    + "|"
)
MEGABYTE = "Follow the river, then take the second turn. " * 22_000
TEXTS = {
    "rtl": f"{HEBREW}\n\n{ARABIC}\n\nAnd in English: over the bridge.",
    "wide": f"{LONG_WORD}\n\n{CODE}\n\n{TABLE}\n\nhttps://example.org/{'a' * 400}",
    "long": MEGABYTE,
}
PHONE, ZOOMED, NARROWEST = (390, 844), (640, 400), (320, 640)


@pytest.fixture(scope="module")
def study(product: Product) -> Study:
    return make_study(product, members={"primary_A": 5}, outputs=rows(tasks=5, per_task=4))


@pytest.fixture(scope="module")
def texts(product: Product) -> Study:
    """One coder meets all kinds of text, as markdown."""
    return make_study(product, protocol={"presentation": "markdown"}, outputs=outputs_of_all_kinds())


def outputs_of_all_kinds() -> list[dict[str, Any]]:
    made = [row | {"text": text} for row, text in zip(rows(tasks=1, per_task=3), TEXTS.values(), strict=True)]
    return [row | {"task_statement": f"{HEBREW} {LONG_WORD}", "cluster_label": ARABIC} for row in made]


def scrolls_sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def scrolls(page: Page) -> bool:
    return bool(
        page.evaluate("document.documentElement.scrollHeight > document.documentElement.clientHeight")
    )


def assert_accessible_at_full_height(page: Page) -> None:
    """On a small screen a bar covers a part of what lies below it, which axe takes for small: show the page whole."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": 4000})
    assert_accessible(page)
    page.set_viewport_size(size)


def assert_focus_is_never_covered(page: Page) -> None:
    """Tab through the whole page: what has the focus is never wholly behind another element."""
    page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
    for _ in range(len(page.locator("a, button, input, summary, textarea").all())):
        page.keyboard.press("Tab")
        covered = page.evaluate(
            """() => {
              const node = document.activeElement, b = node.getBoundingClientRect();
              if (node === document.body || !b.width) return '';
              const spots = [.1, .5, .9].flatMap(x => [.1, .5, .9].map(y => [b.left + x * b.width, b.top + y * b.height]));
              const shows = spots.some(([x, y]) => { const top = document.elementFromPoint(x, y);
                return top && (node.contains(top) || top.contains(node) || top.closest('label')?.contains(node)); });
              return shows ? '' : node.outerHTML.slice(0, 120);
            }"""
        )
        assert covered == ""


def sticks_out(page: Page) -> list[str]:
    """Return controls that lie, even in part, outside of the window or under the action bar."""
    found: list[str] = page.evaluate(
        """() => {
          const bar = document.querySelector('.actionbar').getBoundingClientRect();
          return [...document.querySelectorAll('#code-form :is(.option, .input, textarea, .error, .notice)')]
            .filter(node => node.checkVisibility())
            .filter(node => { const b = node.getBoundingClientRect();
              return b.bottom > bar.top + .5 || b.right > innerWidth + .5 || b.top < 0 || b.left < 0; })
            .map(node => node.outerHTML.slice(0, 90));
        }"""
    )
    return found


def test_the_page_does_not_scroll_at_1280_by_800_with_two_errors_and_a_notice_open(person, study):
    page = open_next(person(study.names[study.coder()]), study)
    assert not scrolls(page)
    assert sticks_out(page) == []
    fields = required_fields(page)
    for field in fields[:-2]:
        page.keyboard.press(hotkeys_of(field)[0])
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors a")).to_have_count(2)
    assert len(page.locator("#code-form .error:visible").all()) == 2
    assert not scrolls(page)
    assert sticks_out(page) == []
    assert_accessible(page)
    page.get_by_role("button", name="I recognise the source").first.click()
    assert not scrolls(page)


@pytest.mark.parametrize("size", [PHONE, ZOOMED, NARROWEST], ids=["phone", "zoomed", "narrowest"])
def test_on_a_small_screen_the_page_becomes_one_column_and_never_scrolls_sideways(person, study, size):
    coder: Person = person(study.names[study.coder()], viewport={"width": size[0], "height": size[1]})
    page = open_next(coder, study)
    assert not scrolls_sideways(page)
    assert_accessible_at_full_height(page)
    assert_focus_is_never_covered(page)
    page.locator("[data-submit]").click()
    expect(page.locator("#errors")).to_be_focused()
    assert not scrolls_sideways(page)
    for field in required_fields(page):
        if hotkeys_of(field):
            field.locator(".options > .option:visible").first.click()
        else:
            field.locator("input[type=number]").fill("0.5")
    page.locator("[data-submit]").click()
    expect(page.locator("h1")).to_have_text("Item 2 of 4")
    coder.go(study.page())
    assert not scrolls_sideways(page)
    coder.go(study.page("records/"))
    assert not scrolls_sideways(page)


def test_texts_of_all_kinds_are_read_and_coded(person, texts):
    coder: Person = person(texts.names["primary_A"])
    seen = set()
    page = open_next(coder, texts)
    for number in range(1, len(TEXTS) + 1):
        expect(page.locator("h1")).to_have_text(f"Item {number} of {len(TEXTS)}")
        kind = kind_of(page)
        seen.add(kind)
        for width, height in ((1280, 800), PHONE if kind == "long" else NARROWEST):
            page.set_viewport_size({"width": width, "height": height})
            assert not scrolls_sideways(page), (kind, width)
        page.set_viewport_size({"width": 1280, "height": 800})
        assert not scrolls(page)
        assert sticks_out(page) == []
        if kind == "rtl":
            assert_right_to_left(page)
        if kind != "long":
            assert_accessible(page)
        answer_by_keys(page)
        submit_by_keys(page)
    assert seen == set(TEXTS)


def kind_of(page: Page) -> str:
    text = page.locator("#output").text_content() or ""
    return "long" if len(text) > 900_000 else "rtl" if HEBREW in text else "wide"


def assert_right_to_left(page: Page) -> None:
    """Each paragraph finds its own direction, and so does the statement."""
    directions = page.locator("#output p").evaluate_all("all => all.map(p => getComputedStyle(p).direction)")
    assert directions == ["rtl", "rtl", "ltr"]
    assert page.locator(".statement-text").evaluate("p => getComputedStyle(p).direction") == "rtl"


def test_on_a_phone_the_bar_names_the_part_in_view_and_the_menu_opens_at_the_page(person, study):
    coder: Person = person(study.names[study.coder()], viewport={"width": PHONE[0], "height": PHONE[1]})
    page = open_next(coder, study)
    current = page.locator(".jump a[aria-current]")
    page.evaluate("scrollTo(0, 0)")
    expect(current).to_have_text("Text")
    for part in ("Clusters", "Form", "Text"):
        page.locator(".jump a", has_text=part).click()
        expect(current).to_have_text(part)
    coder.go(study.page("records/"))
    expect(page.locator(".topbar nav [aria-current]")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollX + scrollY") == 0


def test_home_names_what_is_left_and_where_to_resume(person, product):
    study = make_study(product, outputs=rows(tasks=1, per_task=2), protocol={"grace_minutes": 0})
    coder: Person = person(study.names["primary_A"])
    page = coder.go(study.page())
    expect(page.locator("h1")).to_have_text("2 of 2 items left")
    assert_accessible(page)
    page.get_by_role("link", name="Begin").click()
    expect_ready(page)
    with page.expect_response(lambda r: r.url.endswith("/draft/") and r.status == 200):
        answer_one(page, 1)
    coder.go(study.page())
    expect(page.locator("#next-h")).to_contain_text("Item 1 is open, with a draft saved at")
    expect(page.get_by_text("0 of 2", exact=True)).to_be_visible()
    page.get_by_role("link", name="Resume item 1").click()
    for _ in range(2):
        answer_by_keys(page)
        submit_by_keys(page)
    expect(page.locator("h1")).to_have_text("All 2 items are coded")
    assert_accessible(page)
    coder.go(study.page())
    expect(page.locator("h1")).to_have_text("All 2 items are coded")
    expect(page.get_by_text("Nothing is left to code. Thank you.")).to_be_visible()
    assert_accessible(page)


def test_before_the_first_batch_home_and_coding_say_what_comes_next(person, product):
    study = make_study(product)
    coder: Person = person(study.names["primary_A"])
    page = coder.go(study.page())
    expect(page.get_by_text("No items yet. They appear here as soon as a batch is released.")).to_be_visible()
    assert_accessible(page)
    coder.go(study.page("annotate/"))
    expect(page.locator("h1")).to_have_text("No items yet")
    assert_accessible(page)
