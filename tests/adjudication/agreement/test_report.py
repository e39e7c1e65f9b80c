import json
from importlib.metadata import version
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest

from adjudication.agreement import report as report_module
from adjudication.agreement.confidence import by_confidence
from adjudication.agreement.disputed import distances, most_disputed
from adjudication.agreement.fields import FieldSpec
from adjudication.agreement.pairs import select
from adjudication.agreement.report import ReportSettings, build_report, verdict
from adjudication.agreement.table import table_of
from blinding import entropy
from tests.adjudication.agreement import exact
from tests.adjudication.agreement.sample import CLASSES, pair, payload, random_pairs, specs

SCHEMA = json.loads(Path(report_module.__file__).with_name("report.schema.json").read_text(encoding="utf-8"))
QUICK = ReportSettings(resamples=400, window_resamples=50, seed=5)


def field(report, path):
    return next(found for found in report["fields"] if found["path"] == path)


@pytest.fixture(scope="module")
def report():
    pairs = random_pairs(144)
    pairs += [pair(200 + n, excluded="exposed", task_id="task-00") for n in range(3)]
    pairs += [pair(210, rule_version_b="2.0", task_id="task-00")]
    return build_report(pairs, specs(), {"study": "s", "data_hash": "d"}, QUICK)


def assert_conforms(report):
    errors = list(jsonschema_rs.Draft202012Validator(SCHEMA).iter_errors(report))
    assert not errors, [(error.instance_path, error.message) for error in errors[:3]]
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_a_report_has_the_declared_shape_and_is_plain_json(report):
    assert_conforms(report)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_report_on_hardly_anything_has_the_same_shape(count):
    found = build_report([pair(n) for n in range(count)], specs(), {}, QUICK)
    assert_conforms(found)
    assert {f["verdict"]["word"] for f in found["fields"] if f["verdict"]} == {"undefined"}
    assert field(found, "relevance")["primary"]["undefined"] == (
        "no_variation" if count else "no_pairable_units"
    )


def test_counts_say_what_was_compared_and_what_was_not(report):
    counts = report["counts"]
    assert (counts["pairs"], counts["compared"], counts["tasks"], counts["batches"]) == (148, 144, 12, 2)
    assert counts["excluded"] == [
        {"reason": "exposed", "pairs": 3},
        {"reason": "mixed_rule_version", "pairs": 1},
    ]
    assert counts["positive_controls"] == 36
    assert counts["per_coder"] == [
        {"slot": "A", "coder": "K4", "codes": 144},
        {"slot": "B", "coder": "R9", "codes": 144},
    ]


def test_scope_settings_and_software_are_kept(report):
    assert report["scope"] == {
        "study": "s",
        "data_hash": "d",
        "first_submitted": "2025-03-01T09:00:00+00:00",
        "last_submitted": "2025-03-07T08:30:00+00:00",
    }
    assert (report["settings"]["seed"], report["settings"]["generator"]) == (5, "PCG64")
    assert report["software"]["krippendorff"] == version("krippendorff")


@pytest.mark.parametrize("path", ["relevance", "factuality", "elicitation_signal"])
def test_every_figure_is_alpha_by_definition(report, path):
    pairs = random_pairs(144)
    rows = [[getattr(p, side)[path] for p in pairs] for side in ("payload_a", "payload_b")]
    found = field(report, path)["figures"]

    def drop(*gone):
        return [[None if value in gone else value for value in row] for row in rows]

    applies = [["n" if value == "not_applicable" else "a" for value in row] for row in rows]
    expected = {
        "all": rows,
        "applicability": applies,
        "both_applicable": drop("not_applicable"),
        "without_uncertain": drop("not_applicable", "uncertain"),
    }
    for name, data in expected.items():
        assert found[name]["alpha"] == pytest.approx(exact.exact_float(data, exact.nominal), abs=1e-12)


