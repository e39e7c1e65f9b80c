"""Examples of clusters beside an item: never the item itself, and never a number that tells which cluster is its own."""

import pytest

from annotation_app.models import Assignment
from annotation_app.projections import AssignmentView, ClusterView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.items import served_item
from tests.factories import StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db


def clusters_beside_each_item(study: StudyUnderTest) -> list[tuple[str, list[ClusterView]]]:
    """Serve primary_A's items one by one; return text and clusters of each."""
    study.code_all("primary_A", first_answers)
    found = []
    for item in Assignment.objects.filter(member=study["primary_A"]):
        served = served_item(study["primary_A"].pk, item.pk)
        assert served is not None
        found.append((served.output.text, AssignmentView.of(served, study["primary_A"]).clusters))
    return found


@pytest.mark.parametrize("shown", ["after_own_choice", "never"])
def test_the_number_of_examples_does_not_tell_which_cluster_was_proposed(shown: str) -> None:
    protocol = {"exemplars": 2, "show_proposed_cluster": shown}
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=8), protocol=protocol)
    beside = clusters_beside_each_item(study)
    numbers = {tuple((c.code, len(c.exemplars)) for c in clusters) for _, clusters in beside}
    assert numbers == {(("C1", 2), ("C2", 2))}
    assert not [
        text for text, clusters in beside for c in clusters for e in c.exemplars if text.startswith(e)
    ]


def test_where_the_proposal_is_shown_a_cluster_of_one_output_still_has_its_example() -> None:
    outputs = rows(tasks=1, per_task=3)  # one cluster of two, one of one
    study = a_study(phase="coding", outputs=outputs, protocol={"exemplars": 2})
    assert next_assignment(membership=study["primary_A"]) is not None
    beside = clusters_beside_each_item(study)
    assert sorted(sum(len(c.exemplars) for c in clusters) for _, clusters in beside) == [2, 2, 2]
