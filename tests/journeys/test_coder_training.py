"""From practice to the last question: training rounds, comparison, references, the gate, main items, closing questions."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.factories import rows
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import BOSS, Person
from tests.journeys.studies import Study, make_study
from tests.journeys.workbench import answer_by_keys, assignment_on, open_next, submit_by_keys

PROTOCOL = {
    "grace_minutes": 0,
    "calibration": {"pass": 0.9},
    "guess": {"share": 1.0, "conditions": ["inland", "coast"], "models": ["tin", "lead"]},
}


def practice() -> list[dict[str, Any]]:
    return [row | {"output_id": f"practice-{n}"} for n, row in enumerate(rows(tasks=1, per_task=2))]


def main_sample() -> list[dict[str, Any]]:
    return [row | {"text": f"Today: {row['text']}"} for row in rows(tasks=1, per_task=2)]


def test_training_leads_through_the_gate_to_the_main_items_and_the_closing_questions(person, product):
    study = make_study(product, protocol=PROTOCOL, phase="training")
    study.release(practice(), "calibration")
    anna = person(study.names["primary_A"])
    practise(anna, study)
    compare(anna, study)
    settle(person(study.names["project_author"]), study)
    study.to("coding")
    study.release(main_sample())
    wait_at_the_gate(anna, study)
    pass_on(person(BOSS), study)
    code_main_items(anna, study)
    answer_closing_questions(anna, study)


def practise(anna: Person, study: Study) -> None:
    """Anna codes two texts, each unlike what Bela will say."""
    page = anna.go(study.page())
    expect(page.locator(".page-head")).to_contain_text("practice")
    page = open_next(anna, study)
    expect(page.locator("h1")).to_have_text("Practice item 1 of 2")
    assert_accessible(page)
    items = []
    for _ in range(2):
        items.append(assignment_on(page))
        answer_by_keys(page, choice=2)
        submit_by_keys(page)
    for item in items:
        study.wait_until_final(item)


def compare(anna: Person, study: Study) -> None:
    page = anna.go(study.page("training/"))
    assert_accessible(page)
    page.get_by_role("link", name="Compare item 1").click()
    expect(page.get_by_text("The other annotator’s record is not final yet.")).to_be_visible()
    study.code_all("primary_B")
    own = study.query(
        "SELECT a.id FROM annotation_app_assignment a JOIN annotation_app_study s ON s.id = a.study_id"
        " WHERE s.slug = %s AND a.slot = 'B'",
        study.slug,
    )
    for item in own:
        study.wait_until_final(str(item["id"]))
    page.reload()
    expect(page.get_by_text(re.compile(r"\d fields differ\."))).to_be_visible()
    assert page.locator("tr.is-different").count() > 2
    assert_accessible(page)
    page.get_by_role("button", name="The other’s").click()
    expect(page.get_by_text("You said: the other’s.")).to_be_visible()


def settle(paul: Person, study: Study) -> None:
    """The project author finds nothing that both say, and writes the references: marked as such."""
    page = paul.go(study.page("training/"))
    expect(page.get_by_role("heading", name="Round 1")).to_be_visible()
    expect(page.get_by_role("table", name="").first).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Take as reference what the coders agree on").click()
    expect(page.get_by_text("0 texts have a reference now.")).to_be_visible()
    page.get_by_role("link", name="Write reference codes").click()
    assert_accessible(page)
    for number in (1, 2):
        page.get_by_role("link", name=f"Write the reference of text {number}").click()
        assert_accessible(page)
        answer_by_keys(page, choice=2)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("The reference is kept.")).to_be_visible()
    expect(page.get_by_text("written by the project author")).to_have_count(2)


def wait_at_the_gate(anna: Person, study: Study) -> None:
    page = anna.go(study.page())
    expect(page.get_by_text("You are not passed on to the main items yet.")).to_be_visible()
    assert_accessible(page)
    anna.go(study.page("annotate/"))
    expect(page.locator("[data-reason]")).to_contain_text("You are not passed on to the main items yet")
    assert_accessible(page)


def pass_on(boss: Person, study: Study) -> None:
    page = boss.go(study.page("training/"))
    assert_accessible(page)
    for who in ("primary_A", "primary_B"):
        alias = study.aliases[who]
        page.get_by_role("button", name=f"Pass on {alias}").click()
        assert_accessible(page)
        dialog = page.locator(f"#gate-{alias}")
        if who == "primary_B":
            dialog.get_by_label("Reason, since the mark is not reached").fill("We talked it through.")
        dialog.get_by_role("button", name="Pass on").click()
        expect(page.get_by_text(f"{alias} is passed on to the main items.")).to_be_visible()


def code_main_items(anna: Person, study: Study) -> None:
    page = open_next(anna, study)
    items = []
    for _ in range(2):
        items.append(assignment_on(page))
        answer_by_keys(page)
        submit_by_keys(page)
    for item in items:
        study.wait_until_final(item)


def answer_closing_questions(anna: Person, study: Study) -> None:
    page = anna.go(study.page())
    expect(page.get_by_text("2 closing questions are left")).to_be_visible()
    page.get_by_role("link", name="Answer them").click()
    expect(page.locator("h1")).to_have_text("Closing question 1 of 2")
    first = question(page, "Where do you think it comes from?").locator("label")
    assert first.locator("span").all_inner_texts() == ["I don’t know", "inland", "coast"]
    assert_accessible(page)
    answer(page, "inland", "I don’t know")
    expect(page.locator("h1")).to_have_text("Closing question 2 of 2")
    answer(page, "I don’t know", "lead")
    expect(page.get_by_text("Nothing more is asked. Thank you.")).to_be_visible()
    assert_accessible(page)
    given = study.query(
        "SELECT g.condition, g.model FROM annotation_app_guess g JOIN annotation_app_assignment a ON a.id = g.assignment_id"
        " JOIN annotation_app_study s ON s.id = a.study_id WHERE s.slug = %s ORDER BY g.guessed_at",
        study.slug,
    )
    assert given == [{"condition": "inland", "model": ""}, {"condition": "", "model": "lead"}]


def question(page: Page, title: str) -> Any:
    return page.get_by_role("radiogroup", name=title)


def answer(page: Page, place: str, writer: str) -> None:
    question(page, "Where do you think it comes from?").get_by_role("radio", name=place, exact=True).check()
    question(page, "What do you think wrote it?").get_by_role("radio", name=writer, exact=True).check()
    page.get_by_role("button", name="Record it and go on").click()
