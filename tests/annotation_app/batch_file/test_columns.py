import pytest

from annotation_app.batch_file.columns import TABLE, Columns, Fields, MappingError
from annotation_app.batch_file.limits import Limits
from annotation_app.batch_file.rows import Header, Row
from tests.annotation_app.batch_file.uploads import row

REQUIRED = ("output_id", "task_id", "text", "condition", "model")
OPTIONAL_STRINGS = (
    "task_version",
    "theory",
    "task_statement",
    "reference_material",
    "auto_cluster_id",
    "cluster_label",
)
LABELS = (
    "output_id",
    "task_id",
    "task_version",
    "condition",
    "model",
    "theory",
    "auto_cluster_id",
    "cluster_label",
)


def read(values, mapping=None, **options):
    fields, errors = Columns(mapping or {}, **options).read(Row(7, values, b""))
    return fields, [(error.row, error.column, error.code) for error in errors]


def test_fields_are_in_the_order_of_the_table():
    assert Fields._fields == tuple(column.name for column in TABLE)


def test_a_good_row_has_no_error_and_its_values_as_given():
    fields, errors = read(
        row(theory=" T ", task_version="1", gold_classes=["b", "a", "b"], positive_control=True)
    )
    assert errors == []
    assert (fields.output_id, fields.theory, fields.task_version) == ("lib-1", " T ", "1")
    assert (fields.gold_classes, fields.positive_control, fields.reference_material) == (
        ("b", "a"),
        True,
        None,
    )


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("value", [None, ...])
def test_a_required_column_that_is_absent_or_null_is_missing(name, value):
    assert read(row(**{name: value}))[1] == [(7, name, "missing_field")]


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("value", ["", " \n\t", "\u3000"])
def test_a_required_column_that_is_blank_is_missing_but_text_is_empty(name, value):
    code = "empty_text" if name == "text" else "missing_field"
    assert read(row(**{name: value}))[1] == [(7, name, code)]


@pytest.mark.parametrize("name", OPTIONAL_STRINGS)
@pytest.mark.parametrize("value", [None, ..., "", "  "])
def test_an_optional_column_may_be_blank(name, value):
    fields, errors = read(row(**{name: value}))
    assert errors == []
    assert getattr(fields, name) is None


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL_STRINGS])
@pytest.mark.parametrize("value", [1, 1.5, True, ["a"], {"a": 1}])
def test_nothing_is_converted_to_a_string(name, value):
    fields, errors = read(row(**{name: value}))
    assert errors == [(7, name, "wrong_type")]
    assert getattr(fields, name) is None


@pytest.mark.parametrize("value", ["true", 1, 0, "", [True]])
def test_a_control_is_true_false_or_null(value):
    assert read(row(positive_control=value))[1] == [(7, "positive_control", "wrong_type")]


@pytest.mark.parametrize("value", ["a|b", {"a": 1}, ["a", 1], ["a", ""], [" "], [["a"]], 1])
def test_classes_are_a_list_of_strings(value):
    assert read(row(gold_classes=value))[1] == [(7, "gold_classes", "wrong_type")]


@pytest.mark.parametrize(
    ("value", "expected"), [("a|b", ("a|b",)), (["a", "b"], ("a", "b")), ([], None), ("", None), (None, None)]
)
def test_expected_classes_are_one_or_several(value, expected):
    fields, errors = read(row(gold_expected=value))
    assert (fields.gold_expected, errors) == (expected, [])


@pytest.mark.parametrize("value", [3, True, [1], {"a": "b"}])
def test_expected_classes_of_another_type_are_an_error(value):
    assert read(row(gold_expected=value))[1] == [(7, "gold_expected", "wrong_type")]


@pytest.mark.parametrize("name", LABELS)
def test_labels_have_up_to_500_code_points(name):
    assert read(row(**{name: "\U0001f600" * 500}))[1] == []
    assert read(row(**{name: "x" * 501}))[1] == [(7, name, "too_long")]


@pytest.mark.parametrize("name", ["text", "task_statement", "reference_material"])
def test_texts_have_up_to_a_million_code_points(name):
    assert read(row(**{name: "é" * 1_000_000}))[1] == []
    assert read(row(**{name: "x" * 1_000_001}))[1] == [(7, name, "too_long")]


