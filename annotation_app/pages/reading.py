"""What is to be read of an item, the same wherever it is shown: task, output, clusters."""

from typing import Any

from django.utils.safestring import mark_safe

from annotation_app.projections import AssignmentView


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


def output_shown(text: str, html: str) -> dict[str, Any]:
    """Return an output as markup, or as plain paragraphs."""
    return {
        "html": mark_safe(html) if html else "",
        "paragraphs": [] if html else text.split("\n\n"),
    }
