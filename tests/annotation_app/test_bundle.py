"""A bundle is whole, says what it holds, and proves what it says."""

import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema_rs
import krippendorff
import numpy as np
import pytest

from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, ExportFile, Output, Record
from annotation_app.record_schema.blinding_policy import HONOURED
from annotation_app.services.bundles import policy
from annotation_app.services.bundles.build import download_bundle, request_bundle
from annotation_app.services.commitments import attach_receipt
from annotation_app.services.phases import change_phase
from blinding.models import Event, Job
from tests.annotation_app.conftest import anew
from tests.annotation_app.eventful import HOLDOUT, Eventful, built_bundle, eventful_study, outputs
from tests.factories import WHY, a_study, run_jobs

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shared(committed: None) -> Eventful:
    return eventful_study()


@pytest.fixture
def made(shared: Eventful) -> Eventful:
    return replace(shared, study=anew(shared.study))


def read(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def value(path: Path, name: str) -> Any:
    return json.loads(read(path, name))


def lines(path: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read(path, name).splitlines()]


def verify(path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the verifier as a reader would, without the product's environment."""
    command = [sys.executable, "-m", "blinding.verify", str(path), *more]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={}, check=False)


@pytest.mark.parametrize("which", ["locked", "opened"])
def test_the_manifest_has_the_hash_and_lines_of_every_file(made: Eventful, which: str) -> None:
    path = getattr(made, which)
    stated = value(path, "manifest.json")["files"]
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
    assert names == {*stated, "manifest.json"}
    for name, entry in stated.items():
        content = read(path, name)
        assert (entry["sha256"], entry["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))
        assert entry.get("lines", content.count(b"\n")) == content.count(b"\n")


def test_counts_are_those_of_the_database(made: Eventful) -> None:
    counts = value(made.opened, "manifest.json")["counts"]
    main = Assignment.objects.filter(study=made.study.study, calibration=False)
    assert counts["records"] == main.final().count() == len(lines(made.opened, "records.jsonl"))
    assert counts["record_versions"] == Record.objects.filter(assignment__in=main).count()
    assert counts["units"] == Output.objects.filter(study=made.study.study).main().count() == 16
    assert counts["labels"] == 16
    assert counts["exposures_by_kind"]["says_so"] == counts["exposures_by_kind"]["hunch"] == 1


def test_records_are_those_whose_hash_was_published(made: Eventful) -> None:
    content = read(made.locked, "records.jsonl")
    assert hashlib.sha256(content).hexdigest() == made.study.study.dataset_hash
    validator = jsonschema_rs.Draft202012Validator(value(made.locked, "record.schema.json"))
    assert all(validator.is_valid(json.loads(line)) for line in content.splitlines())


def test_before_the_unblinding_there_is_no_text_and_no_label(made: Eventful) -> None:
    with zipfile.ZipFile(made.locked) as archive:
        everything = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, content in everything.items():
        assert "Follow the" not in content, name
        if name != "protocol.json":  # which lists the choices of the closing guess
            for label in ("meadow", "harbour", "quartz-1", "basalt-2", "tides", "kappa-", "out-1-", "kept 1"):
                assert label not in content, (name, label)
    assert not {"leaves.jsonl", "labels.jsonl", "allocation.json", "guesses.jsonl"} & everything.keys()
    assert verify(made.locked).returncode == 2


def test_the_verifier_proves_the_opened_bundle(made: Eventful) -> None:
    shown = verify(made.opened)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "16 records under root" in shown.stdout
    assert "labels, texts and orders are what was committed" in shown.stdout
    assert "events in" in shown.stdout


def test_one_record_is_proven_alone(made: Eventful) -> None:
    shown = verify(made.opened, "--record", made.recognised)
    assert shown.returncode == 0, shown.stdout
    assert "leaf" in shown.stdout


def altered(path: Path, target: Path, name: str, change: Any) -> Path:
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            new.writestr(entry, change(content) if entry == name else content)
    return target


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("leaves.jsonl", b'"condition":"meadow"', b'"condition":"harbour"'),
        ("leaves.jsonl", b"Follow the", b"follow the"),
        ("allocation.json", b'"spacing":3', b'"spacing":2'),
        ("events.jsonl", b'"kind":"phase_locked"', b'"kind":"phase_review"'),
        ("event_blocks.jsonl", b'"number":1', b'"number":7'),
        ("commitments.json", b'"leaf_count": 16', b'"leaf_count": 15'),
    ],
)
def test_what_is_altered_in_a_bundle_is_found(
    made: Eventful, tmp_path: Path, name: str, old: bytes, new: bytes
) -> None:
    assert old in read(made.opened, name)
    bad = altered(made.opened, tmp_path / "bad.zip", name, lambda content: content.replace(old, new, 1))
    assert verify(bad).returncode == 1


def test_labels_are_joined_to_the_blinded_ids(made: Eventful) -> None:
    given = {row["output_id"]: row for row in outputs()}
    joined = lines(made.opened, "labels.jsonl")
    assert {row["output_id"] for row in joined} == set(given)
    units = list(csv.DictReader(io.StringIO(read(made.opened, "units.csv").decode())))
    by_unit = {row["blinded_output_id"]: row for row in units}
    for row in joined:
        source, unit = given[row["output_id"]], by_unit[row["blinded_output_id"]]
        for label in ("condition", "model", "theory", "task_id"):
            assert row[label] == source[label] == unit[label]
        assert row["gold_expected"] == source.get("gold_expected")
    text = Output.objects.get(blinded_output_id=joined[0]["blinded_output_id"]).text
    assert int(by_unit[joined[0]["blinded_output_id"]]["text_length"]) == len(text)


def test_texts_of_holdout_tasks_and_of_calibration_stay_closed(made: Eventful) -> None:
    tasks = dict(Output.objects.values_list("blinded_output_id", "task__task_id"))
    opened, closed = Counter[str](), Counter[str]()
    for line in lines(made.opened, "leaves.jsonl"):
        for part, entry in line["parts"].items():
            (opened if "value" in entry else closed)[f"{tasks[line['blinded_output_id']]} {part}"] += 1
    assert closed[f"{HOLDOUT} raw"] == closed[f"{HOLDOUT} shown"] == closed[f"{HOLDOUT} labels"] == 4
    assert {part for part in opened if part.startswith(HOLDOUT)} == {
        f"{HOLDOUT} expected",
        f"{HOLDOUT} cluster",
    }
    assert not any(part.startswith("cal ") for part in opened)
    assert opened["task-1 raw"] == opened["task-1 labels"] == 4
    for text in (b"place 2", b"Cross the bridge"):
        assert text not in b"".join(
            read(made.opened, name) for name in value(made.opened, "manifest.json")["files"]
        )


def test_incidents_follow_their_schema_and_hold_the_records_set_apart(made: Eventful) -> None:
    for path, told in ((made.locked, {None}), (made.opened, {"quartz-1, I would say", ""})):
        validator = jsonschema_rs.Draft202012Validator(value(path, "incident.schema.json"))
        found = lines(path, "incidents.jsonl")
        for line in found:
            validator.validate(line)
        assert {line["what"] for line in found} == told
    by_kind = {line["how"]: line for line in found}
    assert (by_kind["hunch"]["set_apart"], by_kind["hunch"]["record"]) == (False, None)
    assert by_kind["says_so"]["blinded_output_id"] == made.recognised
    record = by_kind["recall"]["record"] or next(
        line["record"] for line in found if line["how"] == "recall" and line["record"]
    )
    assert record["blinded_output_id"] == made.recalled
    assert record["condition_visible_to_annotator"] is record["model_visible_to_annotator"] is True
    assert not record["blind_version"].endswith("+r1")
    main = {line["record_id"] for line in lines(made.opened, "records.jsonl")}
    assert record["record_id"] not in main
    versions = {line["record_id"]: line["standing"] for line in lines(made.opened, "record_versions.jsonl")}
    assert versions[record["record_id"]] == "voided: recalled"
    assert {record for record, standing in versions.items() if standing == "main"} == main


def test_the_consensus_says_how_every_field_came_about(made: Eventful) -> None:
    records = {line["record_id"]: line for line in lines(made.opened, "records.jsonl")}
    fields = set(value(made.opened, "protocol.json")["fields"])
    ways: Counter[str] = Counter()
    for row in lines(made.opened, "consensus.jsonl"):
        assert set(row["fields"]) == fields
        pair = [records[record] for record in row["records"]]
        for path, settled in row["fields"].items():
            ways[settled["how"]] += 1
            given = [record.get(path) for record in pair]
            adjudicated = json.loads(pair[0]["adjudicated_value"] or "{}")
            if settled["how"] == "single":
                assert len(pair) == 1
            elif settled["how"] == "agreed" and path in ("relevance", "factuality"):
                assert given == [settled["value"]] * 2
                assert path not in adjudicated
            elif settled["how"] == "decided" and path in ("relevance", "factuality"):
                assert settled["value"] == adjudicated[path]
                assert given[0] != given[1]
    assert {"agreed", "decided", "single"} <= set(ways)
    assert ways["single"] > 0


def test_alpha_can_be_recomputed_from_the_records(made: Eventful) -> None:
    coded: dict[str, dict[str, str]] = {}
    for record in lines(made.opened, "records.jsonl"):
        if record["annotator_role"] in ("primary_A", "primary_B"):
            coded.setdefault(record["blinded_output_id"], {})[record["annotator_role"]] = record["relevance"]
    pairs = [(c["primary_A"], c["primary_B"]) for c in coded.values() if len(c) == 2]
    values = sorted({answer for pair in pairs for answer in pair})
    data = np.array(
        [[values.index(answer) for answer in side] for side in zip(*pairs, strict=True)], dtype=float
    )
    expected = krippendorff.alpha(data, level_of_measurement="nominal")
    report = value(made.opened, "agreement.json")["report"]
    (field,) = (f for f in report["fields"] if f["path"] == "relevance")
    assert field["figures"]["all"]["alpha"] == pytest.approx(expected, abs=1e-12)
    assert report["counts"]["compared"] == len(pairs)


def test_every_line_of_the_policy_has_its_evidence(made: Eventful) -> None:
    claims = made.study.study.record_schema["blinding_policy"]
    shown = {line["name"]: line for line in value(made.opened, "blinding_policy.json")}
    assert {name: line["value"] for name, line in shown.items()} == claims
    assert set(policy._CLAIMS) == set(HONOURED)
    events = {str(pk) for pk in Event.objects.values_list("pk", flat=True)}
    for line in shown.values():
        assert line["kept"] is True, line["name"]
        assert line["claim"]
        assert any(e["count"] is not None or e["event"] or e["hash"] for e in line["evidence"]), line["name"]
        tests = [e["test"] for e in line["evidence"] if e["test"]]
        assert tests
        assert all((ROOT / name).exists() for name in tests)
        assert {e["event"] for e in line["evidence"] if e["event"]} <= events


def test_deviations_name_the_recall_with_its_note(made: Eventful) -> None:
    told = {line["kind"]: line for line in value(made.locked, "deviations.json")}
    assert told["output_recalled"]["facts"]["impact"] == "Codes may lean."
    assert told["output_frozen"]["by"] == made.study["admin"].alias


def test_what_changes_after_the_unblinding_is_marked(made: Eventful) -> None:
    assert value(made.opened, "post_unblinding.json") == []
    assert value(made.opened, "manifest.json")["post_unblinding"] == 0
    batch = value(made.opened, "commitments.json")["batches"][0]["batch"]
    attach_receipt(membership=made.study["admin"], batch=UUID(batch), receipt=b"a stamp that came late")
    later = built_bundle(made.study)
    (change,) = value(later, "post_unblinding.json")
    assert (change["kind"], change["by"], change["post_unblinding"]) == (
        "receipt_attached",
        made.study["admin"].alias,
        True,
    )
    assert value(later, "manifest.json")["post_unblinding"] == 1
    assert verify(later).returncode == 0
    sent = made.study.api("project_author").get(made.study.url("export/records.jsonl"))
    assert sent.headers["Twinblind-Post-Unblinding-Changes"] == "1"


def test_only_the_project_author_exports_and_only_from_the_lock_on(made: Eventful) -> None:
    for name in ("admin", "monitor", "primary_A", "adjudicator", "audit"):
        with pytest.raises(Absent):
            request_bundle(membership=made.study[name])
        assert made.study.api(name).get(made.study.url("exports/")).status_code == 404
    early = a_study("early")
    with pytest.raises(Refused, match="locked"):
        request_bundle(membership=early["project_author"])


def test_the_interface_offers_a_bundle_once_it_is_whole(made: Eventful) -> None:
    study, api = made.study, made.study.api("project_author")
    asked = api.post(study.url("exports/"))
    assert asked.status_code == 202
    uid = asked.json()["uid"]
    assert api.get(study.url(f"exports/{uid}/")).json()["status"] == "queued"
    assert api.get(study.url(f"exports/{uid}/file/")).status_code == 409
    whole = ExportFile.objects.get(path=str(made.opened))
    shown = api.get(study.url(f"exports/{whole.pk}/")).json()
    assert (shown["status"], shown["sha256"]) == (
        "done",
        hashlib.sha256(made.opened.read_bytes()).hexdigest(),
    )
    sent: Any = api.get(study.url(f"exports/{whole.pk}/file/"))
    assert b"".join(sent.streaming_content) == made.opened.read_bytes()
    assert api.get(study.url("exports/")).json()[0]["uid"] == uid
    assert Event.objects.filter(kind="bundle_downloaded", subject=whole.pk).count() == 1


def test_a_bundle_that_fails_leaves_no_file(settings: Any) -> None:
    study = a_study("reopened", phase="locked", outputs=outputs()[:2])
    file = request_bundle(membership=study["project_author"])
    for name in ("project_author", "admin"):
        change_phase(membership=study[name], to="review", reason=WHY)
    run_jobs()
    job = Job.objects.get(subject=file.pk)
    assert (job.state, job.error) == ("failed", "The study is not locked any more.")
    assert list(Path(settings.TWINBLIND_EXPORTS).iterdir()) == []
    study.lock()
    with pytest.raises(Refused, match="not whole"):
        download_bundle(membership=study["project_author"], uid=file.pk)
