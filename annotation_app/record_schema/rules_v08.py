"""What a v0.8 record must satisfy beyond its schema: clusters of the task, classes of the control."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from annotation_app.record_schema import cluster
from annotation_app.record_schema.context import RecordContext

Broken = tuple[str, str]  # the last step to the value ("" for the value itself) and the rule's name
Rule = Callable[[Any, RecordContext], Iterator[Broken]]


def cluster_rules(decision: Mapping[str, Any], context: RecordContext) -> Iterator[Broken]:
    """Yield the rules that a schema-valid cluster decision breaks.

    A task without clusters takes a new name with any decision but a merge.
    """
    home, target = decision["cluster_id"], decision.get("merge_target")
    verdict = decision["decision"]
    makes_new = verdict == cluster.SPLIT or (
        not context.clusters and verdict != cluster.MERGE and cluster.is_new(home)
    )
    if home not in context.clusters and not makes_new:
        yield "cluster_id", "cluster_unknown"
    if verdict != cluster.MERGE:
        if target is not None:
            yield "merge_target", "merge_target_not_null"
    elif not target:
        yield "merge_target", "merge_target_required"
    elif target == home:
        yield "merge_target", "merge_target_is_cluster"
    elif target not in context.clusters:
        yield "merge_target", "merge_target_unknown"


def class_rules(classes: Sequence[str], context: RecordContext) -> Iterator[Broken]:
    """Yield the rules that a schema-valid list of classes breaks: a control has its own, others have none."""
    if classes and not context.positive_control:
        yield "", "gold_class_not_allowed"
    elif any(name not in context.classes for name in classes):
        yield "", "gold_class_unknown"