def test_the_verdict_rests_on_outputs_to_which_both_gave_a_value(report):
    found = field(report, "factuality")
    assert found["primary"]["figure"] == "both_applicable"
    assert found["primary"]["value"] == found["figures"]["both_applicable"]["alpha"]
    assert field(report, "semantic_cluster_decision.decision")["primary"]["figure"] == "all"


def test_structural_not_applicable_inflates_alpha_and_is_told_apart():
    # half not applicable; in the other half every pair of four answers comes up once
    values = ("supported", "unsupported", "mixed", "uncertain")
    answers = [(a, b) for a in values for b in values] + [("not_applicable", "not_applicable")] * 16
    pairs = [pair(n, payload(factuality=a), payload(factuality=b)) for n, (a, b) in enumerate(answers)]
    found = field(build_report(pairs, specs(), {}, QUICK), "factuality")["figures"]
    assert found["all"]["alpha"] == pytest.approx(0.45, abs=0.02)
    assert found["applicability"]["alpha"] == 1
    assert found["both_applicable"]["alpha"] == pytest.approx(1 / 32)
    assert found["both_applicable"]["units"] == 16


def test_place_and_classes_have_chance_within_tasks_checked_by_the_package(report):
    for path in ("semantic_cluster_decision", "gold_class_match"):
        figure = field(report, path)["figures"]["all"]
        assert figure["chance"] == "within_tasks"
        assert figure["tasks"]["package_check"]["passed"]
        assert figure["per_category"] is None
    assert field(report, "semantic_cluster_decision")["membership"]["tasks"] == 12
    assert field(report, "relevance")["membership"] is None


def test_classes_count_in_positive_controls_only(report):
    counts = field(report, "gold_class_match")["counts"]
    assert (counts["units"], counts["pairable_units"], counts["tasks"]) == (144, 36, 3)


def test_confidence_has_bins_and_no_verdict(report):
    found = field(report, "confidence")
    assert found["verdict"] is None
    assert sum(row["codes"] for row in found["by_confidence"]) == 288
    assert found["figures"]["all"]["companions"]["between_slots"]["mean_difference"]["n"] == 144


def test_matrices_hold_every_unit_and_value(report):
    matrices = field(report, "factuality")["matrices"]
    assert sum(map(sum, matrices["confusion"])) == 144
    assert sum(map(sum, matrices["coincidence"])) == pytest.approx(288)
    assert matrices["values"] == ["supported", "unsupported", "mixed", "not_applicable", "uncertain"]


def test_strata_partition_the_units(report):
    found = field(report, "factuality")
    units = found["figures"]["both_applicable"]["units"]
    for kind in ("batch", "positive_control", "coders", "task"):
        assert sum(part["units"] for part in found["strata"] if part["kind"] == kind) == units
    assert {part["name"] for part in found["strata"] if part["kind"] == "coders"} == {"K4 × R9"}


def test_labels_the_protocol_declares_open_are_strata():
    pairs = [pair(n, strata={"family": "x" if n % 2 else "y"}) for n in range(20)]
    found = field(build_report(pairs, specs(), {}, QUICK), "relevance")["strata"]
    assert [(p["name"], p["units"]) for p in found if p["kind"] == "family"] == [("x", 10), ("y", 10)]


def test_drift_windows_cover_all_positions_and_days(report):
    found = field(report, "relevance")
    units = found["figures"]["both_applicable"]["units"]
    for windows in (*found["drift"]["position"].values(), found["drift"]["calendar"]):
        assert sum(window["units"] for window in windows) == units
        assert len(windows) <= 12
    first, last = found["drift"]["calendar"][0], found["drift"]["calendar"][-1]
    assert (first["from"], last["to"]) == ("2025-03-01", "2025-03-07")
    assert [(w["from"], w["to"]) for w in found["drift"]["position"]["a"]][:2] == [(1, 12), (13, 24)]


def test_the_sensitivity_figure_includes_what_was_left_out(report):
    found = field(report, "semantic_cluster_decision.decision")
    assert found["figures"]["all"]["units"] == 144
    assert found["with_excluded"]["units"] == 147
    clean = build_report(random_pairs(24), specs(), {}, QUICK)
    assert field(clean, "relevance")["with_excluded"] is None


