"""Results by arm after the unblinding, held against the bundle's own files and the rows that were uploaded."""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from annotation_app.models import Assignment, Guess, Output
from annotation_app.services.results import computed_results
from blinding.indices import Counts, bang
from blinding.models import Event, Exposure
from tests.annotation_app.conftest import anew
from tests.annotation_app.eventful import Eventful, eventful_study, outputs
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import a_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(committed: None) -> Eventful:
    return eventful_study()


@pytest.fixture
def made(shared: Eventful) -> Eventful:
    return replace(shared, study=anew(shared.study))


@pytest.fixture
def results(made: Eventful) -> dict[str, Any]:
    return computed_results(made.study.study)


def bundled(made: Eventful, name: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(made.opened) as archive:
        return [json.loads(line) for line in archive.read(name).splitlines()]


def test_codes_are_counted_by_the_arms_that_were_uploaded(made: Eventful, results: dict[str, Any]) -> None:
    source = {row["output_id"]: (row["condition"], row["model"]) for row in outputs()}
    arms = {row["blinded_output_id"]: source[row["output_id"]] for row in bundled(made, "labels.jsonl")}
    expected: dict[tuple[str, str], Counter[str]] = {}
    for row in bundled(made, "consensus.jsonl"):
        settled = row["fields"]["relevance"]
        key = settled["value"] if settled["how"] in ("agreed", "decided") else settled["how"]
        expected.setdefault(arms[row["blinded_output_id"]], Counter())[key] += 1
    (field,) = (f for f in results["fields"] if f["path"] == "relevance")
    assert len(field["cells"]) == 4
    for cell in field["cells"]:
        counted = Counter({v["value"]: v["count"] for v in cell["values"]})
        counted += Counter(undecided=cell["undecided"], single=cell["single"])
        assert counted == expected[cell["condition"], cell["model"]]
        for shown in cell["values"]:
            assert shown["share"] == pytest.approx(shown["count"] / cell["outputs"])
            if cell["tasks"] > 1:
                assert shown["interval"][0] <= shown["share"] <= shown["interval"][1]
            else:
                assert shown["interval"] is None


def test_numbers_are_given_as_means(results: dict[str, Any]) -> None:
    (field,) = (f for f in results["fields"] if f["path"] == "confidence")
    assert field["kind"] == "mean"
    assert {cell["mean"] for cell in field["cells"] if cell["outputs"]} == {0.5}


def test_classes_are_counted_for_positive_controls_only(results: dict[str, Any]) -> None:
    (field,) = (f for f in results["fields"] if f["path"] == "gold_class_match")
    assert sum(cell["outputs"] + cell["undecided"] + cell["single"] for cell in field["cells"]) <= 4


def test_a_second_table_leaves_out_what_somebody_recognised(results: dict[str, Any]) -> None:
    def total(fields: list[dict[str, Any]]) -> int:
        (field,) = (f for f in fields if f["path"] == "relevance")
        return sum(cell["outputs"] + cell["undecided"] + cell["single"] for cell in field["cells"])

    apart = results["without_recognised"]
    assert apart["outputs_left_out"] == Exposure.objects.values("output").distinct().count() >= 2
    assert total(apart["fields"]) == total(results["fields"]) - apart["outputs_left_out"]


def test_recognition_is_counted_by_arm(made: Eventful, results: dict[str, Any]) -> None:
    rows = results["blinding"]["recognition"]
    opened = Assignment.objects.filter(study=made.study.study, served_at__isnull=False, calibration=False)
    assert sum(row["opened"] for row in rows) == opened.exclude(slot="adjudicator").count()
    assert sum(row["says_so"] for row in rows) == sum(row["hunch"] for row in rows) == 1
    for row in rows:
        assert row["rate"] == pytest.approx(
            sum(row[how] for how in ("says_so", "knows", "hunch", "recall")) / row["opened"]
        )


def test_masks_are_counted_by_arm(results: dict[str, Any]) -> None:
    """One uploaded text names its model, in task 1, turn 1: ("meadow", "basalt-2"). One more was masked by the recall."""
    by_arm = {(row["condition"], row["model"]): row for row in results["blinding"]["masks"]}
    assert {row["outputs"] for row in by_arm.values()} == {4}
    assert by_arm["meadow", "basalt-2"]["masked"] >= 1
    assert (
        sum(row["masks"] for row in by_arm.values())
        == sum(Output.objects.main().values_list("masks", flat=True))
        == 2
    )


def test_guesses_are_measured_per_coder_and_arm(made: Eventful, results: dict[str, Any]) -> None:
    """Everybody guessed "meadow", and did not know the model. Under 20 guesses in an arm no index is shown."""
    measured = results["blinding"]["guesses"]
    assert measured["condition"]["guesses"] == Guess.objects.count() > 0
    for row in measured["condition"]["by_coder_and_arm"]:
        right, wrong = row["counts"]["right"], row["counts"]["wrong"]
        assert (right, wrong)[row["arm"] == "meadow"] == 0
        assert (row["shown"], row["value"]) == (False, None)
    assert {
        row["counts"]["right"] + row["counts"]["wrong"] for row in measured["model"]["by_coder_and_arm"]
    } == {0}
    assert bang(Counts(0, 0, 5)) is not None


def test_length_alone_is_measured_on_the_texts_shown(made: Eventful, results: dict[str, Any]) -> None:
    lengths = results["blinding"]["lengths"]
    by_arm = {(row["arm"], row["value"]): row["texts"] for row in lengths["by_arm"]}
    assert by_arm == {
        (arm, v): 8
        for arm, vs in (("condition", ("meadow", "harbour")), ("model", ("quartz-1", "basalt-2")))
        for v in vs
    }
    for row in lengths["length_alone"]:
        assert 0 <= row["balanced_accuracy"] <= 1
        assert row["chance"] == 0.5


def test_positive_controls_are_held_against_what_was_expected(results: dict[str, Any]) -> None:
    """The factories' coders tick no class, where "left bank" was expected."""
    assert sum(row["outputs"] for row in results["controls"]) > 0
    assert {row["as_expected"] for row in results["controls"]} == {0}


def test_who_may_look_and_that_each_look_is_an_event(made: Eventful) -> None:
    study = made.study
    for name in ("project_author", "monitor"):
        shown = study.api(name).get(study.url("results/"))
        assert shown.status_code == 200
        assert {arm["condition"] for arm in shown.json()["arms"]} == {"meadow", "harbour"}
    looks = Event.objects.filter(study=study.study.pk, kind="results_viewed")
    assert set(looks.values_list("actor", flat=True)) == {study["project_author"].pk, study["monitor"].pk}
    for name in ("admin", "primary_A", "primary_B", "adjudicator", "audit"):
        assert study.api(name).get(study.url("results/")).status_code == 404


def test_the_page_shows_the_figures_to_who_may_look(made: Eventful) -> None:
    study = made.study
    for name in ("project_author", "monitor"):
        client = study.client(name)
        page = text_of(client.get(study.page("results/")))
        assert "meadow · quartz-1" in page
        assert "Not shown: fewer than 20 guesses." in page
        assert "outputs were recognised, guessed at or recalled" in page
        assert study.page("results/") in body_of(client.get(study.page()))
        assert study.page("results/") in body_of(client.get(study.page("unblinding/")))
    looks = Event.objects.filter(study=study.study.pk, kind="results_viewed")
    assert set(looks.values_list("actor", flat=True)) == {study["project_author"].pk, study["monitor"].pk}
    assert study.page("results/") not in body_of(study.client("admin").get(study.page("unblinding/")))
    for name in ("admin", "primary_A", "primary_B", "adjudicator", "audit"):
        assert study.client(name).get(study.page("results/")).status_code == 404
        assert study.client(name).get(study.page("results/figures.csv")).status_code == 404


def test_the_file_has_the_figures_that_programs_get(made: Eventful, results: dict[str, Any]) -> None:
    study = made.study
    answer = study.client("monitor").get(study.page("results/figures.csv"))
    name = r'attachment; filename="eventful-\d{4}-\d\d-\d\d-results\.csv"'
    assert re.fullmatch(name, answer["Content-Disposition"])
    assert answer["Cache-Control"] == "no-store"
    lines = list(csv.DictReader(io.StringIO(body_of(answer))))
    shares = {
        (row["condition"], row["model"], row["value"]): (int(row["count"]), float(row["estimate"]))
        for row in lines
        if (row["part"], row["field"], row["measure"]) == ("consensus", "relevance", "share")
    }
    (field,) = (f for f in results["fields"] if f["path"] == "relevance")
    assert shares == {
        (cell["condition"], cell["model"], one["value"]): (one["count"], one["share"])
        for cell in field["cells"]
        for one in cell["values"]
    }
    assert {row["part"] for row in lines} == {
        "consensus", "without_recognised", "controls", "guesses", "recognition", "masks", "lengths", "length_alone",
    }  # fmt: skip


def test_before_the_unblinding_there_are_none() -> None:
    study = a_study("blind")
    assert study.api("project_author").get(study.url("results/")).status_code == 409
    assert study.api("monitor").get(study.url("results/")).status_code == 409
    assert study.api("admin").get(study.url("results/")).status_code == 404


def test_before_the_unblinding_the_page_says_what_comes_first() -> None:
    study = a_study("blind", phase="coding")
    page = text_of(study.client("project_author").get(study.page("results/")), 409)
    assert "Results are shown once the data are unblinded." in page
    assert "Open: The data are locked by the project author" in page
    assert study.page("results/") not in body_of(study.client("project_author").get(study.page()))
    assert not Event.objects.filter(study=study.study.pk, kind="results_viewed").exists()
