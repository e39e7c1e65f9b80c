"""Members: adding, inviting, letting go."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation_app.models import Assignment
from blinding import clock
from blinding.models import Event
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import PASSWORD, StudyUnderTest, a_study, an_account, rows

pytestmark = pytest.mark.django_db


def add(study: StudyUnderTest, **fields: str) -> Any:
    sent = {"do": "add", "username": "kim", "role": "primary_A", "password": "", **fields}
    return study.client("admin").post(study.page("members/"), sent)


def let_go(study: StudyUnderTest, alias: str, reason: str = "Moved away.") -> Any:
    sent = {"do": "end", "alias": alias, "reason": reason}
    return study.client("admin").post(study.page("members/"), sent, follow=True)


def test_a_new_person_gets_an_invitation_that_is_shown_once() -> None:
    study = a_study()
    page = body_of(add(study))
    assert "http://testserver/invitations/" in page
    assert "http://testserver/invitations/" not in body_of(study.client("admin").get(study.page("members/")))
    assert not User.objects.get(username="kim").has_usable_password()


def test_an_existing_person_is_added_without_a_link() -> None:
    study = a_study()
    an_account("kim")
    page = body_of(add(study))
    assert "Added as" in page
    assert "invitations/" not in page


def test_a_new_person_with_a_password_can_sign_in() -> None:
    study = a_study()
    add(study, password=PASSWORD)
    assert User.objects.get(username="kim").check_password(PASSWORD)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"username": ""}, "This field is required."),
        ({"role": "king"}, "Select a valid choice."),
        ({"password": "12345"}, "This password is too short."),
    ],
)
def test_what_is_badly_filled_in_is_named(fields: dict[str, str], message: str) -> None:
    study = a_study()
    assert message in text_of(add(study, **fields), 422)


def test_one_person_has_one_role() -> None:
    study = a_study()
    add(study)
    assert "one person has exactly one" in text_of(add(study, role="adjudicator"), 409)


def test_nobody_joins_once_the_data_are_locked() -> None:
    study = a_study(phase="locked")
    assert "nobody joins this study any more" in text_of(add(study), 409)
    assert "Add a member" not in text_of(study.client("admin").get(study.page("members/")))


def test_who_leaves_is_gone_and_their_items_go_to_others() -> None:
    study = a_study(phase="coding", members={"primary_A": 2}, outputs=rows())
    leaver = study["primary_A2"]
    assert "12 items went to others." in text_of(let_go(study, leaver.alias))
    assert study["primary_A"].main_total == 24
    assert study.client("primary_A2").get(study.page()).status_code == 404
    assert not Assignment.objects.live().filter(member=leaver).exists()


def test_what_moves_is_told_in_words_that_fit_its_number() -> None:
    study = a_study(phase="coding", members={"primary_A": 3}, outputs=rows(tasks=1, per_task=3))
    assert "1 item went to somebody else." in text_of(let_go(study, study["primary_A"].alias))
    study.code_all("primary_A2")
    assert "There was no item to give to others." in text_of(let_go(study, study["primary_A2"].alias))


def test_the_admin_is_told_where_nobody_is_left_to_code() -> None:
    study = a_study(phase="coding", outputs=rows())
    page = text_of(let_go(study, study["primary_B"].alias))
    assert "has left the study." in page
    assert "Nobody else has the role" in page


def test_a_reason_is_needed_and_an_unknown_alias_is_absent() -> None:
    study = a_study()
    assert "Say why this member leaves" in text_of(let_go(study, study["primary_A"].alias, " "))
    assert study["primary_A"].ended_at is None
    assert let_go(study, "ZZ-999\0").status_code == 400


def test_the_admin_cannot_be_let_go() -> None:
    study = a_study()
    assert let_go(study, study["admin"].alias).status_code == 409
    page = body_of(study.client("admin").get(study.page("members/")))
    assert f"end-{study['admin'].alias}" not in page
    assert f"end-{study['monitor'].alias}" in page


def link_in(answer: Any) -> str:
    """Return the address of an invitation that an answer shows."""
    found = re.search(r"http://testserver(/invitations/\w+/)", body_of(answer))
    assert found is not None
    return found[1]


def change_invitation(study: StudyUnderTest, act: str, username: str = "kim") -> Any:
    alias = study.study.memberships.get(user__username=username).alias
    return study.client("admin").post(study.page("members/"), {"do": act, "alias": alias})


def choose(link: str, password: str = PASSWORD) -> Any:
    return Client().post(link, {"password": password, "again": password})


def test_an_invitation_names_the_user_it_is_for_and_signs_them_in() -> None:
    study = a_study()
    link = link_in(add(study))
    page = body_of(Client().get(link))
    assert 'value="kim" readonly' in page
    assert 'name="username"' not in page
    assert choose(link)["Location"] == "/"
    assert User.objects.get(username="kim").check_password(PASSWORD)


def test_a_weak_password_is_refused_and_the_link_still_works() -> None:
    link = link_in(add(a_study()))
    assert "This password is too short." in text_of(choose(link, "12345"), 422)
    assert choose(link).status_code == 302


def test_a_used_link_says_so_and_what_to_do() -> None:
    link = link_in(add(a_study()))
    choose(link)
    for answer in (Client().get(link), choose(link, "another heron at dusk")):
        page = text_of(answer, 409)
        assert "This invitation was used: a password was chosen with it." in page
        assert "sign in with your user name and that password" in page
        assert "kim" not in page
    assert User.objects.get(username="kim").check_password(PASSWORD)


def test_a_link_is_good_for_thirty_days() -> None:
    with clock.frozen_at(datetime(2031, 5, 1, 12, tzinfo=UTC)) as advance:
        study = a_study()
        link = link_in(add(study))
        advance(timedelta(days=30) - timedelta(seconds=1))
        assert "31 May 2031, 12:00 UTC" in text_of(Client().get(link))
        advance(timedelta(seconds=1))
        page = text_of(Client().get(link), 409)
        assert (
            "This invitation is more than 30 days old. Ask the person who invited you for a new link." in page
        )
        text_of(choose(link), 409)
        assert choose(link_in(change_invitation(study, "renew"))).status_code == 302


def test_a_link_that_nobody_has_says_that_it_does_not_work() -> None:
    page = text_of(Client().get(f"/invitations/{'0' * 48}/"), 404)
    assert "This link does not work. It may be incomplete, replaced by a newer one, or withdrawn." in page


def test_a_lost_link_is_made_anew_and_the_old_one_is_dead() -> None:
    study = a_study()
    old = link_in(add(study))
    answer = change_invitation(study, "renew")
    new = link_in(answer)
    assert "the old one does not work any more" in text_of(answer)
    assert new != old
    text_of(Client().get(old), 404)
    text_of(choose(old), 404)
    assert choose(new).status_code == 302
    event = Event.objects.get(kind="invitation_renewed")
    assert (event.actor, event.facts) == (study["admin"].pk, {})


def test_an_invitation_with_a_slip_is_withdrawn_and_its_name_is_free_again() -> None:
    study = a_study()
    link = link_in(add(study))
    alias = study.study.memberships.get(user__username="kim").alias
    assert change_invitation(study, "withdraw").status_code == 302
    text_of(Client().get(link), 404)
    assert not User.objects.filter(username="kim").exists()
    member = study.study.memberships.get(alias=alias)
    assert (member.user, member.ended_at is not None) == (None, True)
    assert Event.objects.get(kind="invitation_withdrawn").subject == member.pk
    assert choose(link_in(add(study, role="adjudicator"))).status_code == 302


def test_items_of_a_withdrawn_coder_go_to_others() -> None:
    study = a_study()
    add(study)
    study.to("coding")
    study.release(study.import_batch(rows(tasks=1)))
    page = text_of(
        study.client("admin").post(
            study.page("members/"),
            {"do": "withdraw", "alias": study.study.memberships.get(user__username="kim").alias},
            follow=True,
        )
    )
    assert "4 items went to others." in page


def test_items_of_a_coder_whom_a_program_withdraws_go_to_others() -> None:
    study = a_study()
    add(study)
    study.to("coding")
    study.release(study.import_batch(rows(tasks=1)))
    gone = study.study.memberships.get(user__username="kim")
    sent = {"alias": gone.alias, "invitation": "withdraw"}
    assert study.api("admin").patch(study.url("members/"), sent, format="json").status_code == 200
    assert not gone.assignments.filter(voided_at=None).exists()
    assert study["primary_A"].assignments.filter(voided_at=None, given_later=True).count() == 4


@pytest.mark.parametrize("act", ["renew", "withdraw"])
def test_an_account_with_a_password_keeps_it(act: str) -> None:
    study = a_study()
    choose(link_in(add(study)))
    assert "has a password already" in text_of(change_invitation(study, act), 409)
    assert User.objects.get(username="kim").check_password(PASSWORD)
    page = body_of(study.client("admin").get(study.page("members/")))
    assert "New link" not in page


@pytest.mark.parametrize("act", ["renew", "withdraw"])
def test_another_studys_admin_reaches_no_invitation(act: str) -> None:
    """Or they could sign in as a coder of this one."""
    study, other = a_study("riverside"), a_study("hillside")
    add(study)
    add(other)
    assert change_invitation(other, act).status_code == 409
    alias = study.study.memberships.get(user__username="kim").alias
    sent = {"do": act, "alias": alias}
    assert other.client("admin").post(other.page("members/"), sent).status_code == 404
    assert study.client("project_author").post(study.page("members/"), sent).status_code == 404


def test_an_account_that_another_study_uses_is_not_withdrawn() -> None:
    study, other = a_study("riverside"), a_study("hillside")
    add(study)
    add(other)
    assert "in use elsewhere" in text_of(change_invitation(study, "withdraw"), 409)
    assert User.objects.filter(username="kim").exists()


def test_the_list_says_who_has_not_come_yet() -> None:
    study = a_study()
    add(study)
    page = text_of(study.client("admin").get(study.page("members/")))
    assert "kim Annotator A invited, no password chosen yet New link" in page


def test_programs_make_a_link_anew_and_withdraw_it() -> None:
    study = a_study()
    old = link_in(add(study))
    program, address = study.api("admin"), study.url("members/")
    alias = study.study.memberships.get(user__username="kim").alias
    made = program.patch(address, {"alias": alias, "invitation": "renew"}, format="json").json()
    text_of(Client().get(old), 404)
    assert Client().get(made["invitation_url"]).status_code == 200
    assert [m["invited"] for m in program.get(address).json() if m["alias"] == alias] == [True]
    withdrawn = program.patch(address, {"alias": alias, "invitation": "withdraw"}, format="json")
    assert (withdrawn.status_code, withdrawn.json()) == (200, {"alias": alias})
    assert Client().get(made["invitation_url"]).status_code == 404
    assert program.patch(address, {"alias": alias, "invitation": "x"}, format="json").status_code == 400
