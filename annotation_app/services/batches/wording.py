"""Statements, reference materials, cluster labels and classes with a word that coders must not meet: listed for the admin."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotation_app.batch_file import TaskFound, TaskKey
from annotation_app.models import Study, Task
from annotation_app.vocabulary import forbidden_words
from blinding.redaction.finder import Finder
from blinding.vocabulary import Vocabulary

LISTED = 100


def telling_wording(
    study: Study, tasks: Mapping[TaskKey, Task], found: Mapping[TaskKey, TaskFound], finder: Finder
) -> list[dict[str, Any]]:
    """Return [{task, place, word}, …], the first hundred: task codes and words as they stand in the text that is shown anyway."""
    vocabulary = Vocabulary(forbidden_words(study))
    hits = []
    for key, task in found.items():
        for place, text in _texts(task):
            words = {text[h.start : h.end] for h in vocabulary.hits(text)}
            words |= {text[s.start : s.end] for s in finder.find(text)}
            hits += [{"task": tasks[key].code, "place": place, "word": word} for word in sorted(words)]
    return hits[:LISTED]


def _texts(task: TaskFound) -> Iterable[tuple[str, str]]:
    yield "statement", task.statement or ""
    yield "reference material", task.reference_material or ""
    for label in task.clusters.values():
        yield "cluster label", label or ""
    for name in task.classes:
        yield "class", name
