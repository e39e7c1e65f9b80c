"""What is wrong with a codebook: its shape, its paths, its hotkeys, and words that coders must not read."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.codebook import Hits, complete_codebook, described
from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.shapes import shape_problems
from annotation_app.record_schema.structure import RecordSchema
from annotation_app.record_schema.wording import gettext as _

PAGE_HOTKEYS = frozenset("/t+-?")  # codebook, task statement, confidence, help: the page's own


def check_codebook(document: Any, schema: RecordSchema, hits: Hits) -> list[Problem]:
    """Return every problem of a codebook document; none means that `Codebook.of` can read it."""
    problems = shape_problems("codebook", document)
    if problems:
        return problems
    problems = [*_unknown(document, schema), *_forbidden(document, hits)]
    whole = complete_codebook(document, schema)["fields"]
    return [*problems, *_hotkey_problems(whole, schema), *_labels_alike(whole)]


def _unknown(document: Mapping[str, Any], schema: RecordSchema) -> Iterator[Problem]:
    known = described(schema)
    for path, entry in document.get("fields", {}).items():
        if path not in known and not _is_decision(path, schema):
            yield Problem(pointer("fields", path), _("No field of the form has this path."))
            continue
        values = known[schema.cluster.path] if _is_decision(path, schema) and schema.cluster else known[path]
        for value in entry.get("options", {}):
            if value not in values:
                yield Problem(pointer("fields", path, "options", value), _("The field has no such value."))


def _is_decision(path: str, schema: RecordSchema) -> bool:
    return schema.cluster is not None and path == f"{schema.cluster.path}.decision"


def _forbidden(document: Mapping[str, Any], hits: Hits) -> Iterator[Problem]:
    for place, text in _texts(document):
        for word in hits(text):
            yield Problem(place, _("This contains “%(word)s”, which coders must not read.") % {"word": word})


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every text that reaches a coder, with its place."""
    for name in ("version", "text"):
        yield pointer(name), document.get(name, "")
    for path, entry in document.get("fields", {}).items():
        for name in ("label", "help"):
            yield pointer("fields", path, name), entry.get(name, "")
        for value, option in entry.get("options", {}).items():
            for name in ("label", "anchor"):
                yield pointer("fields", path, "options", value, name), option.get(name, "")


def _hotkey_problems(fields: Mapping[str, Any], schema: RecordSchema) -> Iterator[Problem]:
    taken = dict.fromkeys(PAGE_HOTKEYS, _("the page itself"))
    if schema.cluster:
        taken |= dict.fromkeys(cluster.TARGET_HOTKEYS, _("the clusters to merge with"))
    for place, key in _hotkeys(fields):
        if key in taken:
            yield Problem(
                place, _("The key “%(key)s” is already used by %(what)s.") % {"key": key, "what": taken[key]}
            )
        taken.setdefault(key, place)


def _hotkeys(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for path, entry in fields.items():
        if key := entry.get("hotkey"):
            yield pointer("fields", path, "hotkey"), key.lower()
        for value, option in entry["options"].items():
            if key := option.get("hotkey"):
                yield pointer("fields", path, "options", value, "hotkey"), key.lower()


def _labels_alike(fields: Mapping[str, Any]) -> Iterator[Problem]:
    for path, entry in fields.items():
        seen: dict[str, str] = {}
        for value, option in entry["options"].items():
            label = " ".join(option["label"].split()).casefold()
            if label in seen:
                place = pointer("fields", path, "options", value, "label")
                yield Problem(
                    place,
                    _("The value “%(value)s” of this field has the same label.") % {"value": seen[label]},
                )
            seen.setdefault(label, value)
