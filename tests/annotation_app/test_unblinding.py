"""Asking, refusing, withdrawing: what the two people may do, and what stays as it was when it is not done."""

from datetime import timedelta

import pytest

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
from blinding import clock
from blinding.models import Event, Job
from tests.annotation_app.ceremony import ask, key_of
from tests.annotation_app.conftest import anew
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, PASSWORD, WHY, StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def locked_study(committed: None) -> StudyUnderTest:
    return a_study(phase="locked", outputs=rows(tasks=2, per_task=2))


@pytest.fixture
def locked(locked_study: StudyUnderTest) -> StudyUnderTest:
    health.worker_beat()
    return anew(locked_study)


def kinds(study: StudyUnderTest) -> list[str]:
    events = Event.objects.filter(study=study.study.pk, kind__startswith="unblinding").order_by("happened_at")
    return list(events.values_list("kind", flat=True))


@pytest.mark.parametrize("name", ["admin", "primary_A", "adjudicator", "monitor"])
def test_only_the_project_author_asks(locked: StudyUnderTest, name: str) -> None:
    with pytest.raises(Absent):
        request_unblinding(membership=locked[name], reason=WHY, passphrase=ADMIN_PASSPHRASE)


def test_only_the_admin_approves(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    with pytest.raises(Absent):
        approve_unblinding(membership=locked["project_author"], uid=asked.pk, passphrase=AUTHOR_PASSPHRASE)


def test_before_the_lock_nobody_can_ask() -> None:
    study = a_study("early", phase="coding")
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
        request_unblinding(
            membership=author, reason=WHY, passphrase=AUTHOR_PASSPHRASE, password="another one"
        )
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


def test_a_lock_is_not_undone_while_an_unblinding_is_asked_for(locked: StudyUnderTest) -> None:
    asked = ask(locked)
    with pytest.raises(Refused, match="taken back"):
        change_phase(membership=locked["project_author"], to="review", reason=WHY)
    withdraw_request(membership=locked["project_author"], uid=asked.pk)
    change_phase(membership=locked["project_author"], to="review", reason=WHY)
