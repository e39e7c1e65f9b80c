"""Changing a passphrase, and what the recovery sheets are for."""

import pytest

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.services.keys import add_second_half, change_passphrase, recover_passphrase
from annotation_app.services.passphrases import strength
from annotation_app.services.unblinding import open_request, request_unblinding, withdraw_request
from blinding import sealing
from blinding.models import Event, StudyKey
from tests.annotation_app.ceremony import ask
from tests.annotation_app.conftest import anew
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, WHY, StudyUnderTest, a_study

pytestmark = pytest.mark.django_db

NEW = "three swallows in may"


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(phase="locked")


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def opened_with(study: StudyUnderTest, author: str, admin: str) -> bool:
    """Whether the two passphrases open the key that the study seals with."""
    key = StudyKey.objects.get(study=study.study.pk)
    try:
        private = sealing.open_inner(sealing.open_outer(bytes(key.wrapped), author), admin)
    except sealing.WrongPassphrase:
        return False
    return sealing.public_key_of(private) == bytes(key.public_key)


def test_both_halves_open_the_key(made: StudyUnderTest) -> None:
    assert opened_with(made, AUTHOR_PASSPHRASE, ADMIN_PASSPHRASE)
    assert not opened_with(made, AUTHOR_PASSPHRASE, AUTHOR_PASSPHRASE)


def test_tests_alone_make_guesses_cheap(settings) -> None:
    settings.TWINBLIND_ARGON2 = "moderate"
    assert strength() == sealing.MODERATE


def test_the_project_author_changes_their_passphrase(made: StudyUnderTest) -> None:
    change_passphrase(membership=made["project_author"], old=AUTHOR_PASSPHRASE, new=NEW)
    assert opened_with(made, NEW, ADMIN_PASSPHRASE)
    assert not opened_with(made, AUTHOR_PASSPHRASE, ADMIN_PASSPHRASE)


def test_the_project_author_recovers_with_their_own_sheet_only(made: StudyUnderTest) -> None:
    author = made["project_author"]
    with pytest.raises(Refused, match="recovery sheet"):
        recover_passphrase(membership=author, code=made.recovery_sheets["admin"], new=NEW)
    with pytest.raises(Refused, match="recovery sheet"):
        recover_passphrase(membership=author, code="AAAAA-BBBBB", new=NEW)
    recover_passphrase(membership=author, code=made.recovery_sheets["project_author"].lower(), new=NEW)
    assert opened_with(made, NEW, ADMIN_PASSPHRASE)


def test_the_admin_needs_the_other_half_once_it_is_around(made: StudyUnderTest) -> None:
    admin = made["admin"]
    with pytest.raises(Refused) as refusal:
        change_passphrase(membership=admin, old=ADMIN_PASSPHRASE, new=NEW)
    assert refusal.value.code == "other_half_needed"
    with pytest.raises(Refused, match="not the passphrase"):
        change_passphrase(membership=admin, old=ADMIN_PASSPHRASE, new=NEW, partner=ADMIN_PASSPHRASE)
    change_passphrase(membership=admin, old=ADMIN_PASSPHRASE, new=NEW, partner=AUTHOR_PASSPHRASE)
    assert opened_with(made, AUTHOR_PASSPHRASE, NEW)


def test_the_admin_recovers_together_with_the_project_author(made: StudyUnderTest) -> None:
    sheet = made.recovery_sheets["admin"]
    recover_passphrase(membership=made["admin"], code=sheet, new=NEW, partner=AUTHOR_PASSPHRASE)
    assert opened_with(made, AUTHOR_PASSPHRASE, NEW)


def test_while_an_unblinding_is_asked_for_the_admin_s_sheet_is_enough_for_it(made: StudyUnderTest) -> None:
    asked = ask(made)
    recover_passphrase(membership=made["admin"], code=made.recovery_sheets["admin"], new=NEW)
    bare = bytes(StudyKey.objects.get(study=made.study.pk).wrapped)
    assert sealing.open_inner(bare, NEW)
    withdraw_request(membership=made["project_author"], uid=asked.pk)
    assert opened_with(made, AUTHOR_PASSPHRASE, ADMIN_PASSPHRASE)


