"""What coders, adjudicator, audit, monitor and project author do in a world: coding, review, lock."""

from typing import Any

from annotation_app.models import Assignment
from tests.blinding.worlds.script import answers, code_by_page, code_by_program, settle, work
from tests.blinding.worlds.training import practise
from tests.blinding.worlds.world import World
from tests.factories import AUTHOR_PASSPHRASE, PASSWORD

DISPUTE = {"from": "left"}


def code_as_a(world: World, name: str = "primary_A") -> None:
    """A works in the browser: practice, two drafts, a flag, a skip, a revision, a hunch, a recognised source, a question."""
    world.must(name, "GET", "/")
    world.must(name, "GET", world.page())
    practise(world, name)
    first = code_by_page(world, name)
    second = opened(world, name)
    for version in (0, 1):
        draft = {"fields": answers(world, name, second), "version": version}
        world.must(name, "PUT", world.page(f"annotate/{second}/draft/"), {"json": draft})
    world.must(
        name,
        "POST",
        world.page(f"annotate/{second}/recognised/"),
        {"how": "hunch", "what": "Reads like the last."},
    )
    code_by_page(world, name)
    world.must(name, "POST", world.page(f"annotate/{opened(world, name)}/skip/"), {})
    _revise(world, name, first)
    code_by_page(world, name)
    world.must(
        name,
        "POST",
        world.page(f"annotate/{opened(world, name)}/recognised/"),
        {"how": "says_so", "what": "It says so."},
    )
    world.must(
        name, "POST", world.page("questions/"), {"do": "ask", "text": "Does a ford count as a bridge?"}
    )
    code_by_page(world, name)
    world.must(name, "GET", world.page("records/"))
    opened(world, name)


def opened(world: World, name: str) -> str:
    """Return the uid of the item that is now on a coder's screen."""
    return str(world.must(name, "GET", world.url("assignments/next/"))["assignment_uid"])


def _revise(world: World, name: str, uid: str | None) -> None:
    world.must(name, "GET", world.page(f"annotate/{uid}/"))
    changed = answers(world, name, uid, "second thoughts") | {
        "submission_id": f"revised {uid}",
        "base_version": 1,
    }
    world.must(name, "POST", world.page(f"annotate/{uid}/"), changed)


def code_as_b(world: World, name: str = "primary_B", items: int = 7) -> None:
    """B practises, works by program, flags every third item, and leaves one open with a draft."""
    practise(world, name)
    for turn in range(items):
        flag = flag_of(world, name) if turn % 3 == 0 else {}
        code_by_program(world, name, **flag)
    item = world.must(name, "GET", world.url("assignments/next/"))
    if item is not None:
        draft = {"fields": {}, "version": 0}
        world.must(name, "PUT", world.url(f"assignments/{item['assignment_uid']}/draft/"), draft)


def flag_of(world: World, name: str) -> dict[str, Any]:
    """Return what flags an item, under the keys of the form that is on the coder's screen."""
    item = world.must(name, "GET", world.url("assignments/next/"))
    controls = item["form"]["fields"] if item else []
    keys = [control["key"] for control in controls if control["kind"] == "flag"]
    return dict.fromkeys(keys, True) | {f"{key}-reason": "Unclear which bank." for key in keys}


def code_the_rest(world: World) -> None:
    """Everybody codes what is left of their list."""
    for name in ("primary_A", "primary_A2", "primary_B", "primary_B2", "audit"):
        while code_by_program(world, name):
            pass


def decide(world: World, at_most: int) -> None:
    """The adjudicator decides some cases and keeps one open."""
    name = "adjudicator"
    for _ in range(at_most):
        case = world.must(name, "GET", world.url("cases/next/"))
        if case is None:
            return
        if case["step"] == 1:
            case |= _blind_code(world, case)
        body = {
            "values": dict.fromkeys(case["disputed"], DISPUTE),
            "rationale": "The river runs that way.",
            "claim_no": case["claim_no"],
        }
        world.must(name, "POST", world.url(f"cases/{case['case_uid']}/decision/"), body)
    world.must(name, "GET", world.url("cases/next/"))


def _blind_code(world: World, case: dict[str, Any]) -> dict[str, Any]:
    """Code the case blind, as its first step asks."""
    held = Assignment.objects.get(case__pk=case["case_uid"])
    body = {"fields": answers(world, "adjudicator", held.pk), "claim_no": case["claim_no"]}
    found: dict[str, Any] = world.must(
        "adjudicator", "POST", world.url(f"cases/{case['case_uid']}/blind-code/"), body
    )
    return found


def guess(world: World, name: str) -> None:
    """A closing guess at each item that is shown again."""
    while (item := world.must(name, "GET", world.url("guesses/next/"))) is not None:
        chosen = {q["key"]: q["options"][1]["value"] for q in item["questions"]}
        world.must(
            name,
            "POST",
            world.url(f"guesses/{item['assignment_uid']}/"),
            {"answers": chosen, "reason": "A hunch."},
        )


def code_some(world: World) -> None:
    """The middle of coding: records final and not, cases open and decided, drafts, a recognised source."""
    world.step = "coding"
    code_as_a(world)
    code_as_b(world)
    for name in ("primary_A2", "primary_B2"):
        practise(world, name)
        for _ in range(6):
            code_by_program(world, name)
    world.wait(11)
    settle(world)
    for _ in range(2):
        code_by_program(world, "audit")
    code_by_page(world, "primary_A")
    decide(world, 2)
    world.must("project_author", "GET", world.page())
    world.must("monitor", "GET", world.page("events/"))


def close_coding(world: World) -> None:
    """Code the rest, guess, close coding, decide every case."""
    world.step = "closing"
    code_the_rest(world)
    world.wait(11)
    settle(world)
    for name in ("primary_A", "primary_B"):
        guess(world, name)
    world.must("project_author", "POST", world.url("phase/"), {"to": "review", "reason": "All is coded."})
    settle(world)
    decide(world, 3)


def lock(world: World) -> None:
    """Report, lock, report again, bundle."""
    world.step = "locking"
    decide(world, 1000)
    author = "project_author"
    world.must(author, "POST", world.url("agreement-reports/"))
    work(world)
    world.must(author, "POST", world.url("phase/"), {"to": "locked", "leave_open": "What is left is left."})
    settle(world)
    world.must(author, "GET", world.url("export/records.jsonl"))
    world.must(author, "POST", world.url("exports/"))
    work(world)
    world.note_files("files after the bundle")


def ask_for_unblinding(world: World) -> None:
    """The project author asks; the admin has not answered yet."""
    world.step = "asking for the unblinding"
    body = {"reason": "All is locked.", "passphrase": AUTHOR_PASSPHRASE, "password": PASSWORD}
    world.must("project_author", "POST", world.url("unblinding/"), body)
