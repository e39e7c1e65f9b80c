"""Members: adding, inviting, letting go."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation_app.models import Assignment
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
