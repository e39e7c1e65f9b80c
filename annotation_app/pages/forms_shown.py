"""A coder's form with answers and errors put in, as the templates want it."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from django.utils.safestring import mark_safe

from annotation_app.models import Assignment, Membership
from annotation_app.record_schema import placed
from annotation_app.rendering import rendered
from annotation_app.services.forms import document_of

PARTS = ("picker", "target", "notes", "reason")
OF_THE_ITEM = ("checks", "cluster", "picker", "target")  # their options are the task's


def form_shown(
    form: Mapping[str, Any], values: Mapping[str, Any], errors: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return {columns, foot, fields, rules, errors, answers} for templates.

    `form` is what a coder gets (`Form.for_coder`), `values` are by neutral key, `errors` are {field, message}.
    """
    wrong: dict[str, str] = {}
    for error in errors:
        wrong.setdefault(str(error["field"]), str(error["message"]))
    fields = [_filled(field, values, wrong) for field in form["fields"]]
    shown = placed({**form, "fields": fields})
    return {
        **shown,
        "fields": fields,
        "rules": json.dumps(form["rules"]) if form["rules"] else "",
        "errors": _summary(fields, wrong),
        "answers": [_answer(field) for field in fields],
    }


def codebook_shown(membership: Membership, item: Assignment, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the codebook beside an item: the version the item is coded with."""
    book = item.codebook
    assert book is not None
    return book_shown(book.version, document_of(book.pk), form)


def book_shown(version: str, document: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return {version, html, fields} for the drawer; of a field only what the codebook says of it."""
    return {
        "version": version,
        "html": guide(document),
        "fields": [_words(field) for field in form["fields"]],
    }


def guide(document: Mapping[str, Any]) -> str:
    """Return a codebook's general rules as sanitised HTML."""
    return _guide(str(document.get("text", "")))


@lru_cache(maxsize=64)
def _guide(text: str) -> str:
    html = rendered(text, "markdown")
    return mark_safe(html) if html else ""


def _words(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return a field without what an item brings into it, but for the classes to be ticked."""
    words = {name: field[name] for name in ("key", "kind", "label", "help")}
    if "options" in field:
        words["options"] = [{"label": o["label"], "anchor": o["anchor"]} for o in field["options"]]
    return words | {
        part: {"label": field[part]["label"], "help": field[part]["help"]}
        for part in ("picker", "notes")
        if part in field
    }


def _filled(field: Mapping[str, Any], values: Mapping[str, Any], wrong: Mapping[str, str]) -> dict[str, Any]:
    key = field["key"]
    out = {**field, "value": values.get(key, field.get("preset")), "error": wrong.get(key)}
    if field["kind"] == "checks":
        chosen = values.get(key) or []
        out["value"] = [chosen] if isinstance(chosen, str) else list(chosen)
    for part in PARTS:
        if part in field:
            out[part] = _filled(field[part], values, wrong)
    if "fields" in field:
        out["fields"] = [_filled(child, values, wrong) for child in field["fields"]]
    out["is_blank"] = _is_blank(out)
    return out


def _is_blank(field: Mapping[str, Any]) -> bool:
    """Say whether a field is as the codebook has it: no answer, no error, nothing that an item brings."""
    if field["kind"] in OF_THE_ITEM or field["value"] not in (None, "") or field["error"]:
        return False
    parts = [field[part] for part in PARTS if part in field]
    return all(part["is_blank"] for part in (*parts, *field.get("fields", ())))


def _summary(fields: list[dict[str, Any]], wrong: Mapping[str, str]) -> list[dict[str, str]]:
    """Return one link per field with an error, to the place on the page where it stands."""
    rows = []
    for field in fields:
        parts = [field[p] for p in PARTS if p in field] + list(field.get("fields", []))
        hit = next((f for f in (field, *parts) if f["error"]), None)
        if hit is not None:
            rows.append({"anchor": field["key"], "label": str(hit["label"])})
    if "" in wrong:
        rows.append({"anchor": "code-form", "label": wrong[""]})
    return rows


def _answer(field: Mapping[str, Any]) -> dict[str, str]:
    """Return a field's answer in words, to be read."""
    value = field["value"]
    labels = {option["value"]: option["label"] for option in field.get("options", [])}
    if field["kind"] == "checks":
        words = ", ".join(labels.get(v, v) for v in value) or "–"
    elif field["kind"] == "fieldset":
        words = "; ".join(f"{c['label']}: {_answer(c)['words']}" for c in field["fields"])
    elif field["kind"] in ("flag", "checkbox"):
        words = str(field.get("box", "")) if value in (True, "on", "true") else "–"
    else:
        words = labels.get(str(value), str(value)) if value not in (None, "") else "–"
    if field["kind"] == "cluster":
        place, target = field["picker"]["value"], field["target"]["value"]
        words = " · ".join(str(w) for w in (place, words, target) if w)
    notes = next((field[p]["value"] for p in ("notes", "reason") if p in field and field[p]["value"]), "")
    return {"label": str(field["label"]), "words": words, "notes": str(notes)}
