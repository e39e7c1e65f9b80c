"""What is to be read of an item, the same wherever it is shown: task, output, clusters."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import mark_safe

from annotation_app.models import Task
from annotation_app.projections import AssignmentView
from annotation_app.rendering import direction_of

PARAGRAPH = 80  # what a paragraph weighs by itself, in code points
PIECE = 8000  # code points; a paragraph of a million took a browser many seconds to lay out
LONGEST_CHARACTER = 30
JOINER = "\u200d"


def reading(view: AssignmentView, html: str) -> dict[str, Any]:
    """Return the reading half of an item's page; `html` is the output as rendered at its release, empty for plain text."""
    return {
        "uid": view.assignment_uid,
        "position": view.position,
        "total": view.total,
        "task_code": view.task_code,
        "task_statement": view.task_statement,
        "reference_material": view.reference_material,
        "clusters": view.clusters,
        "proposed_cluster": view.proposed_cluster,
        **output_shown(view.text, html),
    }


def warning_before(task: Task, protocol: Mapping[str, Any]) -> str:
    """Return what a coder reads before the outputs of a task, empty for nothing: the same for all of them."""
    warning = protocol.get("content_warning", {})
    named = warning.get("tasks", [])
    return str(warning.get("text", "")) if not named or task.task_id in named else ""


def output_shown(text: str, html: str) -> dict[str, Any]:
    """Return an output as markup, or in plain pieces."""
    return {
        "html": mark_safe(html) if html else "",
        "direction": direction_of([text]) if html else "",
        "blocks": [] if html else blocks_of(text),
    }


@dataclass(frozen=True)
class Piece:
    """A paragraph, or a part of a very long one: `goes_on` where it belongs to the piece before."""

    text: str
    goes_on: bool


def blocks_of(text: str) -> list[list[Piece]]:
    """Return a text's pieces in blocks, of which a browser lays out those in view: tens of thousands of short paragraphs
    are as slow as one long one."""
    blocks: list[list[Piece]] = [[]]
    size = 0
    for piece in pieces_of(text):
        if size >= PIECE:
            blocks.append([])
            size = 0
        blocks[-1].append(piece)
        size += len(piece.text) + PARAGRAPH
    return blocks


def pieces_of(text: str) -> list[Piece]:
    """Return the paragraphs of a text, each in pieces of a size that a browser lays out without a pause.

    A paragraph is parted at the end of a line, else at a space, else where it is full; no character is lost but the line
    ends at the seams.
    """
    return [
        Piece(part, number > 0)
        for paragraph in text.split("\n\n")
        for number, part in enumerate(_parted(paragraph))
    ]


def _parted(paragraph: str) -> Iterator[str]:
    start = 0
    while len(paragraph) - start > PIECE:
        line = paragraph.rfind("\n", start, start + PIECE)
        end = line if line > start else paragraph.rfind(" ", start, start + PIECE) + 1
        if end <= start:
            end = _between_characters(paragraph, start + PIECE)
        yield paragraph[start:end]
        start = end + (line > start)
    yield paragraph[start:]


def _between_characters(text: str, place: int) -> int:
    """Return the nearest place before, within a few code points, that does not part a letter from its marks."""
    for back in range(min(place, LONGEST_CHARACTER)):
        if (
            not unicodedata.combining(text[place - back])
            and JOINER not in text[place - back - 1 : place - back + 1]
        ):
            return place - back
    return place
