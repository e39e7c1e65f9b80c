"""What the product knows of an item when its codes are read: the task's clusters, its classes, the coder's new clusters."""

from typing import Any

from annotation_app.models import Assignment, Cluster, OwnCluster
from annotation_app.record_schema import RecordContext, cluster
from annotation_app.services.items import Beside


def clusters_of(item: Assignment) -> list[Cluster]:
    """Return the proposed clusters of the item's task in its batch, by code; a query unless they were read with the item."""
    beside: Beside | None = getattr(item, "beside", None)
    if beside is not None:
        return beside.clusters
    found = Cluster.objects.filter(task_id=item.output.task_id, batch=item.output.batch_id)
    return sorted(found, key=lambda c: (len(c.code), c.code))


def own_clusters_of(item: Assignment) -> list[str]:
    """Return the codes of the new clusters that this coder made in the item's task; a query unless they were read."""
    beside: Beside | None = getattr(item, "beside", None)
    if beside is not None:
        return beside.own
    codes = OwnCluster.objects.filter(member=item.member_id, task=item.output.task_id).values_list(
        "code", flat=True
    )
    return sorted(codes, key=lambda code: (len(code), code))


def empty_places_beside(item: Assignment) -> int:
    """Return how many places of the coder's order are empty, as read with the item; 0 for one that is in no order."""
    beside: Beside | None = getattr(item, "beside", None)
    return beside.empty_places if beside is not None else 0


def context_of(
    item: Assignment, clusters: list[Cluster] | None = None, own: list[str] | None = None
) -> RecordContext:
    """Return the context in which the item's codes are valid; two queries where lists are not given."""
    task = item.output.task
    return RecordContext(
        clusters=tuple(c.code for c in (clusters_of(item) if clusters is None else clusters)),
        proposed_cluster=item.output.cluster.code if item.output.cluster else None,
        positive_control=task.positive_control,
        classes=tuple(task.classes),
        own_new_clusters=tuple(own_clusters_of(item) if own is None else own),
    )


def new_cluster_in(values: dict[str, Any]) -> str | None:
    """Return the coder's own new cluster that a payload names, if it does."""
    code = (values.get(cluster.PATH) or {}).get("cluster_id")
    return code if isinstance(code, str) and cluster.is_new(code) else None
