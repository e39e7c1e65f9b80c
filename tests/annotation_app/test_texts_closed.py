"""After the lock no coder reads a text again, on any page or endpoint: the policy's table gives them nothing then."""

from typing import Any
from uuid import UUID

import pytest

from adjudication.models import Case
from annotation_app.models import Assignment, Output
from tests.annotation_app.ceremony import unblind
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {"share": 1, "conditions": ["meadow", "harbour"], "models": []}
CODERS = ("primary_A", "primary_B", "audit", "adjudicator")


@pytest.fixture
def study() -> StudyUnderTest:
    protocol = {"audit_share": 1, "guess": ASKED}
    made = a_study(phase="coding", outputs=rows(tasks=2, per_task=4), protocol=protocol)
    for name in ("primary_A", "primary_B", "audit"):
        made.code_all(name)
    made.settle()
    made.decide_all(at_most=1)
    return made


def addresses_of(study: StudyUnderTest, name: str) -> list[str]:
    own = [UUID(str(pk)) for pk in Assignment.objects.filter(member=study[name]).values_list("pk", flat=True)]
    assert own, name
    held = Case.objects.filter(assignment__member=study[name]).values_list("pk", flat=True)
    rest = [
        "annotate/",
        "records/",
        "closing/",
        "cases/",
        "",
        "codebook/",
        *(f"annotate/{pk}/" for pk in own),
    ]
    return [study.page(part) for part in (*rest, *(f"cases/{pk}/" for pk in held))]


def answers_to(study: StudyUnderTest, name: str) -> list[Any]:
    browser, program = study.client(name), study.api(name)
    ends = ("assignments/next/", "guesses/next/", "cases/next/")
    return [*map(browser.get, addresses_of(study, name)), *(program.get(study.url(end)) for end in ends)]


@pytest.mark.parametrize("name", CODERS)
def test_after_the_lock_no_text_is_served(study: StudyUnderTest, name: str) -> None:
    texts = list(Output.objects.values_list("text", flat=True))
    assert any(text in body_of(a) for a in answers_to(study, name) for text in texts) or name == "adjudicator"
    for close in (study.lock, lambda: unblind(study)):
        close()
        answers = answers_to(study, name)
        assert not any(text in body_of(a) for a in answers for text in texts)
        assert {a.status_code for a in answers} <= {200, 302, 404, 409}


def test_an_item_after_the_lock_says_that_texts_are_closed_and_records_are_listed(
    study: StudyUnderTest,
) -> None:
    item = Assignment.objects.filter(member=study["primary_A"])[0].pk
    page = study.page(f"annotate/{item}/")
    assert study.client("primary_A").get(page).status_code == 200
    assert page in body_of(study.client("primary_A").get(study.page("records/")))
    study.lock()
    assert "Texts are closed to you now." in text_of(study.client("primary_A").get(page), 409)
    assert study.client("primary_B").get(page).status_code == 404
    listed = study.client("primary_A").get(study.page("records/"))
    assert "final" in text_of(listed)
    assert page not in body_of(listed)
