"""The uploads the product must read, as far as cleaning and finding go."""

import json

import pytest

from blinding.redaction.finder import Finder
from blinding.redaction.unicode import clean
from tests.shared_folder import shared

FILES = (
    "nul_and_surrogates.jsonl",
    "scripts.jsonl",
    "invisible.jsonl",
    "control_tokens.jsonl",
    "self_naming.jsonl",
)
COUNTS = {
    "nul_replaced": "nul_replaced",
    "surrogate_replaced": "surrogates_replaced",
    "invisible_removed": "invisible_removed",
    "control_token_removed": "control_tokens_removed",
}


@pytest.fixture(params=FILES)
def case(request):
    manifest = json.loads(shared("cases", "imports", "manifest.json").read_text("utf-8"))
    expected = next(case["expect"] for case in manifest["cases"] if case["file"] == request.param)
    lines = shared("cases", "imports", request.param).read_text("utf-8").splitlines()
    return expected, [clean(json.loads(line)["text"]) for line in lines]


def test_texts_are_shown_as_the_case_says(case):
    expected, cleaned = case
    for shown in expected.get("shown", []):
        text = cleaned[shown["row"] - 1].text
        assert text == shown.get("equals", text)
        assert all(piece in text for piece in shown.get("contains", []))
        assert not any(piece in text for piece in shown.get("lacks", []))


def test_warnings_have_the_counts_and_rows_the_case_says(case):
    expected, cleaned = case
    if "warnings" not in expected:
        pytest.skip("the case names no warnings")
    warnings = []
    for code, field in COUNTS.items():
        rows = [number for number, one in enumerate(cleaned, 1) if getattr(one, field)]
        if rows:
            warnings.append(
                {"code": code, "count": sum(getattr(one, field) for one in cleaned), "rows": rows}
            )
    assert warnings == expected["warnings"]


def test_findings_are_as_the_case_says(case):
    expected, cleaned = case
    finder = Finder()
    for finding in expected.get("findings", []):
        text = cleaned[finding["row"] - 1].text
        assert finding["matched"] in [text[span.start : span.end] for span in finder.find(text)]
    for row in expected.get("no_findings", []):
        assert finder.find(cleaned[row - 1].text) == []


def test_every_text_of_the_pilot_that_names_a_model_or_vendor_is_found():
    """The folder's README counts 82 of 720; these five roots are what they name."""
    finder = Finder()
    lines = shared("data", "instruction_pilot", "outputs.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    naming = [
        text
        for text in texts
        if any(root in text.lower() for root in ("gpt", "claude", "openai", "anthropic"))
    ]
    assert len(naming) == 82
    assert all(finder.find(text) for text in naming)
