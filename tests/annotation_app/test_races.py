"""What happens at the same moment: real threads, real transactions, in a database of the module's own."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from annotation_app.errors import Refused
from annotation_app.models import Assignment, Membership, OwnCluster, Record
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, save_draft, skip_assignment
from annotation_app.services.records import Receipt, Submission, submit_record
from blinding import clock, entropy
from tests.clones import cloned_database, connected_to
from tests.factories import StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db
PATIENCE = 30.0  # seconds until a test is given up


@pytest.fixture
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    with cloned_database(django_db_blocker) as name:
        yield name


@pytest.fixture
def made(database: str) -> StudyUnderTest:
    return a_study(phase="coding", outputs=rows(1, 4), protocol={"grace_minutes": 10})


class Window:
    """A second and third tab: each act runs in a thread with a connection of its own."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._pool = ThreadPoolExecutor(2)

    def start(self, act: Callable[[], Any]) -> Future[Any]:
        def run() -> Any:
            with connected_to(self._database):
                return act()

        return self._pool.submit(run)

    def close(self) -> None:
        self._pool.shutdown()


@pytest.fixture
def windows(database: str) -> Iterator[Window]:
    window = Window(database)
    yield window
    window.close()


@contextmanager
def until_they_wait(number: int) -> Iterator[None]:
    """Hold what the block locks until `number` other connections wait for it, then let go."""
    with transaction.atomic():
        yield
        end = clock.now().timestamp() + PATIENCE
        while _waiting() < number:
            assert clock.now().timestamp() < end, "nobody waits"


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_stat_clear_snapshot()"
        )  # otherwise a transaction sees the same picture for ever
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def _lock(item: Assignment) -> None:
    Assignment.objects.select_for_update().get(pk=item.pk)


def _served(member: Membership) -> tuple[Assignment, dict[str, Any]]:
    item = next_assignment(membership=member)
    assert item is not None
    return item, first_answers(AssignmentView.of(item, member))


def _submitting(
    made: StudyUnderTest, item: Assignment, fields: dict[str, Any], submission_id: str
) -> Callable[[], Receipt]:
    return lambda: submit_record(
        membership=made["primary_A"], uid=item.pk, submission=Submission(fields, submission_id=submission_id)
    )


def _outcome(future: Future[Any]) -> Any:
    fault = future.exception(PATIENCE)
    return fault if fault is not None else future.result()


def test_two_tabs_that_submit_at_once_make_one_version(made: StudyUnderTest, windows: Window) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(2):
        _lock(item)
        tabs = [windows.start(_submitting(made, item, fields, name)) for name in ("left", "right")]
    outcomes = [_outcome(tab) for tab in tabs]
    receipt, refusal = sorted(outcomes, key=lambda outcome: isinstance(outcome, Exception))
    assert (receipt.version, receipt.replayed) == (1, False)
    assert isinstance(refusal, Refused)
    assert (refusal.code, refusal.facts) == ("version_conflict", {"version": 1})
    assert Record.objects.count() == 1
    assert made["primary_A"].main_submitted == 1


def test_a_double_click_is_one_submission_with_one_receipt(made: StudyUnderTest, windows: Window) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(2):
        _lock(item)
        clicks = [windows.start(_submitting(made, item, fields, "one")) for _ in range(2)]
    receipts = sorted((_outcome(click) for click in clicks), key=lambda receipt: receipt.replayed)
    assert [receipt.replayed for receipt in receipts] == [False, True]
    assert len({(r.record_id, r.version, r.submitted_at, r.revisable_until) for r in receipts}) == 1
    assert Record.objects.count() == 1


def test_a_record_that_waited_for_another_change_of_its_item_is_whole(
    made: StudyUnderTest, windows: Window
) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(1):
        skip_assignment(membership=made["primary_A"], uid=item.pk)  # not committed yet
        tab = windows.start(_submitting(made, item, fields, "meanwhile"))
    assert _outcome(tab).version == 1
    row = Assignment.objects.get(pk=item.pk)
    assert (row.version, row.skips, row.submitted_at is None) == (1, 1, False)
    assert made["primary_A"].main_submitted == Record.objects.count() == 1


