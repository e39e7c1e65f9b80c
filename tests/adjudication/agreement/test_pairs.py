from typing import Any

import pytest

from adjudication.agreement.encode import MISSING, AgreementInputError
from adjudication.agreement.fields import BLANK
from adjudication.agreement.pairs import select
from adjudication.agreement.table import table_of
from adjudication.agreement.variants import variants_of
from tests.adjudication.agreement.sample import pair, payload, specs

SPECS = {spec.path: spec for spec in specs()}


def refusal(*pairs, path="relevance"):
    with pytest.raises(AgreementInputError) as caught:
        table_of(SPECS[path], select(pairs).main)
    return caught.value


def table(path, *pairs):
    return table_of(SPECS[path], select(pairs).main)


def codes(found):
    return [
        [None if code == MISSING else found.coding.domain[code] for code in row] for row in found.coding.index
    ]


def test_excluded_pairs_are_left_out_and_counted():
    found = select(
        [pair(1), pair(2, excluded="exposed"), pair(3, excluded="exposed"), pair(4, excluded="left")]
    )
    assert [unit.pair.output_id for unit in found.main] == ["out-0001"]
    assert found.excluded == {"exposed": 2, "left": 1}
    assert [unit.pair.output_id for unit in found.with_excluded] == ["out-0001", "out-0002", "out-0003"]


def test_pairs_under_two_versions_of_the_rules_are_not_compared():
    found = select([pair(1, rule_version_b="1.1"), pair(2)])
    assert found.excluded == {"mixed_rule_version": 1}
    assert len(found.main) == 1


def test_an_exposed_code_stands_beside_the_fresh_one_in_the_sensitivity_figure_only():
    exposed = pair(1, payload(relevance="irrelevant"), coder_a="X1", excluded="exposed")
    found = select([exposed, pair(1)])
    assert [coder for coder, _ in found.main[0].codes] == ["K4", "R9"]
    assert [coder for coder, _ in found.with_excluded[0].codes] == ["K4", "R9", "X1"]
    assert codes(table_of(SPECS["relevance"], found.with_excluded)) == [
        ["relevant"],
        ["relevant"],
        ["irrelevant"],
    ]


def test_an_output_compared_twice_is_refused():
    error = refusal(pair(1), pair(1))
    assert (error.code, error.place) == ("two_codes_on_one_unit", "unit out-0001")


def test_one_coder_in_both_slots_is_refused():
    assert refusal(pair(1, coder_b="K4")).place == "coder K4, unit out-0001"


def test_two_different_codes_of_one_coder_are_refused():
    other = pair(1, payload(relevance="irrelevant"), coder_b="X1", excluded="exposed")
    assert refusal(pair(1), other).code == "two_codes_on_one_unit"


@pytest.mark.parametrize(
    "extra", [{"adjudicated_value": "{}"}, {"adjudicator_id": "Z1"}, {"annotator_role": "adjudicator"}]
)
def test_an_adjudicated_row_is_refused(extra):
    error = refusal(pair(1), pair(2, b=payload(**extra)))
    assert (error.code, error.place) == ("adjudicated_row", "coder R9, unit out-0002")


def test_a_label_outside_the_schema_is_named_with_field_coder_and_unit():
    error = refusal(pair(1), pair(2, b=payload(relevance="maybe")))
    assert (error.code, error.place) == ("label_outside_domain", "field relevance, coder B, unit out-0002")


def test_confidence_outside_its_bounds_is_refused():
    assert refusal(pair(1, payload(confidence=1.5)), path="confidence").code == "outside_bounds"


def test_a_class_that_the_task_does_not_offer_is_refused():
    control: dict[str, Any] = {"positive_control": True, "classes": ("red",)}
    error = refusal(pair(1, payload(gold_class_match=["blue"]), **control), path="gold_class_match")
    assert error.code == "label_outside_domain"
    assert "out-0001" in error.place


def test_classes_are_asked_for_in_positive_controls_only():
    control: dict[str, Any] = {"positive_control": True, "classes": ("red", "blue")}
    found = table("gold_class_match", pair(1), pair(2, payload(gold_class_match=["blue", "red"]), **control))
    assert codes(found) == [[None, frozenset({"red", "blue"})], [None, frozenset()]]


def test_a_blank_is_a_value_of_its_own_and_no_missing_one():
    blank = payload()
    del blank["relevance"]
    found = table("relevance", pair(1, blank), pair(2))
    assert codes(found) == [[BLANK, "relevant"], ["relevant", "relevant"]]
    assert BLANK not in table("relevance", pair(1)).coding.domain


def test_a_blank_number_is_no_number():
    assert codes(table("confidence", pair(1, payload(confidence=None)))) == [[None], [0.75]]


def test_the_protocol_says_which_values_count_as_missing():
    spec = {s.path: s for s in specs(relevance={"missing": ["uncertain"]})}["relevance"]
    found = table_of(spec, select([pair(1, payload(relevance="uncertain"))]).main)
    assert codes(found) == [[None], ["relevant"]]


def test_variants_tell_applicability_from_values():
    answers = [
        ("supported", "supported"),
        ("not_applicable", "mixed"),
        ("uncertain", "mixed"),
        ("mixed", "mixed"),
    ]
    found = variants_of(
        table(
            "factuality",
            *(pair(n, payload(factuality=a), payload(factuality=b)) for n, (a, b) in enumerate(answers)),
        )
    )
    assert list(found) == ["all", "applicability", "both_applicable", "without_uncertain"]
    assert codes(found["applicability"])[0] == ["applicable", "not_applicable", "applicable", "applicable"]
    assert codes(found["both_applicable"])[0] == ["supported", None, "uncertain", "mixed"]
    assert codes(found["without_uncertain"])[0] == ["supported", None, None, "mixed"]
    assert "not_applicable" not in found["both_applicable"].coding.domain
