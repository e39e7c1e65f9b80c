"""From an empty study to exported records: every step by a person at a browser."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from annotation_app.record_schema import RecordContext, check_record, shipped_schema
from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import BOSS, PASSWORD, Person, unique
from tests.journeys.workbench import expect_ready

PROTOCOL = {
    "grace_minutes": 0,
    "audit_share": 0,
    "adjudication": {"steps": 1, "sham_share": 0},
    "agreement": {"resamples": 200, "seed": 1},
}
ROLES = {"paul": "project_author", "anna": "primary_A", "bela": "primary_B", "june": "adjudicator"}


def test_a_batch_becomes_records_and_a_report(person, tmp_path):
    slug, names = unique("street"), {name: unique(name) for name in ROLES}
    boss = person(BOSS)
    make_study(boss, slug)
    for name, role in ROLES.items():
        add_member(boss, slug, names[name], role)
    paul = person(names["paul"])
    sign_declaration(paul, slug)
    open_coding(paul, slug)
    upload_and_release(boss, slug, tmp_path)
    anna, bela = person(names["anna"]), person(names["bela"])
    sign_declaration(anna, slug)
    sign_declaration(bela, slug)
    code_everything(anna, slug, relevance="Relevant")
    code_everything(bela, slug, relevance="Irrelevant")
    june = person(names["june"])
    sign_declaration(june, slug)
    decide_everything(june, slug)
    close_report_and_lock(paul, slug)
    records = download_records(paul, slug, tmp_path)
    assert_exported(records)


def make_study(boss: Person, slug: str) -> None:
    page = boss.go("/new-study/")
    assert_accessible(page)
    page.get_by_label("Title").fill("Street survey")
    page.get_by_label("Short name").fill(slug)
    page.get_by_label("Passphrase", exact=True).fill("seven herons at dusk")
    page.get_by_label("The same again").fill("seven herons at dusk")
    page.locator("details summary").click()
    page.get_by_label("Protocol (JSON)").fill(json.dumps(PROTOCOL))
    page.get_by_role("button", name="Make the study").click()
    expect(page.locator(".hash").first).to_have_text(re.compile(r"^\s*([0-9A-Z]{5}-){7}[0-9A-Z]{5}\s*$"))
    assert_accessible(page)
    sign_declaration(boss, slug)


def add_member(boss: Person, slug: str, name: str, role: str) -> None:
    page = boss.go(f"/studies/{slug}/members/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Role").select_option(role)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("cell", name=name)).to_be_visible()


def sign_declaration(somebody: Person, slug: str) -> None:
    page = somebody.go(f"/studies/{slug}/")
    expect(page).to_have_url(re.compile("/declaration/$"))
    assert_accessible(page)
    page.get_by_label("I sign this declaration.").check()
    page.get_by_role("button", name="Sign and go on").click()
    expect(page).to_have_url(re.compile(f"/studies/{slug}/$"))
    assert_accessible(page)


def open_coding(paul: Person, slug: str) -> None:
    page = paul.go(f"/studies/{slug}/key/")
    assert_accessible(page)
    page.get_by_label("Your passphrase", exact=True).fill("nine pebbles in a jar")
    page.get_by_label("The same again").fill("nine pebbles in a jar")
    page.get_by_role("button", name="Add this half").click()
    expect(page.locator(".hash").first).to_be_visible()
    move(paul, slug, "coding")


def move(paul: Person, slug: str, to: str) -> None:
    page = paul.go(f"/studies/{slug}/phase/")
    assert_accessible(page)
    form = page.locator(f"form:has(input[name=to][value={to}])")
    form.locator("[name=reason]").fill("It is time.")
    form.locator("button[type=submit]").click()
    page.wait_for_load_state()
    expect(page.locator("[aria-current=step]")).to_contain_text(re.compile(to, re.IGNORECASE))


def upload_and_release(boss: Person, slug: str, folder: Path) -> None:
    bad, good = folder / "bad.jsonl", folder / "good.jsonl"
    outputs = rows(tasks=2, per_task=4)
    good.write_text("".join(json.dumps(row) + "\n" for row in outputs))
    bad.write_text("".join(json.dumps({**row, "text": ""}) + "\n" for row in outputs[:2]))
    upload(boss, slug, bad)
    expect(boss.page.get_by_text("text is blank").first).to_be_visible()
    assert_accessible(boss.page)
    upload(boss, slug, good)
    expect(boss.page.get_by_role("button", name=re.compile("^Release"))).to_be_visible()
    assert_accessible(boss.page)
    boss.page.get_by_label(re.compile("I have looked through the list")).check()
    boss.page.get_by_role("button", name=re.compile("^Release")).click()
    expect(boss.page.locator(".page-head")).to_contain_text("released")
    assert_accessible(boss.page)


def upload(boss: Person, slug: str, path: Path) -> None:
    page = boss.go(f"/studies/{slug}/batches/")
    assert_accessible(page)
    page.get_by_role("textbox", name="Name", exact=True).fill("First batch")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name="Upload and check").click()
    expect(page).to_have_url(re.compile(r"/batches/[0-9a-f-]{36}/$"))


def code_everything(coder: Person, slug: str, relevance: str) -> None:
    page = coder.go(f"/studies/{slug}/annotate/")
    assert_accessible(page)
    for number in range(1, 9):
        expect(page.locator("h1")).to_have_text(f"Item {number} of 8")
        expect(page.locator("h1")).to_be_focused()
        code_item(page, relevance)
        page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("All 8 items are coded")
    assert_accessible(page)


def code_item(page: Page, relevance: str) -> None:
    """Answer every required field by its key: confirm, relevance, supported, a list, none detected."""
    expect_ready(page)
    for key in ("1", {"Relevant": "q", "Irrelevant": "w"}[relevance], "a", "o", "z"):
        page.keyboard.press(key)
    page.locator("input[type=number]").fill("0.8")


def decide_everything(june: Person, slug: str) -> None:
    page = june.page
    for _ in range(240):  # comparing is a periodic task: the queue fills within seconds
        june.go(f"/studies/{slug}/cases/")
        if page.locator("form#code-form, form.code-form").count():
            break
        page.wait_for_timeout(500)
    assert_accessible(page)
    for _ in range(8):
        page.locator("form#code-form input[type=radio][value=left]").first.check(force=True)
        page.locator("textarea[name=rationale]").fill("The first coding fits the anchor in the codebook.")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
    expect(page.get_by_text("No case is waiting").first).to_be_visible()
    assert_accessible(page)


def close_report_and_lock(paul: Person, slug: str) -> None:
    move(paul, slug, "review")
    page = paul.go(f"/studies/{slug}/reports/")
    assert_accessible(page)
    page.locator("main form button[type=submit]").first.click()
    expect(page.get_by_role("table").first).to_be_visible(timeout=60_000)
    expect(page.locator("main")).to_contain_text("Relevance")
    assert_accessible(page)
    move(paul, slug, "locked")


def download_records(paul: Person, slug: str, folder: Path) -> list[dict[str, object]]:
    page = paul.go(f"/studies/{slug}/exports/")
    assert_accessible(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="records.jsonl").click()
    path = folder / "records.jsonl"
    download.value.save_as(path)
    return [json.loads(line) for line in path.read_text().splitlines()]


def assert_exported(records: list[dict[str, object]]) -> None:
    schema = shipped_schema()
    assert len(records) == 16
    for record in records:
        home = record["semantic_cluster_decision"]["cluster_id"]  # type: ignore[index]
        control = bool(record["gold_class_match"])
        assert check_record(schema, record, RecordContext(clusters=(home,), positive_control=control)) == []
        assert record["adjudication_required"] is True
        assert (
            record["adjudicated_value"] == '{"relevance":"relevant"}'
            or record["adjudicated_value"] == '{"relevance":"irrelevant"}'
        )
