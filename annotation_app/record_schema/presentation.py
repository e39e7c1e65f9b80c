"""The form as a coder gets it for one output: neutral keys and values, and no word of the schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.controls import Control, Option
from annotation_app.record_schema.layout import is_dense
from annotation_app.record_schema.structure import NUMERIC, WRITTEN, Kind

NEW_LABEL = "A new cluster"


@dataclass(frozen=True)
class Shown:
    """What one output brings into its form."""

    classes: Sequence[str]
    clusters: Sequence[str]
    preset: str | None
    own_new_clusters: Sequence[str]


def is_shown(control: Control, shown: Shown) -> bool:
    """Say whether the output has this control: classes only where the task offers some."""
    return control.kind is not Kind.CHECKS or bool(shown.classes)


def control_json(control: Control, shown: Shown) -> dict[str, Any]:
    """Return one control as JSON."""
    out: dict[str, Any] = {
        "key": control.key,
        "kind": str(control.kind),
        "label": control.label,
        "help": control.help,
        "hotkey": control.hotkey or None,
        "required": control.required,
    }
    if control.kind is Kind.CLUSTER:
        return out | _cluster(control, shown)
    if control.kind is Kind.FIELDSET:
        return out | {
            "fields": [control_json(child, shown) for child in control.children if is_shown(child, shown)]
        }
    if control.kind is Kind.FLAG:
        return out | _box(control) | {"reason": control_json(control.children[0], shown)}
    if control.kind is Kind.CHECKBOX:
        return out | _box(control)
    if control.kind is Kind.CHECKS:
        return out | {"options": _classes(shown.classes)}
    if control.kind in NUMERIC:
        return out | _number(control)
    if control.kind in WRITTEN:
        return out | {"maxlength": control.field.max_length}
    if control.kind is Kind.RADIO:
        return out | {"dense": is_dense(control), "options": [_option(option) for option in control.options]}
    return out  # picker and target, whose options are the task's


def _option(option: Option) -> dict[str, Any]:
    return {
        "value": option.value,
        "label": option.label,
        "hotkey": option.hotkey or None,
        "anchor": option.anchor,
    }


def _box(control: Control) -> dict[str, Any]:
    """Return the words beside a tick box; ticked, it is posted as `true` or `on`."""
    option = control.options[0]
    return {"box": option.label, "hotkey": option.hotkey or control.hotkey or None}


def _classes(classes: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "value": str(number),
            "label": name,
            "hotkey": f"shift+{number}" if number <= 9 else None,
            "anchor": "",
        }
        for number, name in enumerate(classes, 1)
    ]


def _number(control: Control) -> dict[str, Any]:
    field = control.field
    bounds = {"min": field.minimum, "max": field.maximum, "step": field.step}
    if control.kind is Kind.SCALE:
        return bounds | {"low": control.options[0].label, "high": control.options[1].label}
    return bounds


def _cluster(control: Control, shown: Shown) -> dict[str, Any]:
    """Return a cluster decision: picker, five answers, target, notes.

    A pick `implies` the only answer that goes with it; an answer `opens` the control that it needs.
    """
    out: dict[str, Any] = {"options": [_decision(option, control, shown) for option in control.options]}
    for child in control.children:
        if child.kind is Kind.PICKER:
            split = control.neutral_of[cluster.SPLIT] if shown.clusters else None
            out["picker"] = control_json(child, shown) | {
                "preset": shown.preset,
                "options": _picks(shown, split),
            }
        elif child.kind is Kind.TARGET:
            out["target"] = control_json(child, shown) | {"options": _targets(shown.clusters)}
        else:
            out["notes"] = control_json(child, shown)
    return out


def _decision(option: Option, control: Control, shown: Shown) -> dict[str, Any]:
    if option.raw != cluster.MERGE:
        return _option(option)
    target = control.child(Kind.TARGET)
    opens = target.key if target else None
    return _option(option) | {"opens": opens, "disabled": len(shown.clusters) < 2}


def _picks(shown: Shown, split: str | None) -> list[dict[str, Any]]:
    own = sorted(set(shown.own_new_clusters), key=lambda name: (len(name), name))
    picks = [{"value": code, "label": code, "implies": None} for code in shown.clusters]
    picks += [{"value": name, "label": name, "implies": split} for name in own]
    return [*picks, {"value": cluster.NEW, "label": NEW_LABEL, "implies": split}]


def _targets(clusters: Sequence[str]) -> list[dict[str, Any]]:
    keys = [*cluster.TARGET_HOTKEYS, *[None] * len(clusters)]
    return [{"value": code, "label": code, "hotkey": key} for code, key in zip(clusters, keys, strict=False)]
