"""The domain, one noun a file."""

from annotation_app.models.assignment import Assignment, Draft, OwnCluster
from annotation_app.models.batch import Batch, Finding, StagedOutput
from annotation_app.models.codebook import Codebook, Question
from annotation_app.models.output import Output
from annotation_app.models.record import Erratum, ExportFile, Guess, Record, RecordOverlay
from annotation_app.models.sign_in import SignInTries
from annotation_app.models.study import Invitation, Membership, Study
from annotation_app.models.task import Cluster, Task
from annotation_app.models.training import Practice, ReferenceCode, TrainingGate, TrainingText

__all__ = [
    "Assignment",
    "Batch",
    "Cluster",
    "Codebook",
    "Draft",
    "Erratum",
    "ExportFile",
    "Finding",
    "Guess",
    "Invitation",
    "Membership",
    "Output",
    "OwnCluster",
    "Practice",
    "Question",
    "Record",
    "RecordOverlay",
    "ReferenceCode",
    "SignInTries",
    "StagedOutput",
    "Study",
    "Task",
    "TrainingGate",
    "TrainingText",
]
