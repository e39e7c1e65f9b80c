"""One study in coding with something in every table, one locked, one in setup: what the attempts try themselves on."""

from adjudication.models import CaseDraft
from adjudication.services.cases import claim_next_case
from annotation_app.models import (
    Assignment,
    Batch,
    Guess,
    Output,
    OwnCluster,
    Practice,
    ReferenceCode,
    Task,
    TrainingGate,
    TrainingText,
)
from annotation_app.projections import AssignmentView
from annotation_app.services.assignments import next_assignment
from annotation_app.services.exposures import recognise
from annotation_app.services.records import report_erratum
from blinding import clock, entropy
from blinding.event_blocks import close_block
from blinding.models import (
    Amendment,
    Job,
    PublishedDistributions,
    RevealedFigures,
    RevealedLabel,
    RevealedSeed,
    RevealedTask,
    SealedTask,
    UnblindingRequest,
)
from tests.factories import StudyUnderTest, a_study, first_answers, rows


def lay_the_ground() -> None:
    """Make the three studies."""
    a_study("hillside")
    a_study("lakeside", phase="locked", outputs=rows(tasks=1, per_task=4))
    study = a_study("riverside", members={"primary_A": 2}, phase="coding", outputs=rows(tasks=2))
    _code(study)
    _decide(study)
    _fill_the_rest(study)


def _code(study: StudyUnderTest) -> None:
    """A codes all; B disagrees, leaves one that can still be changed, one open on the screen, and one not yet served."""
    study.code_all("primary_A", first_answers, at_most=4)
    study.code_all("primary_A2", first_answers)
    study.code_all("primary_B", _otherwise, at_most=13)
    study.settle()
    study.code_all("primary_B", _otherwise, at_most=1)
    served = next_assignment(membership=study["primary_B"])
    assert served is not None
    recognise(membership=study["primary_B"], uid=served.pk, how="hunch")
    final = Assignment.objects.visible_to(study["primary_A"]).final()[0]
    report_erratum(membership=study["primary_A"], uid=final.pk, text="I meant the other bank.")


def _otherwise(view: AssignmentView) -> dict[str, object]:
    """Differ from `first_answers` in one question."""
    answers = first_answers(view)
    question = next(c for c in view.form["fields"] if c["kind"] == "radio")
    return answers | {question["key"]: question["options"][1]["value"]}


def _decide(study: StudyUnderTest) -> None:
    study.decide_all(at_most=1)
    claim = claim_next_case(membership=study["adjudicator"])
    assert claim is not None
    CaseDraft.objects.create(case=claim.case, member=study["adjudicator"], saved_at=clock.now())


def _fill_the_rest(study: StudyUnderTest) -> None:
    """Rows that only later steps of a study would make."""
    uid, batch = study.study.pk, Batch.objects.get(study=study.study)
    output = Output.objects.filter(study=uid)[0]
    a, b = (study[name].pk for name in ("project_author", "admin"))
    nothing = entropy.uuid("test", "ground")
    OwnCluster.objects.create(member=study["primary_A"], task=Task.objects.filter(study=uid)[0], code="N1")
    Guess.objects.create(assignment=Assignment.objects.filter(study=uid).final()[0], guessed_at=clock.now())
    Practice.objects.create(member=study["primary_A"], references=[], texts=[], asked_at=clock.now())
    ReferenceCode.objects.create(output=output, source="consensus", values={}, written_at=clock.now())
    TrainingGate.objects.create(member=study["primary_A"], passed_by=study["admin"], passed_at=clock.now())
    TrainingText.objects.create(study=study.study, digest=bytes(32))
    SealedTask.objects.create(
        study=uid, batch=batch.pk, task=output.task_id, version="1.0.0", digest=b"x", box=b"x"
    )
    PublishedDistributions.objects.create(study=uid, document={}, published_by=a, published_at=clock.now())
    Amendment.objects.create(
        study=uid,
        batch=batch.pk,
        output=output.pk,
        number=1,
        leaf="x",
        version_before="x",
        sealed=b"x",
        amended_at=clock.now(),
    )
    RevealedLabel.objects.create(
        output=output.pk, study=uid, output_id="x", condition="x", model="x", raw_line="x"
    )
    RevealedTask.objects.create(task=output.task_id, study=uid, metadata={})
    RevealedSeed.objects.create(batch=batch.pk, study=uid, seed="x", nonce="x")
    RevealedFigures.objects.create(id=nothing, study=uid, kind="x", figures={})
    UnblindingRequest.objects.create(
        study=uid, reason="x", requested_by=a, approved_by=b, requested_at=clock.now()
    )
    Job.objects.create(study=uid, kind="x", subject=nothing)
    close_block(uid)
