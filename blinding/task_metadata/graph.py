"""The precedence graph of required actions: declared ends, no cycle, the longest chain."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from blinding.task_metadata.findings import Hit
from blinding.task_metadata.values import at, tables

_PRECEDENCE = "/required_actions/precedence"


class Edge(NamedTuple):
    position: int
    before: str
    after: str


def check_graph(tree: dict[str, Any]) -> Iterator[Hit]:
    """Yield hits of the rules of required_actions, where they are declared."""
    if at(tree, "required_actions", "actions") is None:
        return
    actions = tables(tree, "required_actions", "actions")
    declared = {action["id"] for _, action in actions if action.get("id") is not None}
    pairs = at(tree, "required_actions", "precedence") or []
    edges = _edges(pairs)
    unknown = list(_unknown_ends(declared, edges))
    yield from unknown
    yield from _edges_twice(edges)
    try:
        chain = longest_chain(declared, edges)
    except CycleError as error:
        yield Hit("precedence_cycle", _PRECEDENCE, " → ".join(error.args[1]))
        return
    depth = at(tree, "difficulty_components", "dependency_depth")
    is_whole = not unknown and len(edges) == len(pairs)  # else the chain is not the one that was meant
    if is_whole and chain and depth is not None and depth != len(chain):
        detail = f"it has {len(chain)} actions: {' → '.join(chain)}"
        yield Hit("depth_mismatch", "/difficulty_components/dependency_depth", detail)


def longest_chain(actions: set[str], edges: list[Edge]) -> list[str]:
    """Return the actions of a longest path of the graph in order, one action where there is no edge.

    Raises graphlib.CycleError, whose second argument is a cycle.
    """
    before: dict[str, set[str]] = {action: set() for action in actions}
    for edge in edges:
        before.setdefault(edge.after, set()).add(edge.before)
    length: dict[str, int] = {}
    previous: dict[str, str | None] = {}
    in_order = {action: sorted(predecessors) for action, predecessors in sorted(before.items())}
    for action in TopologicalSorter(in_order).static_order():
        last = max(in_order.get(action, ()), key=length.__getitem__, default=None)
        length[action] = 1 if last is None else length[last] + 1
        previous[action] = last
    chain: list[str] = []
    action_or_none = max(sorted(length), key=length.__getitem__, default=None)
    while action_or_none is not None:
        chain.append(action_or_none)
        action_or_none = previous[action_or_none]
    return chain[::-1]


def _edges(pairs: list[Any]) -> list[Edge]:
    return [
        Edge(position, *pair)
        for position, pair in enumerate(pairs)
        if isinstance(pair, list) and all(isinstance(end, str) for end in pair)
    ]


def _unknown_ends(declared: set[str], edges: list[Edge]) -> Iterator[Hit]:
    for edge in edges:
        for end, action in enumerate((edge.before, edge.after)):
            if action not in declared:
                yield Hit("precedence_unknown_action", f"{_PRECEDENCE}/{edge.position}/{end}", action)


def _edges_twice(edges: list[Edge]) -> Iterator[Hit]:
    seen: set[tuple[str, str]] = set()
    for edge in edges:
        if (edge.before, edge.after) in seen:
            yield Hit("duplicate_edge", f"{_PRECEDENCE}/{edge.position}", f"{edge.before} → {edge.after}")
        seen.add((edge.before, edge.after))
