"""What is said of an answer or a document goes through the product's catalogue, at the moment it is said."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import translation

from annotation_app import record_schema
from annotation_app.record_schema import check_protocol, shipped_schema, wording
from annotation_app.record_schema.messages import message
from tests.annotation_app.record_schema.builders import form_for

FOLDER = Path(record_schema.__file__).parent
GERMAN = {
    "Choose an answer.": "Eine Antwort wählen.",
    "Give a number from %(low)s to %(high)s.": "Eine Zahl von %(low)s bis %(high)s eingeben.",
    "No field of the record schema has this path.": "Kein Feld des Schemas hat diesen Pfad.",
}


@pytest.fixture
def german() -> Iterator[None]:
    wording.use(lambda message: GERMAN.get(message, message))
    yield
    wording.use(translation.gettext)


@pytest.mark.usefixtures("german")
def test_a_coder_is_told_in_the_words_of_the_catalogue() -> None:
    by_path = form_for().by_path
    assert message(by_path["relevance"], "required") == "Eine Antwort wählen."
    assert message(by_path["confidence"], "maximum") == "Eine Zahl von 0 bis 1 eingeben."


@pytest.mark.usefixtures("german")
def test_a_project_author_is_told_in_the_words_of_the_catalogue() -> None:
    said = [problem.message for problem in check_protocol({"claim_fields": ["nowhere"]}, shipped_schema())]
    assert said == ["Kein Feld des Schemas hat diesen Pfad."]


def test_without_a_translation_the_words_stay_as_they_are() -> None:
    with override_settings(USE_I18N=True), translation.override("en"):
        assert message(form_for().by_path["relevance"], "required") == "Choose an answer."


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_no_sentence_goes_by_the_catalogue(file: Path) -> None:
    plain = [
        f"line {given.lineno}"
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id in ("Problem", "FieldError", "Violation")
        for given in call.args[-1:]
        if isinstance(given, ast.Constant | ast.JoinedStr)
    ]
    assert plain == []
