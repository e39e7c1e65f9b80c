"""Task packages on their way in: checked, matched with outputs, sealed, and what of them may be known afterwards."""

import pytest

from annotation_app.models import Batch, Task
from annotation_app.services.batches.release import discard_batch
from blinding.models import DeclaredLabels, SealedTask, TaskTally
from tests.annotation_app.task_uploads import output, rows_that_hold, upload, zipped
from tests.blinding.task_metadata.packages import metadata, task_toml, variant
from tests.factories import StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db

CLOSED = (
    "bm-menus",
    "menu.md",
    "gr-hygiene",
    "menu-code-2",
    "Atlantis",
    "foreign_body",
    "missing_information",
    "lay-table",
)


@pytest.fixture
def study() -> StudyUnderTest:
    return a_study(phase="coding")


def task(study: StudyUnderTest, task_id: str, version: str = "") -> Task:
    return Task.objects.get(study=study.study, task_id=task_id, task_version=version)


def codes(batch: Batch) -> list[str]:
    assert batch.status == Batch.Status.REJECTED
    return sorted(error["code"] for error in batch.errors)


def two_versions() -> dict[str, bytes]:
    trees = metadata(), metadata({"task_version": "1.1.0"})
    return {f"tasks/{tree['task_version']}/menu-1/task.toml": task_toml(tree) for tree in trees}


def test_packages_are_sealed_with_the_outputs(study: StudyUnderTest) -> None:
    batch = upload(
        study, [output(1, "menu-1"), output(2, "menu-1")], metadata(), metadata({"task_id": "menu-2"})
    )
    assert (batch.status, batch.rows, batch.summary["packages"]) == ("in_review", 2, 2)
    assert batch.summary["stand_in_used"] is True
    assert SealedTask.objects.filter(batch=batch.pk).count() == 2
    lengths = {len(bytes(box)) for box in SealedTask.objects.values_list("box", flat=True)}
    assert len(lengths) == 1


def test_no_closed_value_is_in_any_table_before_or_after_the_release(study: StudyUnderTest) -> None:
    batch = upload(
        study, [output(1, "menu-1"), output(2, "menu-2")], metadata(), metadata({"task_id": "menu-2"})
    )
    assert rows_that_hold(CLOSED) == {}
    study.release(batch)
    assert rows_that_hold(CLOSED) == {}
    assert "annotation_app_task" in rows_that_hold(["menu-2"])["menu-2"]


def test_a_zip_of_packages_alone_is_taken(study: StudyUnderTest) -> None:
    first = upload(study, None, metadata(), metadata({"task_id": "menu-2"}))
    assert (first.status, first.rows, first.summary["packages"]) == ("in_review", 0, 2)
    study.release(first)
    assert Task.objects.filter(study=study.study).count() == 2
    later = study.import_batch([output(1, "menu-2", task_version="1.0.0")])
    study.release(later)
    assert task(study, "menu-2", "1.0.0").outputs.count() == 1


def test_two_versions_in_one_zip_are_both_sealed(study: StudyUnderTest) -> None:
    files = two_versions()
    outputs = [output(1, "menu-1", task_version="1.0.0"), output(2, "menu-1", task_version="1.1.0")]
    batch = study.import_batch(zipped(outputs, **files), file_name="upload.zip")
    assert batch.status == "in_review", batch.errors
    assert sorted(SealedTask.objects.values_list("version", flat=True)) == ["1.0.0", "1.1.0"]


def test_outputs_without_a_version_need_one_package_only(study: StudyUnderTest) -> None:
    files = two_versions()
    batch = study.import_batch(zipped([output(1, "menu-1")], **files), file_name="upload.zip")
    assert codes(batch) == ["ambiguous_task_version"]


def test_outputs_of_a_version_without_a_package_are_refused(study: StudyUnderTest) -> None:
    assert codes(upload(study, [output(1, "menu-1", task_version="2.0.0")], metadata())) == ["unknown_task"]


