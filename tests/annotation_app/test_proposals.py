"""When a coder learns into which cluster an output was grouped."""

import re

import pytest

from annotation_app.models import Output
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db


def opened(mode: str) -> tuple[StudyUnderTest, dict[str, object], str]:
    """Return a study in which an item is open, the item over REST, and the code of its proposed cluster."""
    study = a_study(
        protocol={"show_proposed_cluster": mode}, phase="coding", outputs=rows(tasks=1, per_task=2)
    )
    item = study.api("primary_A").get(study.url("assignments/next/")).json()
    output = Output.objects.get(assignments=item["assignment_uid"])
    assert output.cluster is not None
    return study, item, output.cluster.code


def shown_on_the_page(study: StudyUnderTest) -> str:
    """Return the words beside the picker."""
    html = study.client("primary_A").get(study.page("annotate/")).content.decode()
    found = re.search(r"<span data-proposed-note>(.*?)</span>", html)
    assert found is not None
    return found[1]


def test_from_the_start_it_is_preset():
    study, item, code = opened("from_start")
    assert item["proposed_cluster"] == code
    assert shown_on_the_page(study) == f"grouped into {code}"


def test_never_is_never():
    study, item, _ = opened("never")
    assert item["proposed_cluster"] is None
    answer = draft(study, item, {"f1": "1", "f1-cluster": "C1"})
    assert set(answer) == {"version", "saved_at"}
    assert "grouped into" not in shown_on_the_page(study)


def test_after_an_own_choice_is_stored_it_is_shown_and_stays_shown():
    study, item, code = opened("after_own_choice")
    assert item["proposed_cluster"] is None
    assert shown_on_the_page(study) == ""
    assert "proposed_cluster" not in draft(study, item, {"f1": "1"})
    assert "proposed_cluster" not in draft(study, item, {"f1-cluster": "C1"}, version=1)
    assert draft(study, item, {"f1": "1", "f1-cluster": "C1"}, version=2)["proposed_cluster"] == code
    assert shown_on_the_page(study) == f"grouped into {code}"


def draft(
    study: StudyUnderTest, item: dict[str, object], fields: dict[str, str], version: int = 0
) -> dict[str, object]:
    place = study.url(f"assignments/{item['assignment_uid']}/draft/")
    answer = study.api("primary_A").put(place, {"fields": fields, "version": version}, format="json")
    assert answer.status_code == 200
    return dict(answer.json())
