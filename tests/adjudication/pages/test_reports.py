"""Agreement reports: asked for, watched, read by who may, downloaded, without what the phase withholds."""

import csv
import json
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from adjudication.models import AgreementReport
from adjudication.pages.report_missing import no_figure
from adjudication.withholding import result_for
from tests.annotation_app.pages.reading import HTMX, body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows, run_jobs

pytestmark = pytest.mark.django_db

QUICK = {"agreement": {"resamples": 1000, "seed": 1}}


def in_review(tasks: int = 2) -> StudyUnderTest:
    return a_study(phase="review", outputs=rows(tasks=tasks), protocol=QUICK)


def computed(study: StudyUnderTest) -> str:
    """Ask for a report and have it computed; return its address."""
    answer = study.client("project_author").post(study.page("reports/"))
    run_jobs()
    return str(answer["Location"])


def result() -> dict[str, Any]:
    return dict(AgreementReport.objects.get().result or {})


def test_before_review_nobody_reads_agreement() -> None:
    study = a_study(phase="coding", protocol=QUICK)
    page = text_of(study.client("project_author").get(study.page("reports/")), 409)
    assert "Agreement is shown once coding is closed." in page
    assert (
        "No report yet. So far 0 of 0 outputs have two final codes. Once all is coded, close coding" in page
    )
    assert study.client("project_author").post(study.page("reports/")).status_code == 409


def test_a_pilot_may_show_agreement_during_coding() -> None:
    study = a_study(phase="coding", protocol=QUICK | {"interim_agreement": "full"})
    assert study.client("project_author").get(study.page("reports/")).status_code == 200


def test_a_report_is_computed_by_a_job_that_the_page_watches() -> None:
    study = in_review()
    client = study.client("project_author")
    assert "No report yet. 16 outputs have two final codes: compute the agreement" in text_of(
        client.get(study.page("reports/"))
    )
    address = client.post(study.page("reports/"))["Location"]
    assert "No worker is running." in text_of(client.get(address))
    part = client.get(address, headers=HTMX)
    assert "<progress" in body_of(part)
    assert "<html" not in body_of(part)
    run_jobs()
    assert client.get(address, headers=HTMX)["HX-Refresh"] == "true"
    page = text_of(client.get(address))
    assert "Krippendorff’s alpha by field" in page
    assert "Pairs of final codes 16" in page
    assert "computed 16" in text_of(client.get(study.page("reports/")))


def test_one_field_is_shown_in_detail() -> None:
    study = in_review()
    address, client = computed(study), study.client("project_author")
    labels = [field["label"] for field in result()["fields"]]
    place = labels.index("Relevance")
    page = text_of(client.get(f"{address}?field={place}"))
    assert "Who said what: Relevance" in page
    assert "Drift: Relevance" in page
    for nonsense in ("99", "-1", "x", "²"):
        assert client.get(address, {"field": nonsense}).status_code == 200


def test_in_review_the_project_author_reads_figures_and_no_coder() -> None:
    study = in_review()
    address, client = computed(study), study.client("project_author")
    outputs = [unit["output_id"] for unit in result()["most_disputed"]]
    assert outputs
    for shown in (
        client.get(address),
        *(client.get(f"{address}{kind}/") for kind in ("html", "json", "csv")),
    ):
        text = body_of(shown)
        assert "Coders" not in text
        for name in ("primary_A", "primary_B"):
            assert study[name].alias not in text
        assert not [output for output in outputs if output in text]


def test_before_the_lock_no_figure_tells_which_slot_said_what_where_a_slot_is_one_person() -> None:
    study = in_review()
    address, client = computed(study), study.client("project_author")
    whole = result()
    shown = json.loads(body_of(client.get(f"{address}json/")))
    place = next(
        n for n, f in enumerate(whole["fields"]) if f["matrices"] and _is_lopsided(f["matrices"]["confusion"])
    )
    stored, served = (report["fields"][place]["matrices"] for report in (whole, shown))
    assert served["coincidence"] == stored["coincidence"]
    for i, row in enumerate(stored["confusion"]):
        for j in range(len(row)):
            met = row[j] + stored["confusion"][j][i]
            assert served["confusion"][i][j] == (met if i < j else row[i] if i == j else 0)
    for field in shown["fields"]:
        for companions in (figure["companions"] or {} for figure in field["figures"].values()):
            assert companions.get("marginals") is None
            difference = (companions.get("between_slots") or {}).get("mean_difference")
            assert difference is None or difference["mean"] >= 0
    for view in (f"{address}?field={place}", f"{address}html/"):
        assert "The two codes of an output, whoever gave which" in text_of(client.get(view))
        assert "Rows: slot A" not in text_of(client.get(view))
    study.lock()
    assert "Rows: slot A. Columns: slot B." in text_of(client.get(f"{address}?field={place}"))
    assert json.loads(body_of(client.get(f"{address}json/")))["fields"][place]["matrices"] == stored


