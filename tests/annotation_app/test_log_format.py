import logging
import sys

import pytest

from annotation_app.log_format import LabelFreeFormatter

SECRET = "sentinel-label"


def line(name: str, message: str, *args: object, failed: bool = False) -> str:
    """Return one formatted line of the log."""
    info = sys.exc_info() if failed else None
    values = args[0] if args and isinstance(args[0], dict) else args
    record = logging.getLogger(name).makeRecord(name, logging.ERROR, "f.py", 1, message, (values,), info)
    record.args = values
    return LabelFreeFormatter().format(record)


def test_a_line_names_time_level_logger_and_message() -> None:
    assert line("blinding.jobs", "job %s done", "a1").endswith(" ERROR blinding.jobs: job a1 done")


def test_an_exception_is_told_by_kind_and_place_without_its_message() -> None:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(f"bad row {SECRET}") from error
    except ValueError:
        text = line("django.request", "Internal Server Error: %s", "/x/", failed=True)
    assert SECRET not in text
    assert "builtins.KeyError\nwhich led to\n" in text
    assert text.endswith("builtins.ValueError")
    assert "test_log_format.py" in text
    assert "in test_an_exception_is_told_by_kind_and_place_without_its_message" in text


def test_a_traceback_that_another_handler_has_formatted_is_not_printed() -> None:
    record = logging.makeLogRecord({"name": "x", "msg": "m", "exc_text": f"Traceback … {SECRET}"})
    assert SECRET not in LabelFreeFormatter().format(record)


@pytest.mark.parametrize(
    "template",
    [
        "Task %(name)s[%(id)s] succeeded in %(runtime)ss: %(return_value)s",
        "Task %(name)s[%(id)s] raised unexpected: %(exc)s",
    ],
)
def test_celery_tells_neither_results_nor_messages(template: str) -> None:
    values = {
        "name": "sweep",
        "id": "1",
        "runtime": 0.1,
        "return_value": SECRET,
        "exc": f"ValueError({SECRET})",
    }
    text = line("celery.app.trace", template, values)
    assert SECRET not in text
    assert "Task sweep[1]" in text
