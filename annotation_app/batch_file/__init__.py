"""Reads and checks an uploaded batch file: pure, in two streaming passes, storing nothing, without Django.

Nothing here may put the value of a sealed column into a message.
"""

from annotation_app.batch_file.archive import Opened, OutputsReader, Progress, open_upload, sha256_of
from annotation_app.batch_file.check import CheckResult, CheckTasks, LabelBoxSize, check_file
from annotation_app.batch_file.columns import Columns, Fields, MappingError
from annotation_app.batch_file.columns_found import ColumnsFound
from annotation_app.batch_file.faults import RowError, UploadRefused, WarningCount
from annotation_app.batch_file.limits import Limits
from annotation_app.batch_file.outputs import FileChanged, OutputRow, read_outputs
from annotation_app.batch_file.remainder import without_columns
from annotation_app.batch_file.task_ledger import Clean, Cleaned, Control, KnownStudy, TaskFound, TaskKey

__all__ = [
    "CheckResult",
    "CheckTasks",
    "Clean",
    "Cleaned",
    "Columns",
    "ColumnsFound",
    "Control",
    "Fields",
    "FileChanged",
    "KnownStudy",
    "LabelBoxSize",
    "Limits",
    "MappingError",
    "Opened",
    "OutputRow",
    "OutputsReader",
    "Progress",
    "RowError",
    "TaskFound",
    "TaskKey",
    "UploadRefused",
    "WarningCount",
    "check_file",
    "open_upload",
    "read_outputs",
    "sha256_of",
    "without_columns",
]
