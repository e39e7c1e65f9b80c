"""Task packages from the upload to the labels: seen by the admin, released, voided, published, opened."""

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.annotation_app.task_uploads import output, zipped
from tests.blinding.task_metadata.packages import metadata, variant
from tests.journeys.accessibility import assert_accessible
from tests.journeys.conftest import Person
from tests.journeys.studies import WAIT_FOR_JOB, WHY, Study, make_study

TASKS = [f"menu-{n}" for n in range(1, 7)]


def test_task_packages_stay_closed_until_the_labels_are_opened(person, product, tmp_path):
    study = make_study(product, protocol={"grace_minutes": 0})
    boss = person(study.names["admin"])
    release_with_packages(boss, study, tmp_path)
    void_one(boss, study)
    for who in ("primary_A", "primary_B"):
        study.code_all(who)
    paul, anna = person(study.names["project_author"]), person(study.names["primary_A"])
    publish(paul, study)
    for reader in (person("stranger", sign_in=False), anna):
        page = reader.go(f"/public/{study.slug}/distributions/")
        expect(page.get_by_role("heading", name="bm-menus")).to_be_visible()
        assert_accessible(page)
    lock_and_unblind(study)
    look_at_tasks(paul, study)
    read_results(paul, study)
    assert anna.page.request.get(anna.address + study.page("tasks/")).status == 404


def release_with_packages(boss: Person, study: Study, folder: Path) -> None:
    file = folder / "menus.zip"
    trees = [metadata({"task_id": name}) for name in TASKS]
    trees[0]["capabilities"] = ["A.1", "A.1"]
    trees.append(variant("menu-b", "menu-1"))
    outputs = [output(f"{tree['task_id']}-{n}", tree["task_id"]) for tree in trees for n in (1, 2)]
    file.write_bytes(zipped(outputs, *trees))
    page = boss.go(study.page("batches/"))
    page.get_by_role("textbox", name="Name", exact=True).fill("Menus")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Upload and check").click()
    expect(page).to_have_url(re.compile(r"/batches/[0-9a-f-]{36}/$"))
    expect(page.get_by_role("heading", name="Task packages")).to_be_visible()
    expect(page.get_by_role("cell", name="duplicate_capability")).to_be_visible()
    assert_accessible(page)
    if page.get_by_label("Reason", exact=True).count():
        page.get_by_label("Reason", exact=True).fill(WHY)
    page.get_by_label(re.compile("I have looked through the list")).check()
    page.get_by_role("button", name=re.compile("^Release")).click()
    expect(page.locator(".page-head")).to_contain_text("released")
    expect(page.get_by_role("heading", name="Task packages")).to_have_count(0)


def void_one(boss: Person, study: Study) -> None:
    page = boss.go(study.page("tasks/"))
    assert_accessible(page)
    page.get_by_role("link", name="Void menu-2").click()
    page.get_by_role("textbox", name="Reason").fill("Its reference was withdrawn.")
    assert_accessible(page)
    page.get_by_role("button", name="Void this version").click()
    expect(page.get_by_role("row", name=re.compile("menu-2"))).to_contain_text("Its reference was withdrawn.")


def publish(paul: Person, study: Study) -> None:
    page = paul.go(study.page("distributions/"))
    expect(page.get_by_role("button", name="Publish the distributions")).to_have_attribute(
        "aria-disabled", "true"
    )
    study.to("review")
    page.reload()
    assert_accessible(page)
    page.get_by_role("button", name="Publish the distributions").click()
    expect(page.get_by_role("heading", name="bm-menus")).to_be_visible()
    assert_accessible(page)


def lock_and_unblind(study: Study) -> None:
    study.to("locked")
    reason = {"reason": WHY, "passphrase": "nine pebbles in a jar"}
    uid = study.call("project_author", "POST", "unblinding/", reason)["uid"]
    study.call("admin", "POST", f"unblinding/{uid}/approve/", {"passphrase": "seven herons at dusk"})
    for _ in range(WAIT_FOR_JOB):
        if study.call("project_author", "GET", "")["phase"] == "unblinded":
            return
        time.sleep(0.5)  # a job in another process
    raise AssertionError("waited in vain for the unblinding")


def look_at_tasks(paul: Person, study: Study) -> None:
    page = paul.go(study.page("tasks/"))
    assert_accessible(page)
    page.get_by_role("link", name="menu-1", exact=True).click()
    expect(page.locator("svg .action")).to_have_count(4)
    assert_no_overlap(page)
    assert_accessible(page)
    expect(page.get_by_role("link", name=re.compile("menu-b"))).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Results by label").click()
    expect(page.get_by_role("heading", name="Variants beside their originals")).to_be_visible()
    assert_accessible(page)


def read_results(paul: Person, study: Study) -> None:
    page = paul.go(study.page())
    page.get_by_role("navigation").get_by_role("link", name="Results").click()
    expect(page.get_by_role("heading", name="Results", exact=True)).to_be_visible()
    panel = page.get_by_role("region", name="Relevance", exact=True)
    expect(panel.locator("circle.pt").first).to_be_visible()
    expect(page.get_by_text("No guesses: the protocol lists no choices")).to_be_visible()
    assert_accessible(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert re.fullmatch(rf"{study.slug}-[\d-]{{10}}-results\.csv", download.value.suggested_filename)


def assert_no_overlap(page: Page) -> None:
    """No box of an action lies over another one."""
    boxes = [box.bounding_box() for box in page.locator("svg .action rect").all()]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a is not None
            assert b is not None
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
