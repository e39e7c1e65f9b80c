"""Giving an item back: it leaves the list, and its coder is not told what others have met."""

import pytest

from annotation_app.models import Assignment, Membership
from annotation_app.services.assignments import next_assignment
from annotation_app.services.exposures import opt_out
from annotation_app.services.members import add_member, end_membership
from blinding.models import Exposure
from tests.annotation_app.conftest import anew
from tests.annotation_app.pages.reading import text_of
from tests.factories import PASSWORD, StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(committed: None) -> StudyUnderTest:
    return a_study(phase="coding", outputs=rows(2, 3), members={"primary_B": 2})


@pytest.fixture
def made(shared: StudyUnderTest) -> StudyUnderTest:
    return anew(shared)


def _next(member: Membership) -> Assignment:
    item = next_assignment(membership=member)
    assert item is not None
    return item


def test_an_item_is_given_back_without_looking_like_an_exposure(made: StudyUnderTest) -> None:
    coder = made["primary_B"]
    item = _next(coder)
    opt_out(membership=coder, uid=item.pk)
    assert not Exposure.objects.exists()
    assert Assignment.objects.get(pk=item.pk).void_reason == "opted_out"
    assert Assignment.objects.filter(
        output=item.output_id, member=made["primary_B2"].pk, voided_at=None
    ).exists()


def test_who_gives_an_item_back_is_not_told_whether_anybody_is_left_for_it(made: StudyUnderTest) -> None:
    """One coder of slot A stands alone, two of slot B can take each other's items once."""
    answers = {}
    for name in ("primary_A", "primary_B"):
        item, total = _next(made[name]), made[name].main_total
        answer = made.client(name).post(made.page(f"annotate/{item.pk}/skip/"), {"how": "opt_out"})
        assert Assignment.objects.get(pk=item.pk).void_reason == "opted_out"
        assert _next(made[name]).position == 2
        answers[name] = (answer.status_code, answer["Location"], made[name].main_total - total)
    assert answers["primary_A"] == answers["primary_B"] == (302, made.page("annotate/"), -1)


def test_an_item_that_nobody_is_left_for_is_counted_for_the_admin_and_goes_to_a_newcomer(
    made: StudyUnderTest,
) -> None:
    item = _next(made["primary_A"])
    opt_out(membership=made["primary_A"], uid=item.pk)
    opt_out(membership=made["primary_B"], uid=_next(made["primary_B"]).pk)
    for name in ("admin", "project_author"):
        assert made.api(name).get(made.url()).json()["counts"]["without_coder"] == 1
        assert "Codes nobody is left for 1" in text_of(made.client(name).get(made.page()))
    assert "without_coder" not in made.api("primary_A").get(made.url()).json()["counts"]
    newcomer = add_member(membership=made["admin"], username="late", role="primary_A", password=PASSWORD)
    given = Assignment.objects.get(member__alias=newcomer.alias)
    assert (given.output_id, given.slot, given.given_later) == (item.output_id, "A", True)
    assert made.api("admin").get(made.url()).json()["counts"]["without_coder"] == 0


def test_what_the_only_coder_of_a_slot_left_open_goes_to_who_joins_next(made: StudyUnderTest) -> None:
    """What they submitted stays theirs."""
    assert made.code_all("primary_A", at_most=1) == 1
    open_before = set(
        Assignment.objects.filter(member=made["primary_A"], submitted_at=None).values_list(
            "output", flat=True
        )
    )
    end_membership(membership=made["admin"], alias=made["primary_A"].alias, reason="Moves away.")
    assert made.api("admin").get(made.url()).json()["counts"]["without_coder"] == len(open_before) == 5
    newcomer = add_member(membership=made["admin"], username="late", role="primary_A", password=PASSWORD)
    given = Assignment.objects.filter(member__alias=newcomer.alias)
    assert set(given.values_list("output", flat=True)) == open_before
    assert made.api("admin").get(made.url()).json()["counts"]["without_coder"] == 0
