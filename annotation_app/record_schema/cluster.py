"""The words of the cluster decision, and the names of the clusters that coders make."""

import re
from collections.abc import Iterable

PATH = "semantic_cluster_decision"
CLUSTER_PATH = f"{PATH}.cluster_id"
DECISION_PATH = f"{PATH}.decision"
TARGET_PATH = f"{PATH}.merge_target"
NOTES_PATH = f"{PATH}.notes"

CONFIRM = "confirm"
MERGE = "merge_with_other"
SPLIT = "split"
REJECT = "reject_as_nonsemantic_noise"
UNCERTAIN = "uncertain"
DECISIONS = frozenset({CONFIRM, MERGE, SPLIT, REJECT, UNCERTAIN})

TARGET_HOTKEYS = "6789"  # the clusters to merge with, in their order
NEW = "new"  # posted in place of a cluster's code: the product gives the name
_NEW_NAME = re.compile(r"N([1-9][0-9]*)")


def is_new(name: str) -> bool:
    """Say whether `name` is one of the names that the product gives to clusters made by coders."""
    return _NEW_NAME.fullmatch(name) is not None


def next_new_name(own: Iterable[str]) -> str:
    """Return the name after the highest of a coder's `own` new clusters in the task."""
    numbers = (int(match[1]) for name in own if (match := _NEW_NAME.fullmatch(name)))
    return f"N{max(numbers, default=0) + 1}"
