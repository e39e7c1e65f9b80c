"""The studies that other tests build upon are what they say."""

import pytest

from annotation_app.models import Assignment, RecordOverlay
from tests.factories import a_study, rows

pytestmark = pytest.mark.django_db


def test_a_study_led_to_its_lock_has_every_pair_compared_and_every_case_decided() -> None:
    study = a_study(phase="locked", outputs=rows())
    assert study.study.phase == "locked"
    assert Assignment.objects.final().filter(slot__in=["A", "B"]).count() == 2 * 24
    decided = RecordOverlay.objects.exclude(adjudicated_value=None).count()
    assert decided == RecordOverlay.objects.filter(adjudication_required=True).count() > 0


def test_each_member_reaches_the_study_by_page_and_by_token() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1))
    for name in study.names:
        assert study.api(name).get(study.url()).json()["role"] == study[name].role
    assert study.client("primary_A").get(study.page("annotate/")).status_code == 200


def test_two_coders_of_a_slot_share_its_outputs() -> None:
    study = a_study(phase="coding", members={"primary_A": 2}, outputs=rows())
    assert study.code_all("primary_A") == study.code_all("primary_A2") == 12
