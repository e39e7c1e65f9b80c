"""Every case of the folder of cases: valid records are accepted, each invalid one for the reason given."""

import json
from typing import Any

import pytest

from annotation_app.record_schema import RecordContext, Violation, check_record, shipped_schema
from tests.shared_folder import FOLDER, shared


def _cases(name: str) -> list[Any]:
    path = FOLDER / "cases" / "records" / f"{name}.jsonl"
    if not path.exists():
        return [pytest.param(None, id="no cases at hand")]
    lines = path.read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["what"]) for case in map(json.loads, lines)]


def _violations(case: dict[str, Any]) -> list[Violation]:
    context = case["context"]
    known = RecordContext(
        clusters=context["clusters"], positive_control=context["positive_control"], classes=context["classes"]
    )
    return check_record(shipped_schema(), case["record"], known)


def _said(violation: Violation) -> str:
    if violation.kind == "rule":
        return f"rule: {violation.keyword_or_rule}"
    return f"schema: {violation.pointer or '(record)'} {violation.keyword_or_rule}"


@pytest.mark.parametrize("case", _cases("valid"))
def test_valid_case_is_accepted(case):
    shared("cases", "records", "valid.jsonl")
    assert _violations(case) == []


@pytest.mark.parametrize("case", _cases("invalid"))
def test_invalid_case_is_refused_for_the_expected_reason(case):
    shared("cases", "records", "invalid.jsonl")
    expected = [case["expect"]] if isinstance(case["expect"], str) else case["expect"]
    assert [said for violation in _violations(case) if (said := _said(violation)) in expected]


def test_shipped_schema_is_the_seed_word_for_word():
    from annotation_app.record_schema.registry import FOLDER as SHIPPED

    seed = shared("seeds", "pilot-v0.8-annotation.schema.json")
    assert (SHIPPED / seed.name).read_bytes() == seed.read_bytes()
