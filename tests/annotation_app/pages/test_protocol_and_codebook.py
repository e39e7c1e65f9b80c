"""Protocol and codebook: read, changed by the project author, frozen."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from annotation_app.pages.codebooks import merged
from annotation_app.services.codebooks import current_codebook
from blinding import clock
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study

pytestmark = pytest.mark.django_db


def change(study: StudyUnderTest, protocol: Any, role: str = "project_author") -> Any:
    text = protocol if isinstance(protocol, str) else json.dumps(protocol)
    return study.client(role).post(study.page("protocol/"), {"protocol": text})


def publish(study: StudyUnderTest, fields: Any = None, role: str = "project_author", **more: str) -> Any:
    sent = {
        "version": "1.1",
        "kind": "clarification",
        "text": "Read twice.",
        "fields": json.dumps(fields or {}),
    }
    return study.client(role).post(study.page("codebook/"), sent | more)


def test_the_protocol_shows_what_differs_from_its_defaults() -> None:
    study = a_study(protocol={"spacing": 5})
    page = text_of(study.client("admin").get(study.page("protocol/")))
    assert "spacing 5 How many places" in page
    assert 'presentation "plain" default' in page


def test_the_project_author_changes_the_protocol_before_coding() -> None:
    study = a_study()
    assert change(study, {"spacing": 7}).status_code == 302
    assert study.study.protocol["spacing"] == 7
    assert study.study.protocol["grace_minutes"] == 10  # left out, so its default again


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{no", "This is not JSON: line 1, column 2."),
        ("[1]", "This must be a JSON object"),
        ('{"spacing": 1, "spacing": 2}', "The key “spacing” is there twice."),
        ('{"spacing": -1}', "spacing:"),
        ('{"unheard_of": 1}', "unheard_of: This key is not known."),
    ],
)
def test_a_protocol_that_cannot_be_used_is_kept_in_the_form_with_its_fault(text: str, message: str) -> None:
    study = a_study()
    page = text_of(change(study, text), 422)
    assert message in page
    assert text in page


def test_what_is_wrong_with_a_protocol_stands_first_on_its_page_and_leads_to_the_place() -> None:
    page = body_of(change(a_study(), '{"spacing": -1}'))
    assert page.index('role="alert" tabindex="-1" data-focus') < page.index("What is set")
    assert '<a href="#id_protocol">Protocol (JSON)</a>: spacing:' in page
    assert 'id="id_protocol"' in page
    assert page.count('role="alert"') == 1


def test_what_is_wrong_with_a_codebook_stands_first_on_its_page() -> None:
    page = body_of(publish(a_study(), fields="{"))
    assert page.index('role="alert" tabindex="-1" data-focus') < page.index('id="fields-h"')
    assert '<a href="#id_fields">' in page


def test_the_protocol_is_the_project_authors_and_frozen_with_coding() -> None:
    study = a_study()
    assert change(study, {}, role="admin").status_code == 404
    study.to("coding")
    assert "frozen when coding began" in text_of(change(study, {"spacing": 7}), 409)
    assert "Save the protocol" not in text_of(study.client("project_author").get(study.page("protocol/")))


def test_the_protocol_is_downloaded_as_it_is_stored() -> None:
    study = a_study(protocol={"spacing": 5})
    with clock.frozen_at(datetime(2031, 5, 5, 23, 30, tzinfo=UTC)):
        answer = study.client("project_author").get(study.page("protocol/?as=json"))
    assert answer.json() == study.study.protocol
    assert answer["Content-Disposition"] == 'attachment; filename="riverside-2031-05-05-protocol.json"'


def test_a_coder_reads_the_codebook_without_a_word_of_the_schema() -> None:
    study = a_study(phase="coding")
    page = body_of(study.client("primary_A").get(study.page("codebook/")))
    assert "Relevance" in page
    assert "Classes present" in page
    assert "Publish" not in page
    for telling in ("r_meta", "elicitation_signal", "gold_class", "semantic_cluster"):
        assert telling not in page


def test_a_new_version_changes_what_it_names_and_keeps_the_rest() -> None:
    study = a_study(phase="coding")
    before = current_codebook(study.study).document["fields"]
    words = {"relevance": {"help": "Is it on the task?", "options": {"relevant": {"label": "On it"}}}}
    assert publish(study, words).status_code == 302
    after = current_codebook(study.study).document
    assert (after["version"], after["text"]) == ("1.1", "Read twice.")
    assert after["fields"]["relevance"]["help"] == "Is it on the task?"
    assert after["fields"]["relevance"]["options"]["relevant"]["label"] == "On it"
    assert (
        after["fields"]["relevance"]["options"]["relevant"]["hotkey"]
        == before["relevance"]["options"]["relevant"]["hotkey"]
    )
    assert after["fields"]["factuality"] == before["factuality"]
    page = text_of(study.client("primary_A").get(study.page("codebook/")))
    assert "Codebook 1.1" in page
    assert "On it" in page
    older = text_of(study.client("primary_A").get(study.page("codebook/?version=1.0")))
    assert "Codebook 1.0" in older
    assert study.client("primary_A").get(study.page("codebook/?version=9")).status_code == 404


def test_a_change_of_a_rule_says_to_what_it_applies() -> None:
    study = a_study(phase="coding")
    publish(study, kind="rule_change")
    assert "It applies to batches released after it." in text_of(
        study.client("primary_A").get(study.page("codebook/"))
    )


@pytest.mark.parametrize(
    ("fields", "more", "message"),
    [
        ({"relevance": {"help": "As in the gold class."}}, {}, "relevance/help: This contains “gold class”"),
        ({}, {"text": "Mind an opposition displaced."}, "which coders must not read"),
        ({"nothing": {"label": "x"}}, {}, "No field of the form has this path."),
        ({}, {"version": "1.0"}, "This version exists already."),
        ({}, {"version": ""}, "This field is required."),
        ({"relevance": 7}, {}, "relevance"),
    ],
)
def test_a_version_that_cannot_be_published_says_where(
    fields: dict[str, Any], more: dict[str, str], message: str
) -> None:
    study = a_study()
    assert message in text_of(publish(study, fields, **more), 422)
    assert current_codebook(study.study).version == "1.0"


def test_publishing_is_the_project_authors_and_ends_with_coding() -> None:
    study = a_study(phase="coding")
    assert publish(study, role="admin").status_code == 404
    study.to("review")
    assert publish(study).status_code == 409


def test_words_are_laid_over_option_by_option() -> None:
    document = {"fields": {"a": {"label": "A", "options": {"x": {"label": "X", "hotkey": "1"}}}}}
    assert merged(document, {"a": {"options": {"x": {"label": "Y"}}}, "b": {"label": "B"}}) == {
        "a": {"label": "A", "options": {"x": {"label": "Y", "hotkey": "1"}}},
        "b": {"label": "B"},
    }
