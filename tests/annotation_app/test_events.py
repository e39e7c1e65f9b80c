"""The event log: closed in blocks, verified, read by who watches over a study and nobody else."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import IntegrityError, connection, transaction

from adjudication.services import pairs
from adjudication.services.cases import claim_next_case
from annotation_app.services.exposures import recognise
from blinding import clock, event_blocks
from blinding.event_blocks import close_block, verify_log
from blinding.events import OF_CASES, record_event
from blinding.models import Event, EventBlock
from tests.annotation_app.conftest import anew
from tests.annotation_app.pages.reading import text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db

ALL_CASES = {"adjudication": {"sham_share": 1.0}}


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study()


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def note(study: StudyUnderTest, kind: str = "something", **facts: object) -> Event:
    return record_event(kind, study=study.study.pk, actor=study["admin"].pk, facts=facts)


def as_owner(statement: str, *values: Any, table: str = "blinding_event") -> None:
    """What the owner of the database could do to the log."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, values)
        assert cursor.rowcount == 1
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def problem(study: StudyUnderTest, head: str | None = None) -> str:
    return str(verify_log(study.study.pk, head=head) or "")


def test_events_are_closed_once_each_in_linked_blocks(made: StudyUnderTest) -> None:
    there = Event.objects.filter(study=made.study.pk).count()
    assert close_block(made.study.pk) == there > 5
    assert close_block(made.study.pk) == 0
    note(made)
    assert close_block(made.study.pk) == 1
    first, second = EventBlock.objects.filter(study=made.study.pk).order_by("number")
    assert (first.number, second.number, second.previous) == (1, 2, first.hash)
    assert len(first.entries) == there
    assert problem(made) == ""


def test_large_backlogs_become_several_blocks(made: StudyUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_blocks, "SIZE", 4)
    there = Event.objects.filter(study=made.study.pk).count()
    assert close_block(made.study.pk) == there
    assert EventBlock.objects.filter(study=made.study.pk).count() == -(-there // 4)
    assert problem(made) == ""


def test_an_event_that_is_committed_late_is_still_closed_in(made: StudyUnderTest) -> None:
    with clock.frozen_at(clock.now() + timedelta(days=3)) as advance:
        note(made, "early")
        advance(timedelta(hours=20))
        note(made, "late")
        close_block(made.study.pk)
        with clock.frozen_at(clock.now() - timedelta(hours=20)):
            note(made, "began before the block, ended after it")
        assert close_block(made.study.pk) == 1
    assert problem(made) == ""


def test_an_altered_event_is_named(made: StudyUnderTest) -> None:
    event = note(made, number=1)
    close_block(made.study.pk)
    as_owner("UPDATE blinding_event SET facts = '{\"number\": 2}' WHERE id = %s", event.pk)
    assert problem(made) == f"block 1: event {event.pk} was altered"


def test_a_removed_event_is_named(made: StudyUnderTest) -> None:
    event = note(made)
    close_block(made.study.pk)
    as_owner("DELETE FROM blinding_event WHERE id = %s", event.pk)
    assert problem(made) == f"block 1: event {event.pk} was removed"


def test_a_removed_block_is_found_also_at_the_end_by_a_head_noted_earlier(made: StudyUnderTest) -> None:
    heads = []
    for _ in range(3):
        note(made)
        close_block(made.study.pk)
        heads.append(event_blocks.log_state(made.study.pk).head)
    assert problem(made, heads[-1]) == ""
    as_owner("DELETE FROM blinding_eventblock WHERE hash = %s", heads[-1], table="blinding_eventblock")
    assert problem(made) == ""
    assert "cut or rewritten" in problem(made, heads[-1])
    as_owner("DELETE FROM blinding_eventblock WHERE hash = %s", heads[0], table="blinding_eventblock")
    assert problem(made) == "block 1: is missing"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blinding_event SET kind = 'other'",
        "DELETE FROM blinding_event",
        "UPDATE blinding_eventblock SET number = number + 1",
        "DELETE FROM blinding_eventblock",
        "TRUNCATE blinding_event CASCADE",
        "TRUNCATE blinding_eventblock CASCADE",
    ],
)
def test_the_database_itself_refuses_to_change_the_log(made: StudyUnderTest, statement: str) -> None:
    close_block(made.study.pk)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_monitor_reads_the_log_page_by_page(made: StudyUnderTest) -> None:
    note(made, "newest", number=7)
    close_block(made.study.pk)
    api, url = made.api("monitor"), made.url("events/")
    seen: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = api.get(f"{url}?limit=3&before={quote(cursor)}").json()
        seen += page["events"]
        if page["next"] is None:
            break
        cursor = page["next"]
    assert (
        len(seen)
        == len({event["uid"] for event in seen})
        == Event.objects.filter(study=made.study.pk).count()
    )
    assert [event["happened_at"] for event in seen] == sorted((e["happened_at"] for e in seen), reverse=True)
    assert (seen[0]["kind"], seen[0]["by"], seen[0]["facts"]) == (
        "newest",
        made["admin"].alias,
        {"number": 7},
    )
    assert {event["block"] for event in seen} == {1}
    only = api.get(url, {"kind": "newest"}).json()["events"]
    assert [event["kind"] for event in only] == ["newest"]
    assert api.get(url, {"before": "nonsense"}).status_code == 400


