"""Results as their page shows them: figures worked out by hand, and readings that never call a study blind."""

from typing import Any

import pytest

from annotation_app.pages.blinding_shown import guessed_shown, read_bang, read_james, told_by_length
from annotation_app.pages.dots import index_axis, numbers_axis, shares_axis
from annotation_app.pages.results_shown import FieldShown, controls_shown, fields_shown
from annotation_app.record_schema import default_codebook, label_mapping, shipped_schema
from annotation_app.record_schema.structure import Kind
from annotation_app.registries import Settled
from annotation_app.services.blinding_measured import _bang, _index
from annotation_app.services.tabulation import Arm, FieldTable
from blinding.indices import Guess, by_coder_and_arm, james

SCHEMA = shipped_schema()
WORDS = label_mapping(default_codebook(SCHEMA), SCHEMA)
MEADOW, HARBOUR = Arm("meadow", "quartz-1"), Arm("harbour", "quartz-1")


def table(path: str, kind: Kind, codes: list[tuple[str, Arm, Any]]) -> dict[str, Any]:
    """Return a field's table; a code is (task, arm, value), "?" for an undecided one."""
    made = FieldTable(path, kind, seed=1)
    for task, arm, value in codes:
        made.take(task, arm, Settled(value, "undecided" if value == "?" else "agreed"))
    return made.as_dict()


def shown(kind: Kind, path: str, codes: list[tuple[str, Arm, Any]], left: int | None = None) -> FieldShown:
    """Return the panel; `left`: only the first so many codes are of outputs that nobody recognised."""
    kept = codes if left is None else codes[:left]
    found = {
        "fields": [table(path, kind, codes)],
        "without_recognised": {
            "outputs_left_out": len(codes) - len(kept),
            "fields": [table(path, kind, kept)],
        },
    }
    (panel,) = fields_shown(found, SCHEMA, WORDS)
    return panel


CODES = [
    ("t1", MEADOW, "relevant"),
    ("t2", MEADOW, "relevant"),
    ("t2", MEADOW, "irrelevant"),
    ("t1", HARBOUR, "irrelevant"),
    ("t1", HARBOUR, "?"),
    ("t1", MEADOW, "relevant"),
]


def test_a_share_is_shown_for_each_value_and_arm_in_the_schemas_order() -> None:
    panel = shown(Kind.RADIO, "relevance", CODES)
    assert [(value.label, value.raw) for value in panel.values] == [("Relevant", ""), ("Irrelevant", "")]
    rows = [[(f.arm, f.of, f.estimate) for f in value.figures] for value in panel.values]
    assert rows == [
        [("harbour · quartz-1", "0 of 1", "0.0 %"), ("meadow · quartz-1", "3 of 4", "75.0 %")],
        [("harbour · quartz-1", "1 of 1", "100.0 %"), ("meadow · quartz-1", "1 of 4", "25.0 %")],
    ]
    counted = [(c.arm, c.outputs, c.tasks, c.undecided, c.single) for c in panel.counted]
    assert counted == [("harbour · quartz-1", 1, 1, 1, 0), ("meadow · quartz-1", 4, 2, 0, 0)]


def test_an_interval_is_shown_where_tasks_differ() -> None:
    """Two tasks drawn from two: t1 twice gives 100 % relevant, t2 twice 50 %, each in a quarter of draws."""
    harbour, meadow = shown(Kind.RADIO, "relevance", CODES).values[0].figures
    assert (harbour.interval, meadow.interval) == ("–", "50.0 to 100.0")
    assert 'cx="75.00%"' in meadow.svg
    assert 'x1="50.00%" x2="100.00%"' in meadow.svg
    assert 'class="ci"' not in harbour.svg


def test_no_interval_is_shown_where_all_tasks_say_the_same() -> None:
    panel = shown(Kind.RADIO, "relevance", [("t1", MEADOW, "relevant"), ("t2", MEADOW, "relevant")])
    assert [(f.estimate, f.interval) for f in panel.values[0].figures] == [("100.0 %", "–")]


def test_what_recognised_outputs_change_is_shown_beside() -> None:
    """Without the last code meadow has 2 of 3 relevant: 66.7 %, 8.3 points less than 75 %."""
    _harbour, meadow = shown(Kind.RADIO, "relevance", CODES, left=5).values[0].figures
    assert (meadow.estimate, meadow.without, meadow.difference) == ("75.0 %", "66.7 %", "−8.3")
    assert 'class="beside" x1="66.67%"' in meadow.svg
    _harbour, meadow = shown(Kind.RADIO, "relevance", CODES, left=5).values[1].figures
    assert (meadow.without, meadow.difference) == ("33.3 %", "+8.3")


def test_without_any_recognised_output_nothing_stands_beside() -> None:
    figure = shown(Kind.RADIO, "relevance", CODES).values[0].figures[1]
    assert (figure.without, figure.difference) == ("–", "–")
    assert "beside" not in figure.svg


def test_an_arm_of_which_every_output_was_recognised_has_no_figure_beside() -> None:
    codes = [("t1", HARBOUR, "relevant"), ("t1", MEADOW, "relevant")]
    harbour, meadow = shown(Kind.RADIO, "relevance", codes, left=1).values[0].figures
    assert (harbour.without, meadow.without) == ("100.0 %", "–")


