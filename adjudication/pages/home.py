"""The adjudicator's home: what this app puts into the study's home page."""

from typing import Any

from adjudication.services.queue import queue_of
from annotation_app.models import Membership
from blinding.policy import Phase

OPEN_IN = (Phase.CODING, Phase.REVIEW)


def adjudicator_home(membership: Membership) -> dict[str, Any]:
    return {"closed": membership.study.phase not in OPEN_IN, "cases": queue_of(membership)}