def test_slots_of_several_coders_are_told_apart_before_the_lock() -> None:
    study = a_study(phase="review", outputs=rows(2), protocol=QUICK, members={"primary_A": 2, "primary_B": 2})
    computed(study)
    whole = result()
    shown = result_for(study["project_author"], whole)
    assert [f["matrices"] for f in shown["fields"]] == [f["matrices"] for f in whole["fields"]]


def _is_lopsided(matrix: list[list[int]]) -> bool:
    return any(matrix[i][j] != matrix[j][i] for i in range(len(matrix)) for j in range(i))


def test_after_the_lock_the_most_disputed_outputs_are_listed() -> None:
    study = in_review()
    address = computed(study)
    study.lock()
    page = body_of(study.client("project_author").get(address))
    assert "Most disputed outputs" in page
    assert result()["most_disputed"][0]["output_id"] in page


def test_confidence_is_pooled_over_coders_before_the_lock() -> None:
    study = in_review()
    computed(study)
    whole = result()
    field = next(f for f in whole["fields"] if f["by_confidence"])
    shown = next(f for f in result_for(study["project_author"], whole)["fields"] if f["by_confidence"])
    assert {one["coder"] for one in shown["by_confidence"]} == {None}
    assert sum(one["codes"] for one in shown["by_confidence"]) == sum(
        one["codes"] for one in field["by_confidence"]
    )


def test_files_say_the_same_as_the_page() -> None:
    study = in_review()
    address, client = computed(study), study.client("project_author")
    figures = json.loads(body_of(client.get(f"{address}json/")))
    lines = list(csv.DictReader(StringIO(body_of(client.get(f"{address}csv/")))))
    assert [line["path"] for line in lines] == [field["path"] for field in figures["fields"]]
    for line, field in zip(lines, figures["fields"], strict=True):
        value = field["primary"]["value"]
        assert line["value"] == ("" if value is None else str(value))
    AgreementReport.objects.update(asked_at=datetime(2031, 5, 5, 23, 30, tzinfo=UTC))
    html = client.get(f"{address}html/")
    assert html["Content-Disposition"] == 'attachment; filename="riverside-2031-05-05-agreement.html"'
    assert "<style>" in body_of(html)
    assert "/static/" not in body_of(html)
    for field in figures["fields"]:
        assert field["label"] in body_of(html)
    assert client.get(f"{address}pdf/").status_code == 404


def test_a_report_that_is_not_computed_has_no_file() -> None:
    study = in_review(tasks=1)
    address = study.client("project_author").post(study.page("reports/"))["Location"]
    assert study.client("project_author").get(f"{address}json/").status_code == 409


def test_a_report_without_pairs_says_what_it_needs() -> None:
    study = a_study(phase="review", protocol=QUICK)
    client = study.client("project_author")
    missing = (
        "No output of a main batch has two final codes. One counts when an annotator A and an annotator B"
    )
    assert f"No report yet. {missing}" in text_of(client.get(study.page("reports/")))
    assert f"No figure. {missing}" in text_of(client.get(computed(study)))


def test_few_pairs_are_said_to_give_no_intervals() -> None:
    study = in_review(tasks=1)
    page = text_of(study.client("project_author").get(study.page("reports/")))
    assert "No report yet. 8 outputs have two final codes" in page
    assert "Intervals need 10 outputs; with fewer, figures stand alone." in page


def test_a_report_on_excluded_outputs_alone_says_so() -> None:
    assert no_figure({"pairs": 3, "compared": 0}) == {
        "text": "No figure: all 3 outputs with two final codes are excluded."
    }


def test_who_only_reads_is_told_who_asks() -> None:
    study = in_review(tasks=1)
    study.lock()
    page = text_of(study.client("monitor").get(study.page("reports/")))
    assert "No report yet. The project author asks for one; you can read it here then." in page


def test_who_reads_and_who_asks() -> None:
    study = in_review(tasks=1)
    address = computed(study)
    for role in ("admin", "monitor"):
        assert study.client(role).get(address).status_code == 409
        assert study.client(role).post(study.page("reports/")).status_code == 404
    for role in ("primary_A", "adjudicator", "audit"):
        assert study.client(role).get(address).status_code == 404
    study.lock()
    for role in ("admin", "monitor"):
        page = text_of(study.client(role).get(address))
        assert "Compute again" not in page
    other = a_study("hillside", phase="review", protocol=QUICK)
    uid = address.split("/")[-2]
    assert other.client("project_author").get(other.page(f"reports/{uid}/")).status_code == 404


def test_the_list_takes_as_many_queries_for_three_reports_as_for_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    study = in_review(tasks=1)
    client = study.client("project_author")
    computed(study)
    with django_assert_num_queries(6):
        client.get(study.page("reports/"))
    computed(study), computed(study)
    with django_assert_num_queries(6):
        assert body_of(client.get(study.page("reports/"))).count("computed</span>") == 3
