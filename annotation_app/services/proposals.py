"""When a coder learns into which cluster an output was grouped: from the start, after an own choice is stored, or never."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from annotation_app.models import Assignment, Membership
from annotation_app.record_schema import cluster, to_draft
from annotation_app.services.contexts import context_of
from annotation_app.services.forms import form_of
from annotation_app.services.items import served_item

AFTER_OWN_CHOICE = "after_own_choice"


def is_shown_later(membership: Membership) -> bool:
    return bool(membership.study.protocol["show_proposed_cluster"] == AFTER_OWN_CHOICE)


def proposal_after(*, membership: Membership, uid: UUID, fields: Mapping[str, Any]) -> str | None:
    """Return the proposed cluster's code if the protocol shows it after an own choice and stored `fields` hold one.

    A query only where the protocol says so.
    """
    if not is_shown_later(membership):
        return None
    item = served_item(membership.pk, uid)
    return None if item is None else proposal_of(membership, item, fields)


def proposal_of(membership: Membership, item: Assignment, fields: Mapping[str, Any]) -> str | None:
    """Return the same for an item at hand."""
    if not is_shown_later(membership) or item.output.cluster is None:
        return None
    form = form_of(membership.study, item.codebook_id)  # type: ignore[arg-type]
    if not form.schema.cluster:
        return None
    given = to_draft(form, fields, context_of(item))
    asked = (form.by_path[cluster.PATH].key, form.by_path[cluster.CLUSTER_PATH].key)
    return item.output.cluster.code if all(given.get(key) for key in asked) else None
