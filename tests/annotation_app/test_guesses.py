"""Closing guesses: asked once all is final, given once, told to nobody."""

import pytest

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Guess
from annotation_app.services.guesses import guess, guesses_due, next_guess
from blinding.models import Event
from blinding.policy import Role
from tests.annotation_app.conftest import anew
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db

ASKED = {"share": 0.5, "conditions": ["meadow", "harbour"], "models": ["quartz-1", "basalt-2"]}


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(phase="coding", outputs=rows(tasks=2, per_task=4), protocol={"guess": ASKED})


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def test_nothing_is_asked_before_all_items_are_final(made: StudyUnderTest) -> None:
    made.code_all("primary_A", at_most=7)
    made.finalise()
    assert guesses_due(membership=made["primary_A"]) == 0
    with pytest.raises(Refused, match="final"):
        next_guess(membership=made["primary_A"])
    made.code_all("primary_A")
    assert guesses_due(membership=made["primary_A"]) == 0
    made.finalise()
    assert guesses_due(membership=made["primary_A"]) == 4


def test_when_coding_is_closed_the_rest_can_still_be_guessed_at(made: StudyUnderTest) -> None:
    made.code_all("primary_A", at_most=7)
    made.to("review")
    assert guesses_due(membership=made["primary_A"]) in (3, 4)
    made.settle()
    made.lock()
    assert guesses_due(membership=made["primary_A"]) == 0
    with pytest.raises(Refused, match="locked"):
        next_guess(membership=made["primary_A"])


def test_a_share_is_shown_again_in_order_and_each_is_asked_once(made: StudyUnderTest) -> None:
    made.code_all("primary_A"), made.finalise()
    numbers, seen = [], set()
    while (item := next_guess(membership=made["primary_A"])) is not None:
        assert [question.key for question in item.questions] == ["g1", "g2"]
        assert [option["value"] for option in item.questions[0].options] == ["", "meadow", "harbour"]
        assert "turn number" in item.text
        guess(
            membership=made["primary_A"],
            uid=item.assignment_uid,
            answers={"g1": "harbour", "g2": None},
            reason="Style.",
        )
        with pytest.raises(Refused, match="already"):
            guess(membership=made["primary_A"], uid=item.assignment_uid, answers={"g1": "", "g2": ""})
        numbers.append((item.number, item.total))
        seen.add(item.assignment_uid)
    assert numbers == [(n, 4) for n in range(1, 5)]
    stored = Guess.objects.filter(assignment__in=seen)
    assert set(stored.values_list("condition", "model", "reason")) == {("harbour", "", "Style.")}
    assert Event.objects.filter(kind="guess_given").count() == 4
    assert "harbour" not in str(list(Event.objects.filter(kind="guess_given").values()))


def test_answers_are_those_listed_and_all_of_them(made: StudyUnderTest) -> None:
    made.code_all("primary_A"), made.finalise()
    item = next_guess(membership=made["primary_A"])
    assert item is not None
    for wrong in ({"g1": "meadow"}, {"g1": "elsewhere", "g2": ""}, {"g1": "", "g2": "", "g3": ""}):
        with pytest.raises(Invalid):
            guess(membership=made["primary_A"], uid=item.assignment_uid, answers=wrong)
    assert not Guess.objects.exists()


def test_nobody_guesses_at_another_s_item_and_others_are_not_asked(made: StudyUnderTest) -> None:
    for name in ("primary_A", "primary_B"):
        made.code_all(name)
    made.finalise()
    item = next_guess(membership=made["primary_A"])
    assert item is not None
    with pytest.raises(Absent):
        guess(membership=made["primary_B"], uid=item.assignment_uid, answers={"g1": "", "g2": ""})
    for role in set(Role) - {Role.PRIMARY_A, Role.PRIMARY_B}:
        with pytest.raises(Absent):
            next_guess(membership=made[role.value])


def test_where_the_protocol_lists_no_choices_nothing_is_asked() -> None:
    study = a_study("unasked", phase="coding", outputs=rows(tasks=1, per_task=2))
    study.code_all("primary_A"), study.finalise()
    assert next_guess(membership=study["primary_A"]) is None


def test_the_interface_asks_and_takes(made: StudyUnderTest) -> None:
    api, url = made.api("primary_A"), made.url("guesses/")
    assert api.get(f"{url}next/").status_code == 409
    made.code_all("primary_A"), made.finalise()
    item = api.get(f"{url}next/").json()
    assert "condition" not in item
    assert "model" not in item
    answered = api.post(f"{url}{item['assignment_uid']}/", {"answers": {"g1": "", "g2": "quartz-1"}})
    assert (answered.status_code, answered.json()) == (201, {"recorded": True})
    for _ in range(3):
        item = api.get(f"{url}next/").json()
        api.post(f"{url}{item['assignment_uid']}/", {"answers": {"g1": "", "g2": ""}})
    assert api.get(f"{url}next/").status_code == 204
