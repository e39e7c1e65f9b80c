import base64

import pytest

from blinding.redaction.finder import Finder
from blinding.redaction.lexicon import (
    CLEANED_TOKENS,
    LEXICON_VERSION,
    machine_forms,
    name_forms,
    phrase_forms,
    section_of,
)

FORMS = [*name_forms(), *phrase_forms(), *machine_forms()]


def test_the_version_is_a_content_hash():
    assert len(LEXICON_VERSION) == 64
    assert int(LEXICON_VERSION, 16)


def test_ids_are_short_enough_to_store_and_say_what_they_are_about():
    ids = {form.entry.id for form in FORMS}
    assert max(map(len, ids)) <= 40
    assert {section_of(lexicon_id) for lexicon_id in ids} == {
        "model",
        "product",
        "vendor",
        "self",
        "cutoff",
        "refusal",
        "token",
        "link",
        "encoded",
    }


def test_entries_under_one_id_have_one_term_and_no_term_has_two_ids():
    terms = {(form.entry.id, form.entry.term) for form in FORMS if form.entry.term}
    assert len(terms) == len({lexicon_id for lexicon_id, _ in terms}) == len({term for _, term in terms})


def test_control_and_citation_tokens_are_among_what_cleaning_removes():
    assert "INST" in CLEANED_TOKENS
    assert "oaicite" in CLEANED_TOKENS
    assert "utm_" not in CLEANED_TOKENS


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_a_name_in_base64_is_found_wherever_it_begins(before):
    encoded = base64.b64encode(f"{before} by Anthropic and friends".encode()).decode()
    assert [span.term for span in Finder().find(f"key: {encoded}")] == ["name in base64"]
