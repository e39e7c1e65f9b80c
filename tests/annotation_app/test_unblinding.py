"""The ceremony, with a real job in a thread of its own: two people, two passphrases, all or nothing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction

from annotation_app import health
from annotation_app.errors import Absent, Invalid, Refused, TooOften
from annotation_app.services.phases import change_phase
from annotation_app.services.unblinding import (
    LAPSES_AFTER,
    approve_unblinding,
    lapse_old_requests,
    refuse_request,
    request_unblinding,
    withdraw_request,
)
from blinding import clock, jobs
from blinding.models import Event, Job, RevealedLabel, RevealedSeed, StudyKey, UnblindingRequest
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, PASSWORD, WHY, StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def locked() -> StudyUnderTest:
    health.worker_beat()
    return a_study(phase="locked", outputs=rows(tasks=2, per_task=4))


@contextmanager
def a_worker() -> Iterator[None]:
    """Take the next job that is queued, as a worker would, on a connection of its own."""
    stop, waiting = threading.Event(), set(Job.objects.values_list("pk", flat=True))

    def work() -> None:
        try:
            while not stop.wait(0.02):
                for job in Job.objects.filter(state="queued").exclude(pk__in=waiting):
                    jobs.run(job.pk)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def ask(study: StudyUnderTest) -> UnblindingRequest:
    return request_unblinding(
        membership=study["project_author"], reason="The analysis as registered.", passphrase=AUTHOR_PASSPHRASE
    )


def approve(study: StudyUnderTest, asked: UnblindingRequest, passphrase: str = ADMIN_PASSPHRASE) -> None:
    with a_worker():
        approve_unblinding(membership=study["admin"], uid=asked.pk, passphrase=passphrase)


def key_of(study: StudyUnderTest) -> tuple[bytes, int]:
    key = StudyKey.objects.get(study=study.study.pk)
    return bytes(key.wrapped), key.layers


def kinds(study: StudyUnderTest) -> list[str]:
    events = Event.objects.filter(study=study.study.pk, kind__startswith="unblinding").order_by("happened_at")
    return list(events.values_list("kind", flat=True))


def test_two_people_open_the_seals(locked: StudyUnderTest) -> None:
    before = key_of(locked)
    asked = ask(locked)
    assert key_of(locked)[1] == 1
    approve(locked, asked)
    study = locked.study
    asked.refresh_from_db()
    assert (study.phase, asked.state) == ("unblinded", "done")
    assert key_of(locked) == before
    assert asked.outer is None
    revealed = RevealedLabel.objects.filter(study=study.pk)
    assert sorted(revealed.values_list("output_id", flat=True)) == sorted(r["output_id"] for r in rows(2, 4))
    by_id = {row["output_id"]: row for row in rows(2, 4)}
    for label in revealed:
        row = by_id[label.output_id]
        assert (label.condition, label.model, label.theory) == (row["condition"], row["model"], row["theory"])
        assert label.leaf["raw_text"] == row["text"]
        assert label.gold_expected == row.get("gold_expected")
    assert RevealedSeed.objects.filter(study=study.pk).count() == 1
    assert kinds(locked) == ["unblinding_requested", "unblinding_approved"]
    assert Event.objects.filter(study=study.pk, kind="phase_unblinded").count() == 1


def test_nothing_of_the_key_stays_in_the_broker_or_the_job(locked: StudyUnderTest) -> None:
    approve(locked, ask(locked))
    job = Job.objects.get(kind="unblind")
    assert health._broker().keys("twinblind:hand-over:*") == []
    assert list(job.arguments) == ["public_key"]


@pytest.mark.parametrize("name", ["admin", "primary_A", "adjudicator", "monitor"])
def test_only_the_project_author_asks(locked: StudyUnderTest, name: str) -> None:
    with pytest.raises(Absent):
        request_unblinding(membership=locked[name], reason=WHY, passphrase=ADMIN_PASSPHRASE)


def test_only_the_admin_approves(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    with pytest.raises(Absent):
        approve_unblinding(membership=locked["project_author"], uid=asked.pk, passphrase=AUTHOR_PASSPHRASE)


def test_before_the_lock_nobody_can_ask() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=4))
    with pytest.raises(Refused, match="Only locked"):
        ask(study)


def test_a_request_needs_a_reason(locked: StudyUnderTest) -> None:
    with pytest.raises(Invalid):
        request_unblinding(membership=locked["project_author"], reason=" ", passphrase=AUTHOR_PASSPHRASE)


def test_a_wrong_passphrase_takes_nothing_off_and_is_written_down(locked: StudyUnderTest) -> None:
    before = key_of(locked)
    with pytest.raises(Refused, match="not the passphrase"):
        request_unblinding(membership=locked["project_author"], reason=WHY, passphrase=ADMIN_PASSPHRASE)
    assert key_of(locked) == before
    assert Event.objects.filter(kind="passphrase_refused", actor=locked["project_author"].pk).count() == 1


def test_after_five_wrong_passphrases_there_is_a_pause(locked: StudyUnderTest) -> None:
    with clock.frozen_at(clock.now()) as advance:
        for _ in range(5):
            with pytest.raises(Refused, match="not the passphrase"):
                request_unblinding(membership=locked["project_author"], reason=WHY, passphrase="wrong " * 3)
        with pytest.raises(TooOften):
            ask(locked)
        advance(timedelta(minutes=10, seconds=1))
        ask(locked)


def test_the_password_of_the_account_is_asked_again_where_it_is_sent(locked: StudyUnderTest) -> None:
    author = locked["project_author"]
    with pytest.raises(Refused, match="password"):
        request_unblinding(membership=author, reason=WHY, passphrase=AUTHOR_PASSPHRASE, password="another one")
    request_unblinding(membership=author, reason=WHY, passphrase=AUTHOR_PASSPHRASE, password=PASSWORD)


def test_a_wrong_passphrase_of_the_admin_leaves_the_request_waiting(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    with pytest.raises(Refused, match="not the passphrase"):
        approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=AUTHOR_PASSPHRASE)
    asked.refresh_from_db()
    assert (asked.state, asked.approved_by) == ("requested", None)
    assert not Job.objects.filter(kind="unblind").exists()


def test_a_second_request_is_refused_while_one_is_open(locked: StudyUnderTest) -> None:
    ask(locked)
    with pytest.raises(Refused, match="asked for already"):
        ask(locked)


def test_a_withdrawn_request_leaves_the_key_as_it_was(locked: StudyUnderTest) -> None:
    before = key_of(locked)
    withdraw_request(membership=locked["project_author"], uid=ask(locked).pk)
    assert key_of(locked) == before
    assert kinds(locked) == ["unblinding_requested", "unblinding_withdrawn"]


def test_the_admin_can_refuse_with_a_reason(locked: StudyUnderTest) -> None:
    before, asked = key_of(locked), ask(locked)
    refuse_request(membership=locked["admin"], uid=asked.pk, reason="The exclusions are not final.")
    assert key_of(locked) == before
    with pytest.raises(Refused, match="not waiting"):
        approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)


def test_a_request_lapses_after_a_day(locked: StudyUnderTest) -> None:
    before = key_of(locked)
    with clock.frozen_at(clock.now()) as advance:
        asked = ask(locked)
        advance(LAPSES_AFTER - timedelta(seconds=1))
        assert lapse_old_requests() == 0
        advance(timedelta(seconds=1))
        with pytest.raises(Refused, match="lapsed"):
            approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)
        assert lapse_old_requests() == 1
    assert key_of(locked) == before
    asked.refresh_from_db()
    assert asked.state == "lapsed"
    ask(locked)


def test_without_a_worker_nothing_is_approved(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    health.worker_left()
    with pytest.raises(Refused, match="No worker"):
        approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)


def test_a_worker_that_does_not_take_the_key_leaves_the_request_waiting(locked: StudyUnderTest, settings) -> None:
    settings.TWINBLIND_HAND_OVER_PATIENCE = 0.1
    asked = ask(locked)
    with pytest.raises(Refused, match="in time"):
        approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)
    asked.refresh_from_db()
    assert (asked.state, asked.approved_by) == ("requested", None)
    assert Job.objects.get(kind="unblind").state == "failed"
    settings.TWINBLIND_HAND_OVER_PATIENCE = 20
    approve(locked, asked)
    assert locked.study.phase == "unblinded"


def test_a_job_that_is_given_no_key_puts_the_outer_layer_back(locked: StudyUnderTest, settings) -> None:
    settings.TWINBLIND_HAND_OVER_SECONDS = 0.1
    before, asked = key_of(locked), ask(locked)
    UnblindingRequest.objects.filter(pk=asked.pk).update(state="approved", approved_by=locked["admin"].pk)
    with transaction.atomic():
        job = jobs.enqueue("unblind", study=locked.study.pk, subject=asked.pk)
    jobs.run(job.pk)
    asked.refresh_from_db()
    job.refresh_from_db()
    assert (job.state, asked.state, locked.study.phase) == ("failed", "failed", "locked")
    assert key_of(locked) == before
    assert "handed over" in Event.objects.get(kind="unblinding_failed").facts["error"]


ALTERATIONS = {
    "a shown text": (
        "UPDATE annotation_app_output SET text = text || ' ' WHERE id = (SELECT id FROM annotation_app_output LIMIT 1)",
        "text or cluster of b-",
    ),
    "a label box": (
        "UPDATE blinding_sealedoutput SET labels = set_byte(labels, 60, get_byte(labels, 60) # 1)"
        " WHERE id = (SELECT id FROM blinding_sealedoutput LIMIT 1)",
        "seal of b-",
    ),
    "two label boxes exchanged": (
        "UPDATE blinding_sealedoutput s SET labels = o.labels FROM blinding_sealedoutput o"
        " WHERE s.id = (SELECT min(id::text)::uuid FROM blinding_sealedoutput)"
        " AND o.id = (SELECT max(id::text)::uuid FROM blinding_sealedoutput)",
        "not the one that was made at import",
    ),
    "an order": (
        "UPDATE annotation_app_assignment SET position = 100 - position WHERE member_id ="
        " (SELECT id FROM annotation_app_membership WHERE role = 'primary_A')",
        "orders are not those",
    ),
    "a root": ("UPDATE blinding_commitment SET merkle_root = repeat('0', 64)", "records are not those"),
    "a record": (
        "UPDATE annotation_app_record SET payload = jsonb_set(payload, '{confidence}', '0.25')"
        " WHERE id = (SELECT id FROM annotation_app_record LIMIT 1)",
        "hash was published",
    ),
}
TABLES = (
    "annotation_app_output",
    "blinding_sealedoutput",
    "annotation_app_assignment",
    "blinding_commitment",
    "annotation_app_record",
)


def altered(statement: str) -> None:
    """What the owner of the database could do: take the triggers off, change a row, put them back."""
    with transaction.atomic(), connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement)
        assert cursor.rowcount
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.mark.parametrize("what", ALTERATIONS)
def test_whatever_was_altered_is_named_and_nothing_is_opened(locked: StudyUnderTest, what: str) -> None:
    before = key_of(locked)
    statement, message = ALTERATIONS[what]
    altered(statement)
    asked = ask(locked)
    approve(locked, asked)
    asked.refresh_from_db()
    job = Job.objects.get(kind="unblind")
    assert (asked.state, locked.study.phase) == ("failed", "locked")
    assert message in job.error
    assert not RevealedLabel.objects.exists()
    assert key_of(locked) == before


def test_a_lock_is_not_undone_while_an_unblinding_is_asked_for(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    with pytest.raises(Refused, match="taken back"):
        change_phase(membership=locked["project_author"], to="review", reason=WHY)
    withdraw_request(membership=locked["project_author"], uid=asked.pk)
    change_phase(membership=locked["project_author"], to="review", reason=WHY)


def test_the_interface_speaks_of_a_request_to_key_holders_and_the_monitor(locked: StudyUnderTest) -> None:
    url = locked.url("unblinding/")
    body = {"reason": WHY, "passphrase": AUTHOR_PASSPHRASE}
    asked = locked.api("project_author").post(url, body)
    assert asked.status_code == 201
    uid = asked.json()["uid"]
    for name in ("project_author", "admin", "monitor"):
        assert locked.api(name).get(url).json()[0]["state"] == "requested"
    for name in ("primary_A", "primary_B", "adjudicator", "audit"):
        assert locked.api(name).get(url).status_code == 404
        assert locked.api(name).post(url, body).status_code == 404
    with a_worker():
        done = locked.api("admin").post(f"{url}{uid}/approve/", {"passphrase": ADMIN_PASSPHRASE})
    assert done.status_code == 202
    shown = locked.api("admin").get(url).json()[0]
    assert (shown["state"], shown["verification"]["outputs"], shown["job"]["state"]) == ("done", 8, "done")
    assert locked.api("project_author").post(f"{url}{uid}/withdraw/").status_code == 409
