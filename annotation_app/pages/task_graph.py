"""The precedence graph of a task's required actions as coordinates for a picture: layers from left to right. No ORM."""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

WIDTH, HEIGHT = 168, 30  # of an action's box
ACROSS, DOWN = 48, 14  # between boxes
MARGIN = 2
LONGEST = 22  # characters that fit into a box


@dataclass(frozen=True)
class Node:
    """An action's box; `label` is cut to what fits."""

    id: str
    label: str
    x: int
    y: int
    text_x: int
    text_y: int


@dataclass(frozen=True)
class Edge:
    """A line from an action to one that has to wait for it, as an SVG path."""

    before: str
    after: str
    path: str


@dataclass(frozen=True)
class Picture:
    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    box_width: int = WIDTH
    box_height: int = HEIGHT


def picture_of(metadata: dict[str, Any]) -> Picture | None:
    """Return the picture of a task's required actions, None where none are declared."""
    declared = metadata.get("required_actions")
    if not declared or not declared["actions"]:
        return None
    actions = [str(action["id"]) for action in declared["actions"]]
    edges = list(dict.fromkeys((str(before), str(after)) for before, after in declared["precedence"]))
    places = _places(actions, edges)
    nodes = {action: _node(action, *places[action]) for action in actions}
    columns, rows = max(x for x, _ in places.values()) + 1, max(y for _, y in places.values()) + 1
    return Picture(
        width=columns * (WIDTH + ACROSS) - ACROSS + 2 * MARGIN,
        height=rows * (HEIGHT + DOWN) + 2 * MARGIN,
        nodes=tuple(nodes.values()),
        edges=tuple(Edge(before, after, _path(nodes[before], nodes[after])) for before, after in edges),
    )


def _places(actions: list[str], edges: list[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return each action's column, the longest way to it, and its row, the next one free in the column."""
    before: dict[str, set[str]] = {action: set() for action in actions}
    for first, then in edges:
        before[then].add(first)
    column: dict[str, int] = {}
    for action in TopologicalSorter(before).static_order():
        column[action] = max((column[first] + 1 for first in before[action]), default=0)
    used: dict[int, int] = {}
    places = {}
    for action in actions:
        row = used.get(column[action], 0)
        places[action] = (column[action], row)
        used[column[action]] = row + 1
    return places


def _node(action: str, column: int, row: int) -> Node:
    x, y = MARGIN + column * (WIDTH + ACROSS), MARGIN + row * (HEIGHT + DOWN)
    label = action if len(action) <= LONGEST else f"{action[: LONGEST - 1]}…"
    return Node(action, label, x, y, x + WIDTH // 2, y + HEIGHT // 2 + 4)


def _path(before: Node, after: Node) -> str:
    x1, y1 = before.x + WIDTH, before.y + HEIGHT // 2
    x2, y2 = after.x, after.y + HEIGHT // 2
    bend = ACROSS // 2
    if x2 - x1 == ACROSS:
        return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    between = before.y + HEIGHT + DOWN // 2  # boxes of the columns in between stay clear
    down = f"C{x1 + bend} {y1} {x1 + bend} {between} {x1 + ACROSS} {between}"
    return f"M{x1} {y1} {down} L{x2 - ACROSS} {between} C{x2 - bend} {between} {x2 - bend} {y2} {x2} {y2}"
