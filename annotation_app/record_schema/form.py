"""The form that a record schema, a codebook and a protocol make.

Which neutral key stands for which property follows from the schema's order alone: the same for every output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.codebook import Codebook
from annotation_app.record_schema.controls import Control, build_control
from annotation_app.record_schema.layout import Layout, lay_out
from annotation_app.record_schema.presentation import Shown, control_json, is_shown
from annotation_app.record_schema.structure import Kind, RecordSchema, value_key

FROM_START = "from_start"


@dataclass(frozen=True)
class Rule:
    """Where every `when` path has one of its values, every `then` path has its value. Raw values."""

    when: Mapping[str, tuple[Any, ...]]
    then: Mapping[str, Any]


@dataclass(frozen=True)
class Form:
    """All controls in schema order, and the protocol's applicability rules."""

    schema: RecordSchema
    controls: tuple[Control, ...]
    rules: tuple[Rule, ...]
    show_proposed: str

    @cached_property
    def by_key(self) -> dict[str, Control]:
        return {control.key: control for top in self.controls for control in (top, *top.children)}

    @cached_property
    def by_path(self) -> dict[str, Control]:
        """Controls by path; that of the decision in a cluster decision names the control of its answers."""
        found = {control.path: control for control in self.by_key.values()}
        if self.schema.cluster:
            found[cluster.DECISION_PATH] = found[cluster.PATH]
        return found

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every neutral key that may be posted."""
        return frozenset(key for key, control in self.by_key.items() if control.kind is not Kind.FIELDSET)

    @cached_property
    def layout(self) -> Layout:
        return lay_out(self.controls)

    def preset(self, proposed: str | None) -> str | None:
        """Return the cluster that the picker starts with."""
        return proposed if self.show_proposed == FROM_START else None

    def for_coder(
        self,
        classes: Sequence[str] = (),
        clusters: Sequence[str] = (),
        proposed: str | None = None,
        own_new_clusters: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the form for one output as JSON, `{fields, layout, rules}`, without a word of the schema."""
        shown = Shown(classes, clusters, self.preset(proposed), own_new_clusters)
        fields = [control_json(control, shown) for control in self.controls if is_shown(control, shown)]
        hidden = {control.key for control in self.controls if not is_shown(control, shown)}
        columns = [[key for key in column if key not in hidden] for column in self.layout.columns]
        layout = {"columns": columns, "foot": list(self.layout.foot)}
        return {"fields": fields, "layout": layout, "rules": list(self._neutral_rules())}

    def _neutral_rules(self) -> Iterator[dict[str, Any]]:
        """Yield applicability rules as the page needs them: `{when: {key: [value]}, then: {key: value}}`."""
        for rule in self.rules:
            when = {
                self.by_path[path].key: [self.neutral(path, raw) for raw in raws]
                for path, raws in rule.when.items()
            }
            then = {self.by_path[path].key: self.neutral(path, raw) for path, raw in rule.then.items()}
            yield {"when": when, "then": then}

    def neutral(self, path: str, raw: Any) -> Any:
        """Return the neutral value of a raw one of an enum or tick box; KeyError for one it does not have."""
        return raw if isinstance(raw, bool) else self.by_path[path].neutral_of[value_key(raw)]


def build_form(schema: RecordSchema, codebook: Codebook, protocol: Mapping[str, Any]) -> Form:
    """Make the form of a study from its schema, its codebook and its complete protocol."""
    settings: Mapping[str, Any] = protocol["fields"]
    controls = tuple(
        build_control(f"f{number}", field, codebook, settings)
        for number, field in enumerate(schema.fields, 1)
    )
    rules = tuple(
        Rule({path: _any_of(value) for path, value in rule["when"].items()}, dict(rule["then"]))
        for rule in protocol["applicability"]
    )
    return Form(schema, controls, rules, protocol["show_proposed_cluster"])


def placed(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a coder's form by place: `{columns, foot}`; notes on clusters have their own."""
    found = {field["key"]: field for field in form["fields"]}
    found |= {field["notes"]["key"]: field["notes"] for field in form["fields"] if "notes" in field}
    layout = form["layout"]
    return {
        "columns": [[found[key] for key in column] for column in layout["columns"]],
        "foot": [found[key] for key in layout["foot"]],
    }


def _any_of(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)
