"""The protocol's applicability rules: what one answer settles of another is filled in, or must agree."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.form import Form, Rule
from annotation_app.record_schema.reading import FieldError
from annotation_app.record_schema.structure import Kind
from annotation_app.record_schema.validation import value_at
from annotation_app.record_schema.wording import gettext as _


def fill_in(rules: Sequence[Rule], values: dict[str, Any]) -> None:
    """Fill in, in place, what rules settle and nobody answered; also what follows from that."""
    for _round in rules:
        for rule in rules:
            if _holds(rule, values):
                for path, raw in rule.then.items():
                    _put_if_absent(values, path, raw)


def contradictions(form: Form, values: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield an error for every answer that a rule settles otherwise."""
    for rule in form.rules:
        if not _holds(rule, values):
            continue
        for path, raw in rule.then.items():
            if not _same(value_at(values, tuple(path.split("."))), raw):
                control = form.by_path[path]
                causes = [
                    _("“%(answer)s” under %(field)s")
                    % {"answer": _label(form, cause, values), "field": form.by_path[cause].label}
                    for cause in rule.when
                ]
                said = _("With %(causes)s, this can only be “%(answer)s”.")
                told = {"causes": _(" and ").join(causes), "answer": _label_of(control, raw)}
                yield FieldError(control.key, "applicability", said % told)


def _holds(rule: Rule, values: Mapping[str, Any]) -> bool:
    return all(
        any(_same(value_at(values, tuple(path.split("."))), raw) for raw in raws)
        for path, raws in rule.when.items()
    )


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _put_if_absent(values: dict[str, Any], path: str, raw: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
        if not isinstance(values, dict):
            return
    values.setdefault(name, raw)


def _label(form: Form, path: str, values: Mapping[str, Any]) -> str:
    return _label_of(form.by_path[path], value_at(values, tuple(path.split("."))))


def _label_of(control: Control, raw: Any) -> str:
    if control.kind is Kind.CHECKBOX:
        return control.options[0].label if raw else _("not %(answer)s") % {"answer": control.options[0].label}
    return next((option.label for option in control.options if _same(option.raw, raw)), "")
