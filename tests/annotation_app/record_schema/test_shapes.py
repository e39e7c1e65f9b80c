import jsonschema_rs
import pytest

from annotation_app.record_schema import shape, shape_problems

NAMES = ["protocol", "codebook", "assignment", "case", "counts", "findings"]


@pytest.mark.parametrize("name", NAMES)
def test_shape_is_a_json_schema_with_an_id_of_its_own(name):
    jsonschema_rs.meta.validate(shape(name))
    assert shape(name)["$id"] == f"urn:twinblind:{name}"


def test_counts_are_whole_numbers_from_zero():
    assert shape_problems("counts", {"outputs": 3, "final_pairs": 0, "decided": 1}) == []
    assert [problem.place for problem in shape_problems("counts", {"outputs": -1})] == ["/outputs"]


def test_findings_carry_no_key_but_their_own():
    finding = {
        "term": "GPT",
        "kind": "lexicon",
        "count": 2,
        "outputs": 1,
        "accepted": True,
        "examples": [{"before": "As ", "match": "GPT", "after": ", I"}],
    }
    assert shape_problems("findings", [finding]) == []
    assert [problem.place for problem in shape_problems("findings", [finding | {"model": "x"}])] == [
        "/0/model"
    ]
