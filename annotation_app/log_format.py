"""How a line of the log looks. Messages of exceptions and results of tasks can quote what is sealed
(a row's values, a label, a text), so the log names the place and the kind of an error and nothing else."""

import logging
import traceback
from types import TracebackType

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LabelFreeFormatter(logging.Formatter):
    """Formats time, level, logger and message; an exception as its kind and the lines of code it passed."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S%z")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with Celery's quotations of exceptions and results left out."""
        if record.name.startswith("celery.") and isinstance(record.args, dict):
            kind = record.exc_info[0] if record.exc_info else None
            unquoted = {"exc": kind.__name__ if kind else "-", "return_value": "-", "traceback": ""}
            record = logging.makeLogRecord(record.__dict__ | {"args": {**record.args, **unquoted}})
        # A traceback that another formatter stored on the record would be printed as it is.
        record.exc_text = None
        return super().format(record)

    def formatException(self, ei: ExceptionInfo) -> str:
        """Return the kinds of the chain of exceptions, the first cause first, without their messages."""
        parts: list[str] = []
        error = ei[1]
        while error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            places = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
            parts.insert(0, "\n".join([*places, f"{type(error).__module__}.{type(error).__qualname__}"]))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nwhich led to\n".join(parts)
