"""Labels of tasks after the unblinding: browsed, in agreement and in results; before it only what the protocol declares."""

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from adjudication.models import AgreementReport
from adjudication.services.reports import load_pairs, request_report
from annotation_app.errors import Absent, Refused
from annotation_app.models import Output, Task
from annotation_app.services.task_metadata import labelled_task_of, labelled_tasks_of
from annotation_app.services.task_results import task_results_of
from annotation_app.services.task_strata import strata_of
from blinding.models import Event
from tests.annotation_app.ceremony import unblind
from tests.annotation_app.conftest import anew
from tests.annotation_app.eventful import built_bundle
from tests.annotation_app.task_uploads import output, upload
from tests.blinding.task_metadata.packages import ABSENT, metadata, variant
from tests.factories import StudyUnderTest, a_study, first_answers, run_jobs

pytestmark = pytest.mark.django_db

HIGH = {"labels.t10_risk": "high", "veto_categories": ["unsafe_advice"], "difficulty_class": 3}
PLAIN = {"seeded_defects": ABSENT, "judgement_points": ABSENT}
TREES = (
    metadata({"task_id": "soup"}),
    variant("soup-b", "soup", {"split": "holdout"}),
    metadata(
        {
            "task_id": "salad",
            "family": "bm-cold",
            "difficulty_function": "difficulty-function@0.2.0",
            **HIGH,
            **PLAIN,
        }
    ),
)
PER_TASK = 4


@dataclass
class Opened:
    study: StudyUnderTest
    before: dict[str, dict[str, str]]
    locked: Path
    opened: Path


@pytest.fixture(scope="module")
def shared(committed: None) -> Opened:
    """Three tasks with packages and one without, coded by two who agree, unblinded; the risk was declared open."""
    study = a_study("kitchen", phase="coding", protocol={"open_labels": ["t10_risk"]})
    names = ("soup", "soup-b", "salad")
    outputs = [output(f"{name}-{n}", name) for name in names for n in range(PER_TASK)]
    study.release(upload(study, outputs, *TREES))
    study.release(study.import_batch([output(f"bread-{n}", "bread") for n in range(2)]))
    for name in ("primary_A", "primary_B"):
        study.code_all(name, first_answers)
    study.lock()
    before, locked = strata_of(study.study), built_bundle(study)
    unblind(study)
    return Opened(study, before, locked, built_bundle(study))


@pytest.fixture
def made(shared: Opened) -> Opened:
    return replace(shared, study=anew(shared.study))


def code(task_id: str) -> str:
    return Task.objects.get(task_id=task_id).code


def test_before_the_unblinding_only_declared_labels_split_agreement(made: Opened) -> None:
    low, high = {"t10_risk": "low"}, {"t10_risk": "high"}
    assert made.before == {code("soup"): low, code("soup-b"): low, code("salad"): high}


def test_after_the_unblinding_agreement_is_split_by_more(made: Opened) -> None:
    pairs, _ = load_pairs(made.study.study)
    by_task = {pair.task_id: pair.strata for pair in pairs}
    assert by_task[code("bread")] == {}
    assert by_task[code("salad")] == {
        "family": "bm-cold",
        "difficulty_class": "3",
        "t10_risk": "high",
        "t4_modalities.text": "yes",
        "t4_modalities.imaging": "yes",
        "seeded_defects": "no",
        "undecidable": "no",
    }
    assert by_task[code("soup")]["undecidable"] == "yes"


def test_the_report_has_a_figure_for_each_value(made: Opened) -> None:
    request_report(membership=made.study["project_author"])
    run_jobs()
    result: Any = AgreementReport.objects.latest("asked_at").result
    kinds = {part["kind"] for field in result["fields"] for part in field.get("strata", [])}
    assert {"family", "t10_risk", "seeded_defects", "t4_modalities.imaging"} <= kinds


def test_the_list_has_every_task_with_its_labels(made: Opened) -> None:
    found = {one.task.task_id: one for one in labelled_tasks_of(membership=made.study["project_author"])}
    assert {name: one.metadata for name, one in found.items()} == {
        **{tree["task_id"]: tree for tree in TREES},
        "bread": None,
    }
    assert [other.task_id for other in found["soup"].variants] == ["soup-b"]
    assert found["salad"].variants == []


def test_who_may_not_learn_them_finds_nothing(made: Opened) -> None:
    for name in ("admin", "primary_A", "adjudicator", "audit"):
        with pytest.raises(Absent):
            labelled_tasks_of(membership=made.study[name])
        with pytest.raises(Absent):
            task_results_of(membership=made.study[name])
    early = a_study("early", phase="coding")
    for name in ("project_author", "monitor"):
        with pytest.raises(Refused):
            labelled_tasks_of(membership=early[name])
        with pytest.raises(Refused):
            task_results_of(membership=early[name])