def test_the_most_disputed_units_come_first_by_blind_id():
    pairs = [
        pair(1, payload(relevance="irrelevant"), payload(factuality="mixed")),
        pair(2, payload(relevance="irrelevant"), payload(confidence=0.1)),
        pair(3),
    ]
    found = build_report(pairs, specs(), {}, QUICK)["most_disputed"]
    assert [(unit["output_id"], [f["path"] for f in unit["fields"]]) for unit in found] == [
        ("out-0001", ["relevance", "factuality"]),
        ("out-0002", ["relevance"]),
    ]


def test_distances_are_shares_of_the_largest():
    spec = FieldSpec("relevance", "R", "ordinal", values=("relevant", "uncertain", "irrelevant"))
    answers = [("relevant", "irrelevant"), ("relevant", "uncertain"), ("relevant", "relevant")]
    units = select(
        [pair(n, payload(relevance=a), payload(relevance=b)) for n, (a, b) in enumerate(answers)]
    ).main
    # counts 4 1 1, mid-ranks 2, 4.5, 5.5
    assert distances(table_of(spec, units)) == pytest.approx([1, 2.5**2 / 3.5**2, 0])
    assert most_disputed([table_of(spec, units)], 1)[0]["output_id"] == "out-0000"


def test_confidence_is_held_against_agreement_and_decisions():
    wrong, right = payload(relevance="irrelevant", confidence=0.9), payload(confidence=0.3)
    pairs = [
        pair(1, wrong, right, adjudicated={"relevance": "relevant"}),
        pair(2, payload(confidence=1), right),
    ]
    chosen = {s.path: s for s in specs()}
    units = select(pairs).main
    tables = [table_of(chosen[path], units) for path in ("relevance", "factuality", "confidence")]
    rows = {(row["slot"], round(row["from"], 9)): row for row in by_confidence(tables[-1], tables)}
    high, low = rows["A", 0.8], rows["B", 0.2]
    assert (high["codes"], high["compared"], high["agreement"]) == (2, 4, 0.75)
    assert (high["decided"], high["correct"]) == (1, 0)
    assert (low["decided"], low["correct"]) == (1, 1)


def test_a_decided_place_is_compared_as_a_place():
    merged = {"cluster_id": "C1", "decision": "merge_with_other", "merge_target": "C2", "notes": "x"}
    final = {"cluster_id": "C2", "decision": "confirm", "merge_target": None}
    decided = {"semantic_cluster_decision": final}
    pairs = [pair(1, payload(semantic_cluster_decision=merged), payload(place="C3"), adjudicated=decided)]
    chosen = {s.path: s for s in specs()}
    units = select(pairs).main
    tables = [table_of(chosen[path], units) for path in ("semantic_cluster_decision", "confidence")]
    assert [(row["slot"], row["correct"]) for row in by_confidence(tables[-1], tables)] == [
        ("A", 1),
        ("B", 0),
    ]


def primary(low, **changes):
    interval = {"low": low, "reason": None, "method": "percentile bootstrap"}
    return {"undefined": None, "interval": interval, **changes}


@pytest.mark.parametrize(
    ("low", "word"),
    [
        (0.8, "reliable"),
        (0.79999, "tentative"),
        (0.667, "tentative"),
        (0.66699, "not_to_be_relied_on"),
        (-0.2, "not_to_be_relied_on"),
    ],
)
def test_the_lower_bound_decides(low, word):
    assert verdict(primary(low), ReportSettings())["word"] == word


def test_no_interval_gives_no_verdict_and_says_why():
    none = {"low": None, "reason": "minority_below_5_units", "method": None}
    found = verdict(primary(None, interval=none), ReportSettings())
    assert (found["word"], found["reason"]) == ("undetermined", "minority_below_5_units")
    assert verdict(primary(None, undefined="no_variation"), ReportSettings())["word"] == "undefined"


