"""Public distributions: once, by the project author, after coding is closed, small counts suppressed."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from annotation_app.errors import Absent, Refused
from annotation_app.services.batches.release import discard_batch
from annotation_app.services.distributions import publish_distributions
from blinding.models import Event, TaskTally
from tests.annotation_app.ceremony import unblind
from tests.annotation_app.task_uploads import output, rows_that_hold, upload, zipped
from tests.blinding.task_metadata.packages import metadata, packages, task_toml
from tests.factories import StudyUnderTest, a_study

pytestmark = pytest.mark.django_db


def family(first: int, size: int, **changes: Any) -> list[dict[str, Any]]:
    return [metadata({"task_id": f"menu-{n}", **changes}) for n in range(first, first + size)]


def released(study: StudyUnderTest, *trees: dict[str, Any], number: int = 1) -> None:
    """Release one output with packages that are mostly without outputs."""
    study.release(upload(study, [output(number, trees[0]["task_id"])], *trees))


def in_review(*batches: list[dict[str, Any]]) -> StudyUnderTest:
    study = a_study(phase="coding")
    for number, trees in enumerate(batches):
        released(study, *trees, number=number)
    study.to("review")
    return study


def test_tasks_of_all_batches_are_added_up_and_each_counts_once() -> None:
    high = {"labels.t10_risk": "high", "veto_categories": ["unsafe_advice"]}
    first, second = family(1, 6), [*family(1, 3), *family(7, 5, **high)]
    study = in_review(first, second)
    document = publish_distributions(membership=study["project_author"]).document
    (only,) = document["families"]
    assert (only["family"], only["tasks"]) == ("bm-menus", 11)
    assert only["labels"]["t10_risk"] == {"counts": {"high": 5, "low": 6}, "suppressed": False}
    assert only["labels"]["t4_modalities"]["counts"] == {"imaging": 11, "text": 11}


def test_small_families_and_values_are_left_out() -> None:
    mixed = [
        *family(1, 6),
        *family(7, 2, **{"labels.t9_scale": "large_batch"}),
        *family(20, 4, family="bm-rare"),
    ]
    study = in_review(mixed)
    document = publish_distributions(membership=study["project_author"]).document
    assert document["families_suppressed"] is True
    assert "bm-rare" not in str(document)
    assert "large_batch" not in str(document)


def test_only_the_project_author_publishes_after_coding_and_once() -> None:
    study = a_study(phase="coding")
    released(study, *family(1, 6))
    with pytest.raises(Refused, match="closed"):
        publish_distributions(membership=study["project_author"])
    study.to("review")
    for name in ("admin", "monitor", "primary_A", "adjudicator"):
        with pytest.raises(Absent):
            publish_distributions(membership=study[name])
    publish_distributions(membership=study["project_author"])
    with pytest.raises(Refused, match="already"):
        publish_distributions(membership=study["project_author"])
    assert Event.objects.filter(kind="distributions_published").count() == 1


def test_without_metadata_there_is_nothing_to_publish() -> None:
    study = a_study(phase="coding")
    study.release(study.import_batch([output(1, "menu-1")]))
    study.to("review")
    with pytest.raises(Refused, match="metadata"):
        publish_distributions(membership=study["project_author"])


def test_anybody_reads_what_is_published_and_nobody_before() -> None:
    study = in_review(family(1, 6))
    page, document = f"/public/{study.slug}/distributions/", f"/api/v1/public/{study.slug}/distributions/"
    stranger = Client()
    assert (stranger.get(page).status_code, stranger.get(document).status_code) == (404, 404)
    for name in ("project_author", "admin", "monitor", "primary_A"):
        assert study.api(name).get(study.url("distributions/")).status_code == 409
    assert study.api("primary_A").post(study.url("distributions/")).status_code == 404
    made = study.api("project_author").post(study.url("distributions/"))
    assert made.status_code == 201
    assert study.api("project_author").post(study.url("distributions/")).status_code == 409
    assert stranger.get(document).json() == made.json()
    assert study.api("primary_B").get(study.url("distributions/")).json() == made.json()
    shown = stranger.get(page)
    assert shown.status_code == 200
    assert b"bm-menus" in shown.content
    assert stranger.get("/public/nowhere/distributions/").status_code == 404


def test_a_stranger_to_the_study_reads_it_in_public_only() -> None:
    study, other = in_review(family(1, 6)), a_study("elsewhere")
    publish_distributions(membership=study["project_author"])
    assert other.api("admin").get(study.url("distributions/")).status_code == 404


def test_tallies_are_closed_and_of_one_size() -> None:
    study = a_study(phase="coding")
    released(study, *family(1, 9))
    waiting = upload(study, None, *family(20, 2, family="bm-others"))
    assert rows_that_hold(["bm-menus", "bm-others", "single_case", "static_materials"]) == {}
    assert len({len(bytes(row.box)) for row in TaskTally.objects.all()}) == 1
    discard_batch(membership=study["admin"], uid=waiting.pk)
    assert TaskTally.objects.get().added_up


def test_batches_that_are_not_released_are_not_counted() -> None:
    study = a_study(phase="coding")
    released(study, *family(1, 6))
    upload(study, None, *family(20, 6, family="bm-others"))
    study.to("review")
    document = publish_distributions(membership=study["project_author"]).document
    assert [one["family"] for one in document["families"]] == ["bm-menus"]


def test_the_newest_of_two_versions_counts() -> None:
    old = metadata({"task_id": "menu-1", "task_version": "1.9.0", "labels.t9_scale": "large_batch"})
    new = metadata({"task_id": "menu-1", "task_version": "1.10.0"})
    study = a_study(phase="coding")
    versions = {f"tasks/{v}/menu-1/task.toml": task_toml(tree) for v, tree in (("old", old), ("new", new))}
    more = packages(*family(2, 5))
    batch = study.import_batch(zipped(None, **versions, **more), file_name="upload.zip")
    study.release(batch)
    study.to("review")
    document = publish_distributions(membership=study["project_author"]).document
    assert document["families"][0]["labels"]["t9_scale"]["counts"] == {"single_case": 6}


def test_another_secret_of_the_server_waits_for_the_unblinding(settings) -> None:
    study = in_review(family(1, 6))
    settings.SECRET_KEY = "another secret of the server"
    with pytest.raises(Refused, match="secret"):
        publish_distributions(membership=study["project_author"])


@pytest.mark.django_db(transaction=True)
def test_after_the_unblinding_the_metadata_themselves_are_counted(settings) -> None:
    high = {"labels.t10_risk": "high", "veto_categories": ["unsafe_advice"]}
    study = in_review(family(1, 6), [*family(1, 3), *family(7, 5, **high)])
    study.lock()
    unblind(study)
    settings.SECRET_KEY = "another secret of the server"
    document = publish_distributions(membership=study["project_author"]).document
    (only,) = document["families"]
    assert (only["tasks"], only["labels"]["t10_risk"]["counts"]) == (11, {"high": 5, "low": 6})


def test_what_was_published_stays() -> None:
    study = in_review(family(1, 6))
    publish_distributions(membership=study["project_author"])
    for statement in ("UPDATE %s SET document = '{}'", "DELETE FROM %s"):
        with pytest.raises(DatabaseError, match="are_never_changed"), transaction.atomic():
            connection.cursor().execute(statement % "blinding_publisheddistributions")
