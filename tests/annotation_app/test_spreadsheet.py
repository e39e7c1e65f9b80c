"""What a spreadsheet would run is kept as text; figures stay figures."""

import pytest

from annotation_app.spreadsheet import csv_text, harmless


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("Relevance", "Relevance"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2", "'-2"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        ("", ""),
        (-0.5, -0.5),
        (None, None),
    ],
)
def test_no_text_is_a_formula(value: object, written: object) -> None:
    assert harmless(value) == written


def test_a_row_may_leave_columns_out() -> None:
    rows: list[dict[str, object]] = [{"arm": "=HYPERLINK(1)", "share": -0.25}, {"arm": 'say "so", twice'}]
    assert (
        csv_text(("arm", "share"), rows) == 'arm,share\r\n\'=HYPERLINK(1),-0.25\r\n"say ""so"", twice",\r\n'
    )