def test_a_sealed_version_never_changes(study: StudyUnderTest) -> None:
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    again = upload(study, [output(2, "menu-1")], metadata())
    assert again.status == "in_review", again.errors
    changed = upload(study, [output(3, "menu-1")], metadata({"labels.t10_risk": "medium"}))
    assert codes(changed) == ["metadata_invalid"]
    assert "task_version_changed" in changed.errors[0]["message"]


def test_what_is_the_same_is_still_known_under_a_new_secret_of_the_server(
    study: StudyUnderTest, settings
) -> None:
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another secret of the server", [settings.SECRET_KEY]
    again = upload(study, [output(2, "menu-1")], metadata())
    assert again.status == "in_review", again.errors


def test_an_unversioned_task_keeps_the_version_it_was_sealed_under(study: StudyUnderTest) -> None:
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    later = upload(study, [output(2, "menu-1")], metadata({"task_version": "1.1.0"}))
    assert codes(later) == ["ambiguous_task_version"]


def test_a_variant_of_a_later_batch_shares_the_code_of_its_original(study: StudyUnderTest) -> None:
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    assert task(study, "menu-1").variant_group == ""
    study.release(upload(study, [output(2, "menu-1-b")], variant("menu-1-b", "menu-1")))
    study.release(upload(study, [output(3, "menu-1-c")], variant("menu-1-c", "menu-1")))
    groups = {task(study, name).variant_group for name in ("menu-1", "menu-1-b", "menu-1-c")}
    assert len(groups) == 1
    assert "" not in groups


def test_tasks_without_variants_have_no_group(study: StudyUnderTest) -> None:
    trees = metadata(), variant("menu-1-b", "menu-1"), metadata({"task_id": "menu-2"})
    upload(study, [output(1, "menu-1"), output(2, "menu-1-b"), output(3, "menu-2")], *trees)
    assert task(study, "menu-1").variant_group == task(study, "menu-1-b").variant_group != ""
    assert task(study, "menu-2").variant_group == ""


def test_outputs_of_the_calibration_split_stay_out_of_main_batches(study: StudyUnderTest) -> None:
    calib = metadata({"split": "calib"})
    assert codes(upload(study, [output(1, "menu-1")], calib)) == ["calibration_split"]
    alone = upload(study, [output(1, "menu-2")], calib, metadata({"task_id": "menu-2"}))
    assert alone.status == "in_review"
    assert task(study, "menu-1", "1.0.0").calibration_split
    later = study.import_batch([output(2, "menu-1", task_version="1.0.0")])
    assert codes(later) == ["calibration_split"]


def test_a_calibration_batch_takes_the_calibration_split() -> None:
    study = a_study(phase="training")
    batch = upload(
        study, [output(1, "menu-1"), output(2, "menu-1")], metadata({"split": "calib"}), purpose="calibration"
    )
    study.release(batch)
    assert task(study, "menu-1").calibration_split


def test_a_task_that_came_first_without_its_split_stops_the_release(study: StudyUnderTest) -> None:
    waiting = study.import_batch([output(1, "menu-1", task_version="1.0.0")])
    upload(study, None, metadata({"split": "calib"}))
    detail = study.api("admin").post(study.url(f"batches/{waiting.pk}/release/"), {"reason": "one arm"})
    assert detail.status_code == 409
    assert "calibration split" in detail.json()["detail"]


def test_the_admin_sees_warnings_until_the_release(study: StudyUnderTest) -> None:
    batch = upload(study, [output(1, "menu-1")], metadata({"capabilities": ["A.1", "A.1"]}))
    url = study.url(f"batches/{batch.pk}/")
    seen = study.api("admin").get(url).json()
    (warning,) = seen["lint"]["warnings"]
    assert (warning["path"], warning["rule"]) == ("tasks/menu-1/task.toml", "duplicate_capability")
    assert seen["counts"]["stand_in_used"] is True
    assert "lint" not in seen["counts"]
    study.release(batch)
    assert study.api("admin").get(url).json()["lint"] is None
    assert "annotation_app_batch" not in rows_that_hold(["duplicate_capability"]).get(
        "duplicate_capability", []
    )