def test_every_look_is_an_event_and_no_change(made: Opened) -> None:
    from annotation_app.services.bundles.log import changes_after

    uid = Task.objects.get(task_id="soup").pk
    labelled_tasks_of(membership=made.study["monitor"])
    labelled_task_of(membership=made.study["monitor"], uid=uid)
    task_results_of(membership=made.study["project_author"])
    kinds = {"tasks_viewed", "task_viewed", "task_results_viewed"}
    assert set(Event.objects.filter(kind__in=kinds).values_list("kind", flat=True)) == kinds
    assert changes_after(made.study.study) == []


def test_results_count_consensus_codes_by_label(made: Opened) -> None:
    found = task_results_of(membership=made.study["project_author"])
    labels = {
        label["label"]: {field["path"]: field["cells"] for field in label["fields"]}
        for label in found["labels"]
    }
    assert list(labels)[:3] == ["family", "difficulty_class", "t10_risk"]
    cells = {cell["value"]: cell for cell in labels["family"]["relevance"]}
    assert {value: (cell["tasks"], cell["outputs"]) for value, cell in cells.items()} == {
        "bm-menus": (2, 2 * PER_TASK),
        "bm-cold": (1, PER_TASK),
    }
    (only,) = cells["bm-cold"]["values"]
    assert (only["count"], only["share"]) == (PER_TASK, 1.0)
    assert {cell["value"] for cell in labels["seeded_defects"]["relevance"]} == {"yes", "no"}
    assert "t4_modalities.video" not in labels


def test_variants_are_held_against_their_originals_within_arms(made: Opened) -> None:
    found = task_results_of(membership=made.study["project_author"])["variants"]
    assert found["pairs"] == 1
    (relevance,) = [field for field in found["fields"] if field["path"] == "relevance"]
    arms = {(o, a) for o, a in _arms(made)}
    assert relevance["compared"] == len(arms) == 2
    assert (relevance["same"], relevance["distance"]) == (2, 0.0)


def _arms(made: Opened) -> list[tuple[str, str]]:
    from blinding.models import RevealedLabel

    outputs = Output.objects.filter(study=made.study.study, task__task_id="soup").values("pk")
    return list(RevealedLabel.objects.filter(output__in=outputs).values_list("condition", "model"))


@pytest.mark.parametrize("name", ["project_author", "monitor"])
def test_pages_show_tasks_graph_and_results(made: Opened, name: str) -> None:
    browser, soup = made.study.client(name), Task.objects.get(task_id="soup")
    listed = browser.get(made.study.page("tasks/"))
    assert b"bm-cold" in listed.content
    shown = browser.get(made.study.page(f"tasks/{soup.pk}/")).content.decode()
    assert shown.count('<path class="edge"') == 3
    assert shown.count("<rect ") == 4
    assert "missing information" in shown
    assert "soup-b" in shown
    results = browser.get(made.study.page("tasks/results/")).content.decode()
    assert "T10 risk" in results
    assert "Mean distance" in results


def test_pages_tell_others_nothing(made: Opened) -> None:
    uid = Task.objects.get(task_id="soup").pk
    assert b"bm-cold" not in made.study.client("admin").get(made.study.page("tasks/")).content
    for path in ("tasks/", f"tasks/{uid}/", "tasks/results/"):
        assert made.study.client("primary_A").get(made.study.page(path)).status_code == 404
    stranger = a_study("elsewhere")
    assert stranger.client("project_author").get(made.study.page(f"tasks/{uid}/")).status_code == 404


def test_programs_read_the_same(made: Opened) -> None:
    program, uid = made.study.api("monitor"), Task.objects.get(task_id="soup").pk
    one = program.get(made.study.url(f"tasks/{uid}/")).json()
    assert one["metadata"]["required_actions"] == TREES[0]["required_actions"]
    assert len(program.get(made.study.url("tasks/")).json()) == 4
    assert program.get(made.study.url("results/tasks/")).json()["variants"]["pairs"] == 1
    assert made.study.api("adjudicator").get(made.study.url("results/tasks/")).status_code == 404


def test_bundles_hold_labels_of_tasks_as_far_as_they_are_open(made: Opened) -> None:
    locked, opened = (_lines(path) for path in (made.locked, made.opened))
    assert {row["task_id"]: row["labels"] for row in locked} == {
        "soup": {"t10_risk": "low"},
        "soup-b": {"t10_risk": "low"},
        "salad": {"t10_risk": "high"},
        "bread": {},
    }
    by_id = {row["task_id"]: row for row in opened}
    assert by_id["salad"]["labels"]["family"] == "bm-cold"
    assert by_id["soup-b"]["labels"]["split"] == "holdout"
    with zipfile.ZipFile(made.opened) as archive:
        texts = b"".join(archive.read(name) for name in archive.namelist())
    assert b"carrot number soup-0" in texts
    assert b"carrot number soup-b-0" not in texts
    assert b"gr-hygiene" not in texts


def _lines(path: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        return [json.loads(line) for line in archive.read("task_labels.jsonl").splitlines()]
