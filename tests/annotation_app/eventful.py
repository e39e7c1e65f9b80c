"""One study in which everything happens that a bundle has to tell of."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudication.services.reports import request_report
from annotation_app.models import ExportFile, Output
from annotation_app.services.assignments import next_assignment
from annotation_app.services.bundles.build import request_bundle
from annotation_app.services.exposures import recognise
from annotation_app.services.guesses import guess, next_guess
from annotation_app.services.recall import freeze_output, mask_output
from blinding.models import Job
from tests.annotation_app.ceremony import unblind
from tests.blinding.task_metadata.packages import metadata, packages
from tests.factories import StudyUnderTest, a_study, jsonl, rows, run_jobs

CODERS = ("primary_A", "primary_A2", "primary_B", "primary_B2")
GUESS = {"share": 1.0, "conditions": ["meadow", "harbour"], "models": ["quartz-1", "basalt-2"]}
HOLDOUT = "task-2"


@dataclass
class Eventful:
    """The study, unblinded, and its bundles from before and after; `recalled` by blinded id."""

    study: StudyUnderTest
    locked: Path
    opened: Path
    recalled: str
    recognised: str


def outputs() -> list[dict[str, Any]]:
    """Four tasks by four arms; the last task is a positive control."""
    return rows(tasks=4, per_task=4)


def eventful_study() -> Eventful:
    study = a_study(
        "eventful", phase="training", protocol={"guess": GUESS}, members={"primary_A": 2, "primary_B": 2}
    )
    calibration = [
        row | {"output_id": f"cal-{number}", "task_id": "cal", "text": f"Cross the bridge {number} times."}
        for number, row in enumerate(
            rows(1, 2, positive_control=None, gold_classes=None, gold_expected=None), 1
        )
    ]
    study.release(study.import_batch(calibration, "calibration"))
    for name in CODERS:
        study.code_all(name)
    study.to("coding")
    study.release(study.import_batch(_with_packages(), file_name="upload.zip"))
    recalled, recognised = _recall(study), _exposures(study)
    for name in CODERS:
        study.code_all(name, at_most=3 if name == "primary_B2" else 1000)
    study.settle()
    study.to("review")
    study.settle()
    study.decide_all()
    for name in CODERS:
        _guess_all(study, name)
    request_report(membership=study["project_author"])
    run_jobs()
    study.lock()
    locked = built_bundle(study)
    unblind(study)
    return Eventful(study, locked, built_bundle(study), recalled, recognised)


def built_bundle(study: StudyUnderTest) -> Path:
    asked = request_bundle(membership=study["project_author"])
    run_jobs()
    file = ExportFile.objects.get(pk=asked.pk)
    assert file.ready_at is not None, Job.objects.get(subject=file.pk).error
    return Path(file.path)


def _with_packages() -> bytes:
    trees = [
        metadata({"task_id": f"task-{n}", "split": "holdout" if f"task-{n}" == HOLDOUT else "dev"})
        for n in range(1, 5)
    ]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("outputs.jsonl", jsonl(outputs()))
        for name, content in packages(*trees).items():
            archive.writestr(name, content)
    return packed.getvalue()


def _recall(study: StudyUnderTest) -> str:
    """A coder submits an item; then its text turns out to leak."""
    first = next_assignment(membership=study["primary_A"])
    assert first is not None
    study.code_all("primary_A", at_most=1)
    blinded_id = Output.objects.get(pk=first.output_id).blinded_output_id
    freeze_output(membership=study["admin"], blinded_id=blinded_id, reason="A signature.")
    mask_output(membership=study["admin"], blinded_id=blinded_id, words=["river"], note="Codes may lean.")
    return blinded_id


def _exposures(study: StudyUnderTest) -> str:
    """One coder reads it in the text, another has a hunch; both before they submit."""
    for name, how in (("primary_A2", "says_so"), ("primary_B", "hunch")):
        item = next_assignment(membership=study[name])
        assert item is not None
        recognise(membership=study[name], uid=item.pk, how=how, what="quartz-1, I would say")
        if how == "says_so":
            recognised = Output.objects.get(pk=item.output_id).blinded_output_id
    return recognised


def _guess_all(study: StudyUnderTest, name: str) -> None:
    while (item := next_guess(membership=study[name])) is not None:
        guess(membership=study[name], uid=item.assignment_uid, answers={"g1": "meadow", "g2": None})