def test_errors_of_packages_are_forgotten_with_the_next_release(study: StudyUnderTest) -> None:
    bad = upload(study, [output(1, "menu-1")], metadata({"labels.t10_risk": "high"}))
    assert set(codes(bad)) == {"metadata_invalid"}
    study.release(upload(study, [output(1, "menu-1")], metadata()))
    bad.refresh_from_db()
    assert (bad.errors, bad.errors_total > 0) == ([], True)


def test_what_a_discarded_batch_brought_is_gone(study: StudyUnderTest) -> None:
    batch = upload(
        study, [output(1, "menu-2")], metadata({"split": "calib"}), metadata({"task_id": "menu-2"})
    )
    discard_batch(membership=study["admin"], uid=batch.pk)
    assert not SealedTask.objects.exists()
    assert not TaskTally.objects.exists()
    assert not task(study, "menu-1", "1.0.0").calibration_split
    changed = upload(study, [output(1, "menu-1")], metadata())
    assert changed.status == "in_review", changed.errors


def test_discarding_one_batch_leaves_what_another_brought_too(study: StudyUnderTest) -> None:
    first = upload(study, [output(1, "menu-1")], metadata())
    second = upload(study, [output(2, "menu-1")], metadata())
    discard_batch(membership=study["admin"], uid=first.pk)
    assert SealedTask.objects.get().batch == second.pk
    changed = upload(study, [output(3, "menu-1")], metadata({"labels.t9_scale": "small_batch"}))
    assert codes(changed) == ["metadata_invalid"]


def test_only_declared_labels_are_stored_open() -> None:
    study = a_study(phase="coding", protocol={"open_labels": ["t9_scale", "t4_modalities"]})
    upload(study, [output(1, "menu-1")], metadata())
    (row,) = DeclaredLabels.objects.all()
    assert row.labels["t9_scale"] == "single_case"
    assert {name for name, value in row.labels.items() if value == "yes"} == {
        "t4_modalities.text",
        "t4_modalities.imaging",
    }
    assert set(row.labels) - {"t9_scale"} == {
        name for name in row.labels if name.startswith("t4_modalities.")
    }
    assert rows_that_hold(CLOSED) == {}


def test_the_real_schema_is_read_from_the_servers_folder(study: StudyUnderTest, settings, tmp_path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "result.json").write_text(
        '{"$id": "https://medgauge.org/schemas/0.1.0/result.schema.json",'
        ' "$defs": {"veto_category": {"enum": ["fabricated_result"]}}}'
    )
    settings.TWINBLIND_SCHEMAS = folder
    good = upload(study, [output(1, "menu-1")], metadata())
    assert (good.status, good.summary["stand_in_used"]) == ("in_review", False)
    assert codes(
        upload(study, [output(2, "menu-2")], metadata({"task_id": "menu-2", "veto_categories": ["other"]}))
    ) == ["metadata_invalid"]


def test_a_broken_schema_of_the_server_fails_the_import_by_name(
    study: StudyUnderTest, settings, tmp_path
) -> None:
    (tmp_path / "broken.json").write_text("{")
    settings.TWINBLIND_SCHEMAS = tmp_path
    batch = upload(study, [output(1, "menu-1")], metadata())
    assert batch.status == "failed"
    assert "broken.json" in study.api("admin").get(study.url(f"batches/{batch.pk}/")).json()["error"]


def test_the_usual_outputs_without_packages_still_come_in(study: StudyUnderTest) -> None:
    batch = study.import_batch(rows())
    assert batch.status == "in_review"
    assert "packages" not in batch.summary