@pytest.mark.parametrize("name", ["gold_classes", "gold_expected"])
def test_a_class_has_up_to_500_code_points(name):
    assert read(row(**{name: ["x" * 501]}))[1] == [(7, name, "too_long")]


def test_limits_can_be_set():
    assert read(row(text="12345", model="1234"), limits=Limits(text=4, label=3))[1] != []
    assert read(dict.fromkeys(REQUIRED, "abc"), limits=Limits(text=3, label=3))[1] == []


def test_every_wrong_column_of_a_row_is_told():
    assert read({"text": 5, "condition": "", "model": "m" * 501, "task_id": "t"})[1] == [
        (7, "output_id", "missing_field"),
        (7, "text", "wrong_type"),
        (7, "condition", "missing_field"),
        (7, "model", "too_long"),
    ]


def test_columns_outside_the_table_are_never_looked_at():
    fields, errors = read(row(**{"Model": 5, "prompt": {"a": 1}, "text ": None, "__proto__": "x"}))
    assert errors == []
    assert fields == read(row())[0]


def test_a_mapping_renames_and_errors_bear_the_name_of_the_product():
    values = row(model=..., generator=3)
    _, errors = Columns({"generator": "model"}).read(Row(7, values, b""))
    assert [(error.column, error.code) for error in errors] == [("model", "wrong_type")]
    assert errors[0].message.startswith("Row 7: model (read from the column generator) has the wrong type.")
    assert read(row(model=..., generator="g"), {"generator": "model"})[0].model == "g"


def test_a_mapping_wins_over_a_column_of_the_name_itself():
    assert read(row(generator="g"), {"generator": "model"})[0].model == "g"


def test_a_mapping_can_swap_and_what_is_mapped_away_is_gone():
    swapped = read(row(model="m", condition="c"), {"model": "condition", "condition": "model"})[0]
    assert (swapped.model, swapped.condition) == ("c", "m")
    moved = read(row(model="m", condition="c"), {"model": "condition"})
    assert moved[1] == [(7, "model", "missing_field")]
    assert moved[0].condition == "m"


@pytest.mark.parametrize("mapping", [{"a": "modell"}, {"a": "prompt"}, {"a": "model", "b": "model"}])
def test_a_mapping_must_name_known_columns_once(mapping):
    with pytest.raises(MappingError):
        Columns(mapping)


def test_shown_sources_are_the_names_in_the_file():
    assert Columns({"answer": "text"}).shown_sources() == {"answer", "task_statement", "reference_material"}


@pytest.mark.parametrize(
    ("cell", "flag"),
    [("true", True), ("TRUE", True), ("1", True), ("False", False), ("0", False), ("", None), (" ", None)],
)
def test_a_control_in_csv(cell, flag):
    fields, errors = read(row(positive_control=cell), csv=True)
    assert (fields.positive_control, errors) == (flag, [])


@pytest.mark.parametrize("cell", ["yes", "2", "null", "t"])
def test_another_word_in_csv_is_no_control(cell):
    assert read(row(positive_control=cell), csv=True)[1] == [(7, "positive_control", "wrong_type")]


@pytest.mark.parametrize("name", ["gold_classes", "gold_expected"])
def test_classes_in_csv_are_separated_by_bars(name):
    assert getattr(read(row(**{name: "a|b, c|d "}), csv=True)[0], name) == ("a", "b, c", "d ")
    assert getattr(read(row(**{name: ""}), csv=True)[0], name) is None
    assert read(row(**{name: "a||b"}), csv=True)[1] == [(7, name, "wrong_type")]


def test_a_header_is_told_once_for_each_column_it_lacks():
    usable, errors = Columns({"generator": "model"}, csv=True).check_header(
        Header(1, ("output_id", "text", "condition", "generator", "notes"))
    )
    assert usable
    assert [(error.row, error.column, error.code) for error in errors] == [(1, "task_id", "missing_field")]


def test_a_header_without_any_required_column_is_of_no_use():
    usable, errors = Columns({}, csv=True).check_header(Header(2, ("theory", "task_version", "a;b")))
    assert not usable
    assert [(error.row, error.column) for error in errors] == [(2, name) for name in REQUIRED]
