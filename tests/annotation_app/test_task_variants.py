"""Variants of one task: spaced, and never with the same coder where the slot has two."""

from collections import defaultdict

import pytest

from annotation_app.models import Assignment
from annotation_app.services.reassignment import find_fresh_coder, void_assignment
from tests.annotation_app.task_uploads import output, upload
from tests.blinding.task_metadata.packages import metadata, variant
from tests.factories import StudyUnderTest, a_study

pytestmark = pytest.mark.django_db

TWO = {"primary_A": 2, "primary_B": 2}


def who_coded(study: StudyUnderTest) -> dict[str, set[str]]:
    found = defaultdict(set)
    for task_id, alias in Assignment.objects.filter(study=study.study).values_list(
        "output__task__task_id", "member__alias"
    ):
        found[task_id].add(alias)
    return found


def test_variants_in_one_batch_go_to_different_coders() -> None:
    study = a_study(phase="coding", members=TWO)
    outputs = [output(f"{name}-{n}", name) for name in ("menu-1", "menu-1-b") for n in range(4)]
    study.release(upload(study, outputs, metadata(), variant("menu-1-b", "menu-1")))
    coded = who_coded(study)
    assert not coded["menu-1"] & coded["menu-1-b"]


def test_a_variant_in_a_later_batch_goes_to_those_who_have_not_met_the_original() -> None:
    study = a_study(phase="coding", members=TWO)
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    study.release(
        upload(study, [output(f"v{n}", "menu-1-b") for n in range(3)], variant("menu-1-b", "menu-1"))
    )
    coded = who_coded(study)
    assert len(coded["menu-1"]) == len(coded["menu-1-b"]) == 2
    assert not coded["menu-1"] & coded["menu-1-b"]


def test_a_fresh_coder_is_one_who_met_no_variant_if_there_is_one() -> None:
    study = a_study(phase="coding", members={"primary_A": 3, "primary_B": 2})
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    study.release(upload(study, [output(2, "menu-1-b")], variant("menu-1-b", "menu-1")))
    items = Assignment.objects.filter(slot="A")
    first, second = (items.get(output__task__task_id=name) for name in ("menu-1", "menu-1-b"))
    void_assignment(second, "exposed")
    fresh = find_fresh_coder(second)
    assert fresh is not None
    assert fresh.member_id not in (first.member_id, second.member_id)