def test_a_preregistered_equivalent_is_the_primary_figure_of_nominal_fields():
    settings = ReportSettings(resamples=300, window_resamples=50, metric="gwet_ac1")
    found = build_report(random_pairs(48), specs(), {}, settings)
    factuality = field(found, "factuality")
    assert factuality["primary"]["metric"] == "gwet_ac1"
    companions = factuality["figures"]["both_applicable"]["companions"]
    assert factuality["primary"]["value"] == pytest.approx(companions["gwet_ac1"]["value"])
    assert companions["gwet_ac1"]["categories"] == 4
    assert factuality["primary"]["interval"]["low"] < factuality["primary"]["value"]
    assert field(found, "confidence")["primary"]["metric"] == "krippendorff_alpha"
    assert "Gwet's AC1" in found["methods"]


def test_kappa_as_primary_needs_one_person_a_slot():
    settings = ReportSettings(resamples=100, window_resamples=50, metric="cohen_kappa")
    pairs = random_pairs(48)
    assert field(build_report(pairs, specs(), {}, settings), "relevance")["primary"]["undefined"] is None
    two = [*pairs, pair(100, coder_a="M2")]
    found = field(build_report(two, specs(), {}, settings), "relevance")
    assert found["primary"]["undefined"] == "several_persons_a_slot"
    assert found["figures"]["all"]["companions"]["between_slots"] is None
    assert [p["coder_a"] for p in found["figures"]["all"]["companions"]["coder_pairs"]] == ["K4", "M2"]


def test_the_same_data_and_seed_give_the_same_report(report):
    again = build_report(random_pairs(144), specs(), {}, QUICK)
    assert field(again, "factuality")["primary"] == field(report, "factuality")["primary"]


def test_progress_is_told_after_every_field():
    heard = []
    build_report(random_pairs(12), specs(), {}, QUICK, lambda done, total: heard.append((done, total)))
    assert heard == [(done, 8) for done in range(9)]


def test_the_protocol_gives_the_settings():
    found = ReportSettings.from_protocol(
        {
            "agreement": {
                "metric": "gwet_ac1",
                "thresholds": {"tentative": 0.6, "reliable": 0.7},
                "interval": 0.9,
                "unit": "output",
                "resamples": 2000,
                "seed": 17,
            }
        }
    )
    assert (found.metric, found.thresholds, found.coverage) == ("gwet_ac1", (0.6, 0.7), 0.9)
    assert (found.unit, found.resamples, found.seed) == ("unit", 2000, 17)
    assert ReportSettings.from_protocol({}).unit == "auto"


def test_a_seed_left_open_is_drawn():
    with entropy.replayed(b"one"):
        first = ReportSettings.from_protocol({"agreement": {"seed": None}}).seed
    with entropy.replayed(b"two"):
        assert ReportSettings.from_protocol({"agreement": {"seed": None}}).seed != first
    assert 0 <= first < 2**53


def test_the_methods_paragraph_says_what_alpha_is_not(report):
    text = report["methods"]
    for part in (
        "144 outputs of 12 tasks",
        "3 exposed, 1 mixed rule version",
        "seed 5",
        "audit codes with the consensus",
    ):
        assert part in text


def test_numbers_and_sets_outside_tasks_are_reported_too():
    own = [
        FieldSpec("score", "Score", "ratio", bounds=(0, 100)),
        FieldSpec("tags", "Tags", "set", "overlap"),
        FieldSpec("ok", "Fine", values=(False, True)),
    ]
    rng = np.random.Generator(np.random.PCG64(1))

    def answers():
        tags = [tag for tag in CLASSES if rng.random() < 0.5]
        return {"score": float(rng.integers(0, 100)), "tags": tags, "ok": bool(rng.random() < 0.5)}

    found = build_report([pair(n, answers(), answers()) for n in range(40)], own, {}, QUICK)
    assert_conforms(found)
    assert [f["level"] for f in found["fields"]] == ["ratio", "set:overlap", "nominal"]
    assert field(found, "ok")["matrices"]["values"] == [False, True]
