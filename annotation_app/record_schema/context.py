"""What the product knows of the output that a record is about."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RecordContext:
    """Clusters and classes of the output's task, its proposed cluster, and the coder's own new clusters.

    `own_new_clusters` are the names (`N1`, …) that this coder has used in this task on other outputs.
    """

    clusters: Sequence[str] = ()
    proposed_cluster: str | None = None
    positive_control: bool = False
    classes: Sequence[str] = ()
    own_new_clusters: Sequence[str] = ()
