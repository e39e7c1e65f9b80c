"""The front end's rules that can be read off its files: it compiles, holds nothing inline, tells nothing, stays small."""

import re
from pathlib import Path

import pytest
from django.template.loader import get_template
from django.urls import get_resolver

from annotation_app.record_schema import DEFAULT_ID, shipped_documents
from blinding.vocabulary import Vocabulary, words_of_schema

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))
STYLES = sorted((ROOT / "static/css").glob("*.css"))
DOWNLOADED = {"adjudication/report_file.html"}  # a file of its own: it must bring its style along
FOR_CODERS = [
    "workbench.html",
    *(f"components/{name}.html" for name in ("reading", "recognise", "texts", "nav")),
]
# What every reader of Latin script takes as it is: names, keys of a keyboard, formats.
NAMES = {"Twinblind", "Ctrl", "Esc", "UTC", "JSON", "ZIP", "records", "jsonl"}
ATTRIBUTES = r"^\{% block (body_attributes|workbench_class|skip_target) %\}.*$"


def name_of(template: Path) -> str:
    return template.relative_to(ROOT / "templates").as_posix()


def without_tags(source: str) -> str:
    """Return a template's own text: no markup, no template tags, no words that gettext gets."""
    source = re.sub(ATTRIBUTES, "", source, flags=re.MULTILINE)
    source = re.sub(r"\{% blocktranslate.*?\{% endblocktranslate %\}", "", source, flags=re.DOTALL)
    source = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<style>.*?</style>", "", source, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", source)


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_every_template_compiles(template: Path) -> None:
    assert get_template(name_of(template))


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_no_script_or_style_stands_in_a_template(template: Path) -> None:
    source = template.read_text()
    assert not re.search(r"<script(?![^>]*\ssrc=)", source)
    assert not re.search(r"""\s(on[a-z]+|style|hx-on[a-z:-]*)\s*=""", re.sub(r"\{[{%].*?[%}]\}", "", source))
    assert "javascript:" not in source
    if name_of(template) not in DOWNLOADED:
        assert "<style" not in source


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_every_word_goes_through_gettext(template: Path) -> None:
    words = re.findall(r"[^\W\d_]{2,}", without_tags(template.read_text()))
    assert set(words) <= NAMES


@pytest.mark.parametrize("file", [*TEMPLATES, *SCRIPTS, *STYLES], ids=lambda file: file.name)
def test_no_file_is_over_400_lines(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 400


def test_every_address_named_in_a_template_exists() -> None:
    used = {name for file in TEMPLATES for name in re.findall(r"\{% url \"([\w-]+)\"", file.read_text())}
    used |= {name for file in TEMPLATES for name in re.findall(r" with to=\"([\w-]+)\"", file.read_text())}
    assert used - {key for key in get_resolver().reverse_dict if isinstance(key, str)} == set()


def test_what_a_coders_browser_loads_tells_nothing() -> None:
    """The words that name what a study is about stand in no script, no style sheet and no part of the coder's page."""
    words = Vocabulary({"gold", "theory", "arm", *words_of_schema(shipped_documents()[DEFAULT_ID])})
    coders = [ROOT / "templates" / name for name in FOR_CODERS]
    files = [*SCRIPTS, *STYLES, *coders, *(ROOT / "templates/components").glob("field*.html")]
    told = {file.name: [hit.word for hit in words.hits(file.read_text())] for file in files}
    assert {name: hits for name, hits in told.items() if hits} == {}


def texts_of_the_page() -> str:
    components = ROOT / "templates/components"
    return "".join((components / name).read_text() for name in ("texts.html", "fixed/texts.html"))


def test_the_words_that_scripts_ask_for_are_the_ones_the_page_has() -> None:
    scripts = "\n".join(file.read_text() for file in SCRIPTS)
    page = texts_of_the_page()
    asked = set(re.findall(r"(?:\btext|showState)\(\"([\w-]+)\"", scripts))
    states = ("saved", "draft")
    aged = {f"{state}-{unit}" for state in states for unit in ("seconds", "minutes")}
    assert asked | aged | {*states} == set(re.findall(r"data-text=\"([\w-]+)\"", page))


def test_the_notices_that_scripts_show_are_the_ones_the_page_has() -> None:
    scripts = "\n".join(file.read_text() for file in SCRIPTS)
    page = texts_of_the_page()
    kinds_of_send = {"offline", "trouble", "signed-out"}
    shown = set(re.findall(r"\bshow\(\"([\w-]+)\"", scripts)) | kinds_of_send
    assert shown == set(re.findall(r"data-notice=\"([\w-]+)\"", page))


def test_every_module_is_loaded_by_a_page() -> None:
    reached = {"theme.js"}
    waiting = ["page.js", "workbench.js"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        source = (ROOT / "static/js" / name).read_text()
        imported = re.findall(r"^import .*?\"\./([\w-]+\.js)\";$", source, re.MULTILINE)
        waiting += [module for module in imported if module not in reached]
    assert reached == {file.name for file in SCRIPTS}
