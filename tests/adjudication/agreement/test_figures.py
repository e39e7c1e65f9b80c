import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import pytest

from adjudication.agreement.drift_plot import drift_plot
from adjudication.agreement.figures import Axis, describe_interval, describe_undefined, forest, heat, shown
from adjudication.agreement.report import ReportSettings, build_report
from adjudication.agreement.tables import COLUMNS, report_csv
from tests.adjudication.agreement.sample import pair, payload, random_pairs, specs

QUICK = ReportSettings(resamples=200, window_resamples=50)


@pytest.fixture(scope="module")
def report():
    return build_report(random_pairs(120), specs(), {}, QUICK)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8424, ".842"),
        (-0.03, "−.030"),
        (1, "1.000"),
        (0, ".000"),
        (-0.0001, ".000"),
        (-1.25, "−1.250"),
        (None, "–"),
    ],
)
def test_coefficients_are_written_to_three_places_without_a_leading_zero(value, text):
    assert shown(value) == text


def test_positions_run_from_minus_two_tenths_to_one():
    axis = Axis.over([0.1, 0.9])
    assert [axis.at(value) for value in (-0.2, 0, 0.667, 0.8, 1)] == [
        "0.00%",
        "16.67%",
        "72.25%",
        "83.33%",
        "100.00%",
    ]
    assert axis.ticks() == [-0.2, 0, 0.2, 0.4, 1]


@pytest.mark.parametrize(("least", "low"), [(-0.21, -0.4), (-0.5, -0.6), (-0.95, -1.0), (-1, -1.2)])
def test_an_alpha_below_the_axis_widens_it(least, low):
    axis = Axis.over([0.5, least])
    assert axis.low == pytest.approx(low)
    assert float(axis.at(least).rstrip("%")) >= 0
    assert min(axis.ticks()) >= axis.low


def test_the_forest_has_a_row_per_field_with_the_primary_figure(report):
    found = forest(report)
    assert [row.path for row in found.rows] == [field["path"] for field in report["fields"]]
    for row, field in zip(found.rows, report["fields"], strict=True):
        assert row.alpha == shown(field["primary"]["value"])
        assert row.units == field["figures"][field["primary"]["figure"]]["units"]
        ElementTree.fromstring(row.svg)
        assert "style" not in row.svg
    confidence = found.rows[-1]
    assert (confidence.verdict, confidence.agreement, confidence.kappa) == ("", "–", "–")
    assert {row.chance for row in found.rows} == {"", "expected disagreement within tasks"}


def test_a_mark_is_filled_from_the_threshold_on(report):
    for row, field in zip(forest(report).rows, report["fields"], strict=True):
        low = field["primary"]["interval"]["low"]
        filled = low is not None and low >= 0.667
        assert ('class="pt"' in row.svg) == filled
        assert ('class="pt-open"' in row.svg) != filled


def test_an_undefined_field_shows_its_reason_in_place_of_the_plot():
    rows = forest(build_report([pair(n) for n in range(12)], specs(), {}, QUICK)).rows
    assert {(row.svg, row.undefined, row.alpha, row.interval) for row in rows} == {
        ("", "no_variation", "–", "–"),
        ("", "no_pairable_units", "–", "–"),
    }
    assert describe_undefined("no_pairable_units").startswith("No output")


def test_an_exact_lower_bound_reads_at_least():
    pairs = [pair(n, *[payload(relevance=["relevant", "irrelevant"][n % 2])] * 2) for n in range(60)]
    row = next(row for row in forest(build_report(pairs, specs(), {}, QUICK)).rows if row.path == "relevance")
    assert row.interval.startswith("at least .")


def test_an_interval_says_what_to_know_of_it():
    pairs = random_pairs(48)
    note = next(r for r in forest(build_report(pairs, specs(), {}, QUICK)).rows if r.path == "relevance").note
    assert re.fullmatch(r"Tasks not accounted for: without one task −?[.\d]+ to [.\d]+\.", note)
    few = next(r for r in forest(build_report(pairs[:9], specs(), {}, QUICK)).rows if r.path == "relevance")
    assert few.note == "No interval: fewer than 10 outputs have two values."
    assert (few.interval, few.verdict) == ("–", "undetermined")
    assert describe_interval(None) == ""


def test_heat_cells_carry_their_count_and_shade(report):
    field = next(field for field in report["fields"] if field["path"] == "factuality")
    found = heat(field)
    assert found is not None
    counts = field["matrices"]["confusion"]
    assert [[cell.count for cell in row.cells] for row in found.rows] == counts
    assert [row.sum for row in found.rows] == [sum(row) for row in counts]
    assert (sum(found.sums), found.total) == (120, 120)
    shades = {(c.count, int(c.name.split()[0].removeprefix("h"))) for row in found.rows for c in row.cells}
    assert max(shades)[1] == 9
    assert all((shade == 0) == (count == 0) for count, shade in shades)
    assert sorted(shades, key=lambda s: s[0]) == sorted(shades)
    assert all(
        ("agree" in cell.name) == (i == j)
        for i, row in enumerate(found.rows)
        for j, cell in enumerate(row.cells)
    )
    assert found.margins.startswith("Stuart–Maxwell test of unequal margins: χ² ")


def test_a_field_without_matrix_has_no_heat_table(report):
    assert heat(next(field for field in report["fields"] if field["kind"] == "place")) is None


@pytest.mark.parametrize("over", ["position", "calendar"])
def test_the_drift_plot_is_one_labelled_picture(report, over):
    field = {**report["fields"][4], "label": "Facts <&> more"}
    svg = drift_plot(field, over, "d4")
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-labelledby"] == "d4-t d4-d"
    assert "Facts <&> more" in (root[0].text or "")
    assert "style" not in svg
    heights = [float(y) for y in re.findall(r'c?y[12]?="([\d.]+)"', svg)]
    assert max(heights) <= 330
    defined = [w for w in field["drift"]["calendar"] if w["alpha"] is not None]
    assert svg.count("<circle") == len(defined if over == "calendar" else field["drift"]["position"]["a"])


def test_a_gap_breaks_the_line():
    field = build_report(random_pairs(120), specs(), {}, QUICK)["fields"][4]
    windows = field["drift"]["position"]["a"]
    windows[3] = {**windows[3], "alpha": None, "undefined": "no_variation", "interval": None}
    svg = drift_plot(field, "position", "d")
    assert svg.count('class="trend"') == 2


def test_nothing_to_draw_gives_no_plot():
    found = build_report([pair(n) for n in range(12)], specs(), {}, QUICK)
    assert drift_plot(found["fields"][0], "position", "d") == ""


def test_the_csv_has_a_row_per_figure_unrounded(report):
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == sum(len(field["figures"]) for field in report["fields"])
    row = next(row for row in rows if row["path"] == "factuality" and row["primary"] == "True")
    field = next(field for field in report["fields"] if field["path"] == "factuality")
    assert float(row["alpha"]) == field["primary"]["value"]
    assert row["verdict"] == field["verdict"]["word"]


def test_text_that_looks_like_a_formula_is_quoted(report):
    field = {**report["fields"][0], "label": "=1+1"}
    assert "'=1+1" in report_csv({**report, "fields": [field]})
