"""axe on a page, in both themes."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}


def assert_accessible(page: Page) -> None:
    """Fail with each violation, its place and theme, once the page is there: an address can be new before it."""
    page.wait_for_load_state()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page, options=RULES).response["violations"]
        told = [f"{theme} {page.url}: {v['id']}: {n['html'][:120]}" for v in found for n in v["nodes"]]
        assert told == [], "\n".join(told)
    page.emulate_media(color_scheme="light")