def test_a_number_is_shown_as_its_mean() -> None:
    """(.2 + .6) / 2 for meadow, .9 for harbour; without the last one .2."""
    codes = [("t1", MEADOW, 0.2), ("t1", HARBOUR, 0.9), ("t2", MEADOW, 0.6)]
    panel = shown(Kind.SCALE, "confidence", codes, left=2)
    (value,) = panel.values
    assert (panel.is_mean, value.label) == (True, "")
    rows = [(f.of, f.estimate, f.interval, f.without, f.difference) for f in value.figures]
    assert rows == [
        ("1", "0.900", "–", "0.900", "0.000"),
        ("2", "0.400", "0.200 to 0.600", "0.200", "−0.200"),
    ]
    assert 'cx="40.00%"' in value.figures[1].svg


def test_a_value_that_the_codebook_names_otherwise_shows_both_words() -> None:
    panel = shown(Kind.RADIO, "r_meta_class", [("t1", MEADOW, "opposition_displaced")])
    (value,) = panel.values
    assert (value.label, value.raw) == ("Contrast moves to another place", "opposition_displaced")


def test_classes_are_counted_one_by_one() -> None:
    codes = [("t1", MEADOW, ["left bank", "right bank"]), ("t2", MEADOW, ["left bank"])]
    panel = shown(Kind.CHECKS, "gold_class_match", codes)
    assert panel.of_classes
    assert [(v.label, v.figures[0].of) for v in panel.values] == [
        ("left bank", "2 of 2"),
        ("right bank", "1 of 2"),
    ]


def test_a_field_without_a_settled_code_has_counts_only() -> None:
    panel = shown(Kind.RADIO, "relevance", [("t1", MEADOW, "?")])
    assert panel.values == ()
    assert [c.undecided for c in panel.counted] == [1]


def test_controls_are_shown_by_arm() -> None:
    row = {"condition": "meadow", "model": "q", "outputs": 3, "as_expected": 2, "share": 2 / 3}
    (shown_row,) = controls_shown([row])
    assert (shown_row.arm, shown_row.of, shown_row.estimate) == ("meadow · q", "2 of 3", "66.7 %")


def bang_row(right: int, wrong: int, dont_know: int, tasks: int = 20) -> dict[str, Any]:
    """Return a row about the arm "meadow" of two, guesses dealt to tasks in turn."""
    answers = ["meadow"] * right + ["harbour"] * wrong + [None] * dont_know
    guesses = [Guess("AB-1", f"t{n % tasks}", "meadow", answer) for n, answer in enumerate(answers)]
    (row,) = by_coder_and_arm(guesses, ["meadow", "harbour"], seed=1)
    return _bang(row)


@pytest.mark.parametrize(
    ("counts", "tasks", "reading"),
    [
        ((50, 10, 0), 20, "Named right more often than chance would."),  # index .67, error .10
        ((10, 50, 0), 20, "Taken for another arm more often than chance would."),
        ((12, 10, 4), 20, "Not shown either way."),  # index .08, 90 % interval −.22 to .37
        ((0, 0, 25), 20, "Every answer was “don’t know”."),
        ((500, 500, 0), 500, "Close to chance: within ±0.2."),  # index 0, 90 % interval ±.05
        ((500, 500, 0), 1, "Not shown either way."),  # one task: nothing is known of others
    ],
)
def test_an_index_is_read_in_words(counts: tuple[int, int, int], tasks: int, reading: str) -> None:
    assert read_bang(bang_row(*counts, tasks=tasks)) == reading


def test_a_direction_is_not_said_where_the_interval_by_task_holds_chance() -> None:
    row = bang_row(50, 10, 0) | {"interval_by_task": (-0.1, 0.9)}
    assert read_bang(row) == "Not shown either way."


@pytest.mark.parametrize(
    ("first", "second", "reading"),
    [
        ((50, 0), (0, 50), "Under one half: more right guesses than chance would give."),  # 0: all right
        ((0, 50), (50, 0), "Over one half: led by “don’t know” or by wrong guesses."),  # 1: all wrong
        ((25, 25), (25, 25), "Not shown either way."),  # ½: as by chance
    ],
)
def test_jamess_index_is_read_in_words(first: tuple[int, int], second: tuple[int, int], reading: str) -> None:
    assert read_james(_index(james(first, second, (0, 0)))) == reading


def test_few_guesses_show_counts_and_no_index() -> None:
    row = bang_row(10, 5, 4)
    found = {
        "guesses": 19,
        "fewest_for_an_index": 20,
        "by_coder_and_arm": [row],
        "james": [{"coder": "AB-1", **_index(None)}],
        "as_many_right_by_chance": None,
    }
    (guessed,) = guessed_shown({"condition": found})
    assert (guessed.bang[0].counts, guessed.bang[0].index, guessed.bang[0].svg) == ((10, 5, 4), "–", "")
    readings = {guessed.bang[0].reading, guessed.james[0].reading}
    assert readings == {"Not shown: fewer than 20 guesses."}


def test_length_is_said_to_tell_only_where_it_beats_shuffled_arms() -> None:
    row = {"arm": "model", "balanced_accuracy": 0.8, "chance": 0.5, "auc": 0.9, "p": 0.002}
    (told,) = told_by_length([row])
    assert told.label == "Model"
    assert "right in 80.0 % of new texts, chance being 50.0 %" in told.sentence
    assert told.sentence.endswith("Length alone tells something of it.")
    (untold,) = told_by_length([row | {"p": 0.2}])
    assert untold.sentence.endswith("is not shown.")


def test_an_axis_holds_what_is_drawn_on_it() -> None:
    assert shares_axis().at(0.25) == "25.00%"
    assert numbers_axis(1, 5).at(2) == "25.00%"
    assert numbers_axis(3, 3).at(3) == "50.00%"
    assert index_axis([]).at(0) == "50.00%"
    assert index_axis([-1.013, 0.2]).low == pytest.approx(-1.2)
    assert index_axis([1.0072]).high == pytest.approx(1.2)
