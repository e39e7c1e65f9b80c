"""From upload to export through the services, for the shipped schema, a second one, and real outputs where they are at hand.

Alpha is computed again from the exported records by all pairs in exact fractions, with nothing of the product's own.
"""

import hashlib
import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from django.db import connection

from adjudication.models import AgreementReport
from annotation_app.record_schema import shipped_documents
from annotation_app.services.datasets import dataset_hash
from tests.annotation_app.record_schema.builders import second_schema
from tests.factories import StudyUnderTest, a_study, rows, run_jobs
from tests.shared_folder import shared

pytestmark = pytest.mark.django_db
FEW = {"agreement": {"resamples": 200, "seed": 7}}


def alpha(pairs: list[tuple[Any, Any]]) -> Fraction | None:
    """Krippendorff's nominal alpha by its definition: observed over expected disagreement of all pairs of values."""
    values = Counter(v for pair in pairs for v in pair)
    total = sum(values.values())
    observed = Fraction(sum(a != b for a, b in pairs), len(pairs))
    expected = Fraction(sum(values[a] * values[b] for a, b in permutations(values, 2)), total * (total - 1))
    return None if expected == 0 else 1 - observed / expected


def finish(study: StudyUnderTest) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Code, decide, close, report and lock; return the exported records and the report."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE"
        )  # in a transaction nobody else gathers statistics, and plans for empty tables are slow
    study.code_all("primary_A")
    study.code_all("primary_B")
    study.settle()
    study.decide_all()
    study.to("review")
    study.settle()
    asked = study.api("project_author").post(study.url("agreement-reports/"))
    assert asked.status_code == 202
    run_jobs()
    study.lock()
    answer = study.api("project_author").get(
        study.url("export/records.jsonl"), headers={"Accept": "text/html"}
    )
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert hashlib.sha256(body).hexdigest() == study.study.dataset_hash == dataset_hash(study.study)
    report = AgreementReport.objects.get(pk=asked.json()["uid"])
    assert report.result is not None
    return [json.loads(line) for line in body.splitlines()], report.result


def pairs_of(records: list[dict[str, Any]], field: str) -> list[tuple[Any, Any]]:
    by_output: dict[str, dict[str, Any]] = defaultdict(dict)
    for record in records:
        by_output[record["blinded_output_id"]][record["annotator_role"]] = record[field]
    return [(codes["primary_A"], codes["primary_B"]) for codes in by_output.values() if len(codes) == 2]


def check_alphas(records: list[dict[str, Any]], report: dict[str, Any], fields: list[str]) -> None:
    reported = {field["path"]: field["figures"]["all"]["alpha"] for field in report["fields"]}
    for field in fields:
        expected = alpha(pairs_of(records, field))
        assert expected is not None
        assert reported[field] == pytest.approx(float(expected), abs=1e-9)


def check_valid(records: list[dict[str, Any]], document: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(document)
    assert [e.message for r in records for e in validator.iter_errors(r)] == []


def test_a_batch_becomes_valid_records_and_right_figures() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=4, per_task=8), protocol=FEW)
    records, report = finish(study)
    assert len(records) == 64
    check_valid(records, next(iter(shipped_documents().values())))
    check_alphas(records, report, ["relevance", "factuality", "r_meta_class", "elicitation_signal"])
    assert {r["condition_visible_to_annotator"] for r in records} == {False}
    decided = [r for r in records if r["adjudicated_value"] is not None]
    assert decided
    assert {r["adjudicator_id"] for r in decided} == {study["adjudicator"].alias}
    assert all(r["adjudication_required"] for r in decided)


def test_another_schema_needs_no_change_in_code() -> None:
    schema = second_schema()
    study = a_study(
        phase="coding", outputs=rows(tasks=3, per_task=8), protocol=FEW, record_schema=schema.document
    )
    records, report = finish(study)
    assert len(records) == 48
    check_valid(records, schema.document)
    assert {field["path"] for field in report["fields"]} <= set(schema.leaves)


def test_real_outputs_go_the_whole_way() -> None:
    path = shared("data", "instruction_pilot", "outputs.jsonl")
    study = a_study(phase="coding", outputs=path, protocol=FEW)
    records, report = finish(study)
    assert len(records) == 1440
    check_valid(records, next(iter(shipped_documents().values())))
    check_alphas(records, report, ["relevance", "factuality", "r_meta_class", "elicitation_signal"])
