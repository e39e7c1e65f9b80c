"""A case as its page shows it: the item, and per field both codings in words, with what is decided so far."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from adjudication.projections import CaseView, masked_sides
from adjudication.services.cases import Claim
from adjudication.services.decisions import is_on_item
from annotation_app.models import Membership
from annotation_app.pages.reading import output_shown, warning_before
from annotation_app.record_schema import Form, readable
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import WRITTEN, Kind
from annotation_app.record_schema.validation import value_at
from annotation_app.services.forms import form_of

Typed = Mapping[str, Any]
OTHER = "other-"


def item_shown(claim: Claim, view: CaseView) -> dict[str, Any]:
    """Return the item beside the decision, for the reading column."""
    html = claim.assignment.output.html
    protocol = claim.case.study.protocol
    return {
        "warning": warning_before(claim.assignment.output.task, protocol),
        "uncovered": view.own is not None or bool(view.draft["version"]),
        "uid": claim.assignment.pk,
        "task_code": view.task_code,
        "task_statement": view.task_statement,
        "reference_material": view.reference_material,
        "clusters": view.clusters,
        "proposed_cluster": view.proposed_cluster,
        **output_shown(view.text, html),
    }


def case_shown(
    claim: Claim, membership: Membership, view: CaseView, typed: Typed, faults: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the case with rows for disputed and for agreed fields; `typed` is what was chosen, by form name."""
    form = _form(claim, membership)
    wrong = _wrong_by_row(form, faults)
    left, right = _words(claim, membership, form)
    rows = [_row(control, typed, wrong, left, right, view) for control in _shown(form, view)]
    disputed = [row for row in rows if row["key"] in view.disputed]
    agreed = [row for row in rows if row["key"] not in view.disputed]
    return {
        "uid": view.case_uid,
        "assignment_uid": claim.assignment.pk,
        "submission_id": view.case_uid,
        "draft_version": view.draft["version"],
        "claim_no": view.claim_no,
        "has_own": view.own is not None,
        "lease_until": claim.case.lease_until,
        "disputed": disputed,
        "agreed": agreed,
        "agreed_open": any(row["source"] or row["error"] for row in agreed),
        "rationale": typed.get("rationale", ""),
        "rationale_error": wrong.get("rationale", ""),
        "errors": _summary(rows, wrong),
    }


def choices_in(claim: Claim, membership: Membership, view: CaseView, typed: Typed) -> dict[str, Any]:
    """Return the values of a decision, {key: {"from": source, "value"?: …}}, from what was posted."""
    values = {}
    for control in _shown(_form(claim, membership), view):
        source = typed.get(control.key)
        if source:
            other = {"value": _other_value(control, typed)} if source == "other" else {}
            values[control.key] = {"from": source, **other}
    return values


def _form(claim: Claim, membership: Membership) -> Form:
    assert claim.assignment.codebook_id is not None
    return form_of(membership.study, claim.assignment.codebook_id)


def _shown(form: Form, view: CaseView) -> list[Control]:
    """Return the fields that can be decided on. The flag is left out: it would tell a case that a coder asked for from
    one on which all agree. Texts are there where the protocol has them compared, classes where the task has some."""
    controls = [form.by_path[path] for path in form.schema.leaves]
    return [c for c in controls if c.key in view.disputed or _is_offered(c, view)]


def _is_offered(control: Control, view: CaseView) -> bool:
    return is_on_item(control, view.classes) and control.kind not in WRITTEN


def _words(claim: Claim, membership: Membership, form: Form) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both codings in the codebook's words, by key, left first."""
    leaves = tuple(form.by_path[path] for path in form.schema.leaves)
    with_notes = bool(membership.study.protocol["adjudication"]["show_notes"])
    left, right = masked_sides(claim, form)
    return _said(form, leaves, left, with_notes), _said(form, leaves, right, with_notes)


def _said(
    form: Form, leaves: tuple[Control, ...], payload: dict[str, Any], with_notes: bool
) -> dict[str, Any]:
    values = {leaf.path: value_at(payload, tuple(leaf.path.split("."))) for leaf in leaves}
    words = readable(replace(form, controls=leaves), values)
    said = {}
    for leaf in leaves:
        notes = (values[leaf.path] or {}).get("notes", "") if with_notes and leaf.kind is Kind.CLUSTER else ""
        said[leaf.key] = {"words": words[leaf.key], "notes": notes}
    return said


def _row(
    control: Control, typed: Typed, wrong: Mapping[str, str], left: Typed, right: Typed, view: CaseView
) -> dict[str, Any]:
    field = _field_json(view.form["fields"], control.key)
    return {
        "key": control.key,
        "label": control.label,
        "help": control.help,
        "left": left[control.key],
        "right": right[control.key],
        "own": None,
        "source": typed.get(control.key, ""),
        "other": _filled(field, typed),
        "error": wrong.get(control.key, ""),
    }


def _field_json(fields: Iterable[Mapping[str, Any]], key: str) -> Mapping[str, Any]:
    for field in fields:
        parts: list[Mapping[str, Any]] = [field, *field.get("fields", ())]
        parts += [field[name] for name in ("notes", "reason") if name in field]
        if found := next((part for part in parts if part["key"] == key), None):
            return found
    return {"key": key, "kind": "text", "label": ""}


def _filled(field: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
    """Return a field of the form with what was typed as another value."""
    value = typed.get(OTHER + field["key"])
    if field["kind"] == "checks":
        value = [value] if isinstance(value, str) else list(value or [])
    elif field["kind"] in ("checkbox", "flag"):
        value = {"true": True, "false": False}.get(str(value))
    parts = {part: _filled(field[part], typed) for part in ("picker", "target") if part in field}
    return {**field, **parts, "value": value}


def _other_value(control: Control, typed: Typed) -> Any:
    """Return another value as the record schema reads it: an object for a cluster decision, a list for classes."""
    value = typed.get(OTHER + control.key)
    if control.kind is Kind.CHECKS:
        return [value] if isinstance(value, str) else list(value or [])
    if control.kind is not Kind.CLUSTER:
        return value
    parts = [child for child in control.children if child.kind in (Kind.PICKER, Kind.TARGET)]
    named = {part.key: typed.get(OTHER + part.key) for part in (control, *parts)}
    return {key: chosen for key, chosen in named.items() if chosen}


def _wrong_by_row(form: Form, faults: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return messages by the key of the row they stand in: parts of a cluster decision stand in its row."""
    parents = {
        child.key: top.key for top in form.controls if top.kind is Kind.CLUSTER for child in top.children
    }
    wrong: dict[str, str] = {}
    for fault in faults:
        wrong.setdefault(parents.get(str(fault["field"]), str(fault["field"])), str(fault["message"]))
    return wrong


def _summary(rows: list[dict[str, Any]], wrong: Mapping[str, str]) -> list[dict[str, str]]:
    found = [{"anchor": row["key"], "label": str(row["label"])} for row in rows if row["error"]]
    if "rationale" in wrong:
        found.append({"anchor": "rationale", "label": _("Rationale")})
    shown = {"rationale", *(row["key"] for row in rows)}
    return found + [{"anchor": "code-form", "label": text} for key, text in wrong.items() if key not in shown]