def test_the_monitor_verifies(made: StudyUnderTest) -> None:
    event = note(made)
    close_block(made.study.pk)
    api, url = made.api("monitor"), made.url("events/verify/")
    shown = api.get(url).json()
    assert (shown["ok"], shown["problem"], shown["blocks"]) == (True, None, 1)
    assert api.get(url, {"head": shown["head"].upper()}).json()["ok"] is True
    assert api.get(url, {"head": "0" * 63 + "1"}).json()["ok"] is False
    as_owner("UPDATE blinding_event SET kind = 'nothing' WHERE id = %s", event.pk)
    assert str(event.pk) in api.get(url).json()["problem"]


def served_to_the_monitor(study: StudyUnderTest) -> list[Any]:
    """Everything in which an open case could show."""
    api, client = study.api("monitor"), study.client("monitor")
    programs = [api.get(study.url(rest)).json() for rest in ("", "events/", "events/verify/")]
    return programs + [text_of(client.get(study.page(rest))) for rest in ("", "events/")]


@pytest.mark.parametrize("phase", ["coding", "review"])
def test_until_the_lock_nothing_that_the_monitor_is_served_tells_when_a_case_opens(phase: str) -> None:
    study = a_study("watched", phase="coding", outputs=rows(tasks=1, per_task=2), protocol=ALL_CASES)
    with clock.frozen_at(clock.now()) as advance:
        for name in ("primary_A", "primary_B"):
            study.code_all(name)
        if phase == "review":
            study.to("review")
        close_block(study.study.pk)
        advance(timedelta(minutes=11))
        study.finalise()
        before = [_without_waiting(seen) for seen in served_to_the_monitor(study)]
        study.compare()
        for act in (None, "claim", "recognise", "decide"):
            if act in ("claim", "recognise"):
                claim = claim_next_case(membership=study["adjudicator"])
                assert claim is not None
                if act == "recognise":
                    recognise(membership=study["adjudicator"], uid=claim.assignment.pk, how="says_so")
            if act == "decide":
                assert study.decide_all() > 0
            close_block(study.study.pk)
            assert [_without_waiting(seen) for seen in served_to_the_monitor(study)] == before
    assert Event.objects.filter(study=study.study.pk, kind__in=["case_opened", "case_decided"]).count() >= 2
    assert study.api("monitor").get(study.url("events/"), {"kind": "case_opened"}).json()["events"] == []


def _without_waiting(seen: Any) -> Any:
    """Pairs that wait to be compared are counted, disputed or not."""
    if isinstance(seen, dict) and "counts" in seen:
        return seen | {"counts": {k: v for k, v in seen["counts"].items() if k != "uncompared"}}
    return seen


def test_events_of_cases_are_hashed_with_the_next_block_and_read_once_the_data_are_locked() -> None:
    study = a_study("watched", phase="coding", outputs=rows(tasks=1, per_task=2), protocol=ALL_CASES)
    study.code_all("primary_A"), study.code_all("primary_B")
    close_block(study.study.pk)
    study.settle()
    cases = Event.objects.filter(study=study.study.pk, kind="case_opened")
    assert cases.count() > 0
    assert close_block(study.study.pk) == 0
    note(study)
    assert close_block(study.study.pk) == cases.count() + 1
    study.lock()
    close_block(study.study.pk)
    told = study.api("monitor").get(study.url("events/"), {"kind": "case_opened"}).json()["events"]
    assert {event["uid"] for event in told} == {str(pk) for pk in cases.values_list("pk", flat=True)}
    verdict = study.api("monitor").get(study.url("events/verify/")).json()
    assert (verdict["ok"], verdict["events"]) == (True, Event.objects.filter(study=study.study.pk).count())


def test_more_events_of_cases_than_a_block_holds_do_not_hold_up_the_chain(
    made: StudyUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    close_block(made.study.pk)
    monkeypatch.setattr(event_blocks, "SIZE", 2)
    for kind in ("case_opened", "case_opened", "case_opened", "something"):
        note(made, kind)
    assert close_block(made.study.pk) == 4
    assert problem(made) == ""


def test_what_adjudication_logs_of_cases_is_named_as_events_of_cases() -> None:
    """The one kind of event that the log must keep apart is known by its name."""
    services = Path(pairs.__file__).parent
    kinds = [
        kind
        for module in services.glob("*.py")
        if module.name != "reports.py"
        for kind in re.findall(r'record_events?\(\s*"(\w+)"', module.read_text())
    ]
    assert len(kinds) >= 5
    assert all(kind.startswith(OF_CASES) for kind in kinds)


def test_nobody_else_reads_the_log(made: StudyUnderTest) -> None:
    for name in (n for n in made.names if n != "monitor"):
        for rest in ("events/", "events/verify/"):
            assert made.api(name).get(made.url(rest)).status_code == 404


def test_each_study_has_a_chain_of_its_own(made: StudyUnderTest) -> None:
    other = a_study("other")
    event_blocks.close_all_blocks()
    assert set(EventBlock.objects.values_list("study", "number")) == {(made.study.pk, 1), (other.study.pk, 1)}
    inside = {name for name, _ in EventBlock.objects.get(study=other.study.pk).entries}
    assert inside == {
        str(pk) for pk in Event.objects.filter(study=other.study.pk).values_list("pk", flat=True)
    }