def test_with_both_people_the_change_outlives_the_request(made: StudyUnderTest) -> None:
    asked = ask(made)
    change_passphrase(membership=made["admin"], old=ADMIN_PASSPHRASE, new=NEW, partner=AUTHOR_PASSPHRASE)
    assert sealing.open_inner(bytes(StudyKey.objects.get(study=made.study.pk).wrapped), NEW)
    withdraw_request(membership=made["project_author"], uid=asked.pk)
    assert opened_with(made, AUTHOR_PASSPHRASE, NEW)


def test_the_project_author_changes_nothing_while_their_layer_is_off(made: StudyUnderTest) -> None:
    ask(made)
    with pytest.raises(Refused, match="Take the request back"):
        change_passphrase(membership=made["project_author"], old=AUTHOR_PASSPHRASE, new=NEW)
    assert open_request(made.study.pk)


def test_before_the_second_half_the_admin_changes_alone() -> None:
    study = a_study("fresh")
    key = StudyKey.objects.get(study=study.study.pk)
    key.wrapped, key.layers = sealing.open_outer(bytes(key.wrapped), AUTHOR_PASSPHRASE), 1
    key.save()
    change_passphrase(membership=study["admin"], old=ADMIN_PASSPHRASE, new=NEW)
    with pytest.raises(Refused, match="not in place"):
        change_passphrase(membership=study["project_author"], old=AUTHOR_PASSPHRASE, new=NEW)
    add_second_half(membership=study["project_author"], passphrase=AUTHOR_PASSPHRASE)
    assert opened_with(study, AUTHOR_PASSPHRASE, NEW)


def test_a_lost_passphrase_does_not_stand_in_the_way_of_the_ceremony(made: StudyUnderTest) -> None:
    recover_passphrase(
        membership=made["project_author"], code=made.recovery_sheets["project_author"], new=NEW
    )
    request_unblinding(membership=made["project_author"], reason=WHY, passphrase=NEW)


def test_a_new_passphrase_is_long_enough_and_only_key_holders_have_one(made: StudyUnderTest) -> None:
    with pytest.raises(Invalid):
        change_passphrase(membership=made["project_author"], old=AUTHOR_PASSPHRASE, new="short")
    for name in ("primary_A", "monitor", "adjudicator"):
        with pytest.raises(Absent):
            change_passphrase(membership=made[name], old=AUTHOR_PASSPHRASE, new=NEW)


def test_the_interface_changes_and_recovers_and_writes_it_down(made: StudyUnderTest) -> None:
    api, url = made.api("project_author"), made.url("key/")
    assert api.post(f"{url}passphrase/", {"old": AUTHOR_PASSPHRASE, "new": NEW}).status_code == 204
    wrong = api.post(f"{url}passphrase/", {"old": AUTHOR_PASSPHRASE, "new": NEW})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "wrong_passphrase")
    code = made.recovery_sheets["project_author"]
    assert api.post(f"{url}recovery/", {"code": code, "new": AUTHOR_PASSPHRASE}).status_code == 204
    for _ in range(4):
        api.post(f"{url}passphrase/", {"old": NEW, "new": NEW})
    assert api.post(f"{url}passphrase/", {"old": AUTHOR_PASSPHRASE, "new": NEW}).status_code == 429
    kinds = Event.objects.filter(study=made.study.pk, actor=made["project_author"].pk)
    written = list(
        kinds.filter(kind__startswith="passphrase").order_by("happened_at").values_list("kind", flat=True)
    )
    assert written == [
        "passphrase_changed",
        "passphrase_refused",
        "passphrase_recovered",
        *["passphrase_refused"] * 4,
    ]
    assert made.api("primary_A").post(f"{url}passphrase/", {"old": "x", "new": NEW}).status_code == 404