def test_a_record_for_an_item_that_is_taken_away_meanwhile_is_refused(
    made: StudyUnderTest, windows: Window
) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(1):
        Assignment.objects.filter(pk=item.pk).update(voided_at=clock.now(), void_reason="reassigned")
        tab = windows.start(_submitting(made, item, fields, "too late"))
    refusal = _outcome(tab)
    assert isinstance(refusal, Refused)
    assert refusal.code == "voided"
    assert not Record.objects.exists()


def test_a_record_behind_the_end_of_coding_is_refused(made: StudyUnderTest, windows: Window) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(1):
        made.to("review")  # not committed yet
        late = windows.start(_submitting(made, item, fields, "late"))
    refusal = _outcome(late)
    assert isinstance(refusal, Refused)
    assert refusal.code == "not_coding"
    assert not Record.objects.exists()


def test_the_end_of_coding_waits_for_a_record_and_makes_it_final(
    made: StudyUnderTest, windows: Window
) -> None:
    item, fields = _served(made["primary_A"])
    with until_they_wait(1):
        _submitting(made, item, fields, "in time")()  # not committed yet
        end = windows.start(lambda: made.to("review"))
    assert _outcome(end) is None
    row = Assignment.objects.get(pk=item.pk)
    assert (made.study.phase, row.version) == ("review", 1)
    assert row.final_at == made.study.coding_closed_at


def test_two_tabs_that_open_the_next_item_are_served_the_same_once(
    made: StudyUnderTest, windows: Window
) -> None:
    first = Assignment.objects.filter(member=made["primary_A"]).open().in_own_order()[0]
    with until_they_wait(2):
        _lock(first)
        tabs = [windows.start(lambda: next_assignment(membership=made["primary_A"])) for _ in range(2)]
    left, right = (_outcome(tab) for tab in tabs)
    assert left.pk == right.pk == first.pk
    assert left.served_at == right.served_at == Assignment.objects.get(pk=first.pk).served_at
    assert left.codebook_id == right.codebook_id is not None


def test_an_item_that_is_taken_away_while_it_is_opened_is_not_served(
    made: StudyUnderTest, windows: Window
) -> None:
    first = Assignment.objects.filter(member=made["primary_A"]).open().in_own_order()[0]
    with until_they_wait(1):
        Assignment.objects.filter(pk=first.pk).update(voided_at=clock.now(), void_reason="recalled")
        tab = windows.start(lambda: next_assignment(membership=made["primary_A"]))
    assert _outcome(tab).pk != first.pk
    assert Assignment.objects.get(pk=first.pk).served_at is None


def test_two_first_drafts_make_one(made: StudyUnderTest, windows: Window) -> None:
    item, _ = _served(made["primary_A"])
    with until_they_wait(1):
        assert (
            save_draft(membership=made["primary_A"], uid=item.pk, fields={"f3": "1"}, version=0).version == 1
        )
        other = windows.start(
            lambda: save_draft(membership=made["primary_A"], uid=item.pk, fields={"f3": "2"}, version=0)
        )
    refusal = _outcome(other)
    assert isinstance(refusal, Refused)
    assert refusal.facts == {"version": 1, "fields": {"f3": "1"}}


def test_two_new_clusters_of_one_task_get_two_names(made: StudyUnderTest, windows: Window) -> None:
    item, fields = _served(made["primary_A"])
    new = fields | {"f1-cluster": "new", "f1": "3"}
    with until_they_wait(1):
        # What another window of the same coder, on another item of the task, has stored and not yet committed.
        OwnCluster.objects.create(
            id=entropy.uuid("id", "own_cluster"), member=made["primary_A"], task=item.output.task, code="N1"
        )
        tab = windows.start(_submitting(made, item, new, "second"))
    assert _outcome(tab).version == 1
    assert Record.objects.get().payload["semantic_cluster_decision"]["cluster_id"] == "N2"
    assert sorted(OwnCluster.objects.values_list("code", flat=True)) == ["N1", "N2"]
