"""What is kept of a page depends on nothing but the words of interface and codebook; what somebody entered is never kept."""

from typing import Any
from uuid import uuid4

import pytest
from django.template import Context, Template
from django.utils.safestring import SafeString, mark_safe

from annotation_app.models import Assignment
from annotation_app.pages import fixed
from annotation_app.pages.forms_shown import form_shown
from tests.annotation_app.pages.reading import text_of
from tests.factories import a_study, rows

HELP = "components/field_help.html"
FIELDS: list[dict[str, Any]] = [
    {"key": "f1", "kind": "text", "label": "Why", "help": "", "maxlength": 9},
    {"key": "f2", "kind": "checks", "label": "Classes", "help": "", "options": []},
    {"key": "f3", "kind": "fieldset", "label": "Both", "help": "", "fields": [{"key": "f4", "kind": "text", "label": "A"}]},
    {"key": "f5", "kind": "flag", "label": "Flag", "reason": {"key": "f5-reason", "kind": "line", "label": "Reason"}},
]  # fmt: skip
FORM = {"fields": FIELDS, "layout": {"columns": [["f1", "f2", "f3", "f5"]], "foot": []}, "rules": []}


def blank_in(values: dict[str, Any], errors: list[dict[str, str]] | None = None) -> set[str]:
    return {field["key"] for field in form_shown(FORM, values, errors or [])["fields"] if field["is_blank"]}


def test_a_part_is_rendered_once_for_the_same_values() -> None:
    field = {"key": uuid4().hex, "label": "Factual <b>", "help": "x"}
    first = fixed.fixed_part(HELP, field=field)
    assert "Factual &lt;b&gt;" in first
    before = fixed._rendered.cache_info()
    assert fixed.fixed_part(HELP, field=dict(field)) is first
    assert fixed.fixed_part(HELP, field=field | {"label": "Other"}) != first
    after = fixed._rendered.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 1)


def test_a_part_sees_nothing_of_the_page_around_it() -> None:
    page = Template(f'{{% load fixed %}}{{% fixed "{HELP}" %}}')
    assert page.render(Context({"field": {"key": "f1", "label": "A", "help": "x"}})).strip() == ""


def test_text_marked_safe_is_escaped_like_any_other() -> None:
    field = {"key": "f1", "label": mark_safe("<i>"), "help": "x"}
    assert "<i>" not in fixed.fixed_part(HELP, field=field)


def test_what_is_not_json_is_no_value_of_a_part() -> None:
    with pytest.raises(TypeError):
        fixed.fixed_part(HELP, field=object())


def test_a_field_is_blank_until_something_is_entered_or_wrong() -> None:
    assert blank_in({}) == {"f1", "f3", "f5"}  # classes are the task's
    assert blank_in({"f1": "because"}) == {"f3", "f5"}
    assert blank_in({"f4": "because"}) == {"f1", "f5"}
    assert blank_in({"f5-reason": "because"}) == {"f1", "f3"}
    assert blank_in({}, [{"field": "f1", "message": "Too long."}]) == {"f3", "f5"}
    assert blank_in({}, [{"field": "f4", "message": "Too long."}]) == {"f1", "f5"}


@pytest.mark.django_db
def test_nothing_of_an_item_or_a_person_is_among_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    render = fixed._rendered

    def noted(template: str, language: str | None, values: bytes) -> SafeString:
        kept.append(values)
        return render(template, language, values)

    monkeypatch.setattr(fixed, "_rendered", noted)
    study = a_study(phase="coding", outputs=rows(2, 2))
    client, coder = study.client("primary_A"), study["primary_A"]
    text_of(client.get(study.page("annotate/")))
    item = Assignment.objects.get(member=coder, served_at__isnull=False)
    again = client.post(study.page(f"annotate/{item.pk}/"), {"f1-notes": "typed by hand"})
    assert "typed by hand" in again.content.decode()
    given = b"\n".join(kept).decode()
    assert len(kept) > 20
    assert coder.user is not None
    words = (
        item.output.text,
        item.output.task.statement,
        item.output.task.code,
        coder.alias,
        coder.user.username,
    )
    for word in (*words, str(item.pk), "typed by hand"):
        assert word
        assert word not in given
