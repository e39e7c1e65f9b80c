"""Uploads with what the import must answer, sent through the interface as a program does: status, row errors, warnings,
what coders are shown, what the redaction proposes."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation_app.models import Batch, Output, StagedOutput
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment, skip_assignment
from blinding import sealing
from blinding.models import SealedOutput, StudyKey
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, StudyUnderTest, a_study, run_jobs
from tests.shared_folder import FOLDER

FILES = FOLDER / "cases" / "imports"
MANIFEST: dict[str, Any] = (
    json.loads((FILES / "manifest.json").read_text(encoding="utf-8")) if FILES.exists() else {"cases": []}
)
CASES: list[dict[str, Any]] = MANIFEST["cases"]
FIRST: dict[str, dict[str, Any]] = {}
for _case in CASES:
    FIRST.setdefault(_case["file"], _case)

pytestmark = pytest.mark.django_db
needs_files = pytest.mark.skipif(
    not CASES, reason="the folder of cases lies beside the project only for its developers"
)


@needs_files
@pytest.mark.parametrize("case", CASES, ids=[f"{c['file']}: {c['what']}" for c in CASES])
def test_an_upload_is_answered_as_the_cases_say(case: dict[str, Any]) -> None:
    study = a_study(phase="coding")
    for earlier in case.get("after", []):
        send(study, FIRST[earlier])
    answer = send(study, case)
    expected = case["expect"]
    assert answer["status"] == expected["status"]
    check_errors(answer, expected)
    check_warnings(answer, expected)
    if expected["status"] == "in_review":
        check_rows(study, answer, expected)


def send(study: StudyUnderTest, case: dict[str, Any]) -> dict[str, Any]:
    """Upload a file and return the batch as the interface shows it; a refusal at once looks like a rejected batch."""
    upload = SimpleUploadedFile(case["file"], (FILES / case["file"]).read_bytes())
    body = {"file": upload, "name": "A batch", "purpose": "main"}
    if "mapping" in case:
        body["mapping"] = json.dumps(case["mapping"])
    made = study.api("admin").post(study.url("batches/"), body, format="multipart")
    if made.status_code != 202:
        errors = [{"row": None, "column": None, "code": e["rule"]} for e in made.json()["errors"]]
        return {"status": "rejected", "errors": errors, "errors_total": len(errors), "warnings": []}
    run_jobs()
    shown: dict[str, Any] = study.api("admin").get(study.url(f"batches/{made.json()['uid']}/")).json()
    return shown


def check_errors(answer: dict[str, Any], expected: dict[str, Any]) -> None:
    if "errors_total" in expected:
        assert (answer["errors_total"], len(answer["errors"])) == (
            expected["errors_total"],
            expected["errors_listed"],
        )
    if "errors" not in expected:
        return
    found = [(e["row"], e["column"], e["code"]) for e in answer["errors"]]
    for error in expected["errors"]:
        codes = error["code"] if isinstance(error["code"], list) else [error["code"]]
        hits = [
            f
            for f in found
            if f[2] in codes
            and (error["row"] is None or f[0] == error["row"])
            and (error["column"] is None or f[1] == error["column"])
        ]
        assert hits, (error, found)
        if "path" in error:
            assert error["path"] in [e.get("path") for e in answer["errors"]]
    if not expected.get("errors_also"):
        assert len(found) == len(expected["errors"]), found


def check_warnings(answer: dict[str, Any], expected: dict[str, Any]) -> None:
    if "warnings" not in expected:
        return
    found = {w["code"]: w for w in answer["warnings"]}
    assert set(found) == {w["code"] for w in expected["warnings"]}
    for warning in expected["warnings"]:
        assert found[warning["code"]]["count"] == warning["count"]
        if "rows" in warning:
            assert found[warning["code"]]["rows"] == warning["rows"]


def check_rows(study: StudyUnderTest, answer: dict[str, Any], expected: dict[str, Any]) -> None:
    if "rows" in expected:
        assert answer["counts"]["rows"] == expected["rows"]
    batch = Batch.objects.get(pk=answer["uid"])
    if "findings" in expected:
        spans = [s.text[a:b] for s in StagedOutput.objects.filter(batch=batch) for a, b, _ in s.spans]
        for finding in expected["findings"]:
            assert finding["matched"] in spans
        assert StagedOutput.objects.filter(batch=batch, spans=[]).count() == len(expected["no_findings"])
    check_sealed(study, batch, expected.get("sealed", []))
    batch.findings.update(accepted=False)
    study.release(batch)
    texts = list(Output.objects.filter(batch=batch).values_list("text", flat=True))
    for shown in expected.get("shown", []):
        check_shown(shown, texts, batch)
    served = everything_served(study)
    for secret in expected.get("never_shown", []):
        assert secret not in served


def check_sealed(study: StudyUnderTest, batch: Batch, expected: list[dict[str, Any]]) -> None:
    """What was uploaded must come out of the seals unchanged, for who has both passphrases."""
    if not expected:
        return
    wrapped = bytes(StudyKey.objects.get(study=study.study.pk).wrapped)
    inner = sealing.open_outer(wrapped, AUTHOR_PASSPHRASE)
    opener = sealing.Opener(sealing.open_inner(inner, ADMIN_PASSPHRASE))
    boxes = SealedOutput.objects.filter(batch=batch.pk)
    lines = [json.loads(sealing.open_label_box(opener.open(bytes(b.labels))).raw_line) for b in boxes]
    for wanted in expected:
        assert any(line.items() >= wanted["value"].items() for line in lines)


def check_shown(shown: dict[str, Any], texts: list[str], batch: Batch) -> None:
    if shown.get("column") == "classes":
        assert shown["equals"] in list(batch.outputs.values_list("task__classes", flat=True))
        return
    assert any(
        (shown.get("equals", text) == text)
        and all(part in text for part in shown.get("contains", []))
        and not any(part in text for part in shown.get("lacks", []))
        for text in texts
    ), (shown, texts)


def everything_served(study: StudyUnderTest) -> str:
    """Everything that a coder is sent for the whole batch, as text."""
    member, served = study["primary_A"], []
    for _ in range(member.main_total):
        item = next_assignment(membership=study["primary_A"])
        assert item is not None
        served.append(repr(AssignmentView.of(item, study["primary_A"])))
        served.append(study.client("primary_A").get(study.page(f"annotate/{item.pk}/")).content.decode())
        skip_assignment(membership=study["primary_A"], uid=item.pk)
    return "\n".join(served)


def test_a_file_of_another_kind_is_refused_in_words() -> None:
    """The suite's own case, for machines without the folder of cases."""
    study = a_study(phase="coding")
    upload = SimpleUploadedFile("outputs.xlsx", b"PK\x03\x04")
    made = study.api("admin").post(study.url("batches/"), {"file": upload}, format="multipart")
    assert made.status_code == 400
    assert made.json()["errors"][0]["rule"] == "unknown_format"
    assert ".jsonl" in made.json()["errors"][0]["message"]
