"""A payload in the codebook's words, for pages that show a code instead of asking for one."""

from collections.abc import Mapping
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.form import Form
from annotation_app.record_schema.structure import Kind, value_key

NOTHING = "No answer"


def readable(form: Form, values: Mapping[str, Any]) -> dict[str, str]:
    """Return each top-level answer as text under its neutral key; notes and reasons are left out."""
    return {control.key: _said(control, values.get(control.path)) for control in form.controls}


def _said(control: Control, raw: Any) -> str:
    if raw is None:
        return NOTHING
    if control.kind is Kind.CLUSTER:
        return _said_of_cluster(control, raw)
    if control.kind is Kind.FIELDSET:
        return "; ".join(f"{child.label}: {_said(child, raw.get(child.name))}" for child in control.children)
    if control.kind is Kind.CHECKS:
        return ", ".join(raw) or "None"
    if isinstance(raw, bool):
        return "Yes" if raw else "No"
    if control.kind is Kind.RADIO:
        return _label(control, raw)
    return str(raw)


def _said_of_cluster(control: Control, raw: Mapping[str, Any]) -> str:
    """Return the decision with its cluster; a coder's new cluster is not named, as the name counts them."""
    home, target = raw["cluster_id"], raw.get("merge_target")
    place = "a new cluster" if cluster.is_new(home) else home
    return f"{_label(control, raw['decision'])}: {place}" + (f" with {target}" if target else "")


def _label(control: Control, raw: Any) -> str:
    return next(
        (option.label for option in control.options if value_key(option.raw) == value_key(raw)), str(raw)
    )
