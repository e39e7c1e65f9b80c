"""An item with everything that its page shows, in one statement whatever the size of the study."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from annotation_app.models import Assignment, Cluster, Codebook, Draft, Output, Task
from annotation_app.services.statements import Columns, Statement, relate, rows_of


@dataclass(frozen=True)
class Beside:
    """What stands beside an item: its task's proposed clusters in the batch and the coder's own new ones, both by code, and
    how many places of the coder's order are empty, their items taken out."""

    clusters: list[Cluster]
    own: list[str]
    empty_places: int


_ITEM = Columns(
    Assignment,
    "a",
    instead={
        "served_at": "coalesce(served.served_at, a.served_at)",
        "codebook_id": "coalesce(served.codebook_id, a.codebook_id)",
    },
)
_OUTPUT = Columns(Output, "o")
_TASK = Columns(Task, "t")
_PROPOSED = Columns(Cluster, "c", without=["exemplars"])
_DRAFT = Columns(Draft, "d")
_CODEBOOK = Columns(Codebook, "k", without=["document"])
_PARTS = (_ITEM, _OUTPUT, _TASK, _PROPOSED, _DRAFT, _CODEBOOK)
_CLUSTER = ("id", "code", "label", "exemplars")

_SHOWN = f"""
SELECT {", ".join(part.sql for part in _PARTS)},
       (SELECT json_agg(json_build_array(x.id, x.code, x.label, x.exemplars) ORDER BY length(x.code), x.code)
          FROM annotation_app_cluster x WHERE x.task_id = o.task_id AND x.batch = o.batch_id),
       ARRAY(SELECT n.code FROM annotation_app_owncluster n
              WHERE n.member_id = a.member_id AND n.task_id = o.task_id ORDER BY length(n.code), n.code),
       (SELECT count(*) FROM annotation_app_assignment v
         WHERE v.member_id = a.member_id AND v.calibration = a.calibration
           AND v.voided_at IS NOT NULL AND v.position IS NOT NULL)
  FROM item a
  LEFT JOIN served ON true
  JOIN annotation_app_output o ON o.id = a.output_id
  JOIN annotation_app_task t ON t.id = o.task_id
  LEFT JOIN annotation_app_cluster c ON c.id = o.cluster_id
  LEFT JOIN annotation_app_draft d ON d.assignment_id = a.id
  LEFT JOIN annotation_app_codebook k ON k.id = coalesce(served.codebook_id, a.codebook_id)
"""  # noqa: S608  names of tables and columns only

# The member's first open item, which the index open_in_own_order has in front, and in the same breath what is written
# once when it is opened: the time, and the newest codebook that has the rules its batch was released under.
_NEXT = Statement(f"""
WITH item AS (
    SELECT * FROM annotation_app_assignment
     WHERE member_id = %(member)s AND calibration = %(calibration)s
       AND submitted_at IS NULL AND voided_at IS NULL AND held_at IS NULL
     ORDER BY skips, position LIMIT 1
), served AS (
    UPDATE annotation_app_assignment a
       SET served_at = %(now)s,
           codebook_id = (SELECT k.id FROM annotation_app_output o
                            JOIN annotation_app_batch b ON b.id = o.batch_id
                            JOIN annotation_app_codebook r ON r.id = b.codebook_id
                            JOIN annotation_app_codebook k ON k.study_id = r.study_id AND k.rule_version <= r.rule_version
                           WHERE o.id = a.output_id ORDER BY k.number DESC LIMIT 1)
      FROM item
     WHERE a.id = item.id AND a.served_at IS NULL AND a.voided_at IS NULL AND a.held_at IS NULL
    RETURNING a.served_at, a.codebook_id
)
{_SHOWN}""")  # noqa: S608  names of tables and columns only
_OWN = Statement(f"""
WITH item AS (
    SELECT * FROM annotation_app_assignment WHERE id = %(uid)s AND member_id = %(member)s AND served_at IS NOT NULL
), served AS (
    SELECT served_at, codebook_id FROM item
)
{_SHOWN}""")  # noqa: S608  names of tables and columns only


def serve_next(member: UUID, *, calibration: bool, now: datetime) -> Assignment | None:
    """Return the member's first open item, served at `now` unless it was before; None when none is open."""
    while (row := _NEXT.first(member=member, calibration=calibration, now=now)) is not None:
        item = _built(row)
        if item.served_at is not None:
            return item
        # Another tab served it, or it was taken out of the list, after this statement had begun to read.
    return None


def served_item(member: UUID, uid: UUID) -> Assignment | None:
    """Return one of the member's items that was served before; None for any other."""
    row = _OWN.first(member=member, uid=uid)
    return _built(row) if row is not None else None


def _built(values: tuple[Any, ...]) -> Assignment:
    *columns, clusters, own, empty_places = values
    item, output, task, proposed, draft, codebook = rows_of(columns, *_PARTS)
    relate(output, task=task, cluster=proposed)
    relate(item, output=output, draft=draft, codebook=codebook)
    proposals = [Cluster.from_db(DEFAULT_DB_ALIAS, _CLUSTER, row) for row in clusters or ()]
    item.beside = Beside(proposals, own, empty_places)
    return item  # type: ignore[no-any-return]
