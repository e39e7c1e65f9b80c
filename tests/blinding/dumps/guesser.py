"""Somebody with a copy of the database who knows how a few outputs are labelled, and guesses the others.

They see lengths of columns and where rows lie; a guess is the arm whose known rows look most alike. Whether that is more
than luck is told by permuting the labels, always in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray

PERMUTATIONS = 3000
CHANCE = 0.02  # a p-value below it is no luck
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Features = Mapping[str, Mapping[str, Sequence[float]]]  # column → output → values

# By table, the column that names the output a row is about.
ROWS = {
    "blinding_sealedoutput": "output",
    "blinding_opendigests": "output",
    "annotation_app_output": "id",
    "annotation_app_stagedoutput": "id",
    "annotation_app_assignment": "output_id",
}


@dataclass(frozen=True)
class Hint:
    """What one table lets out about outputs."""

    table: str
    features: Features


def hints() -> list[Hint]:
    """Return lengths of all columns, and the place in the heap, of every table that has rows about outputs."""
    return [Hint(table, _features(table, key)) for table, key in ROWS.items()]


def _features(table: str, key: str) -> dict[str, dict[str, list[float]]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table])
        columns = sorted(name for (name,) in cursor.fetchall())
        lengths = ", ".join(f"coalesce(length(r.{column}::text), 0)" for column in columns)
        cursor.execute(
            f"SELECT r.{key}::text, row_number() OVER (ORDER BY r.ctid), {lengths} FROM {table} r ORDER BY r.ctid"
        )
        rows = cursor.fetchall()
    found: dict[str, dict[str, list[float]]] = {name: {} for name in ("place in the heap", *columns)}
    for output, *values in rows:
        for name, value in zip(found, values, strict=True):
            found[name].setdefault(output, []).append(float(value))
    return found


def luck(features: Features, arms: Mapping[str, int]) -> float:
    """Return how likely chance alone guesses as well as who learnt from these features, the best one or all; at most 1.

    Who may choose among many features is lucky more often: the smallest of the p-values counts as often as there are any.
    """
    outputs = sorted(arms)
    columns = [
        np.array([np.mean(by_output.get(o, [0.0])) for o in outputs]) for by_output in features.values()
    ]
    scaled = [((column - column.mean()) / column.std())[:, None] for column in columns if column.std() > 0]
    if not scaled:
        return 1.0
    known = np.array([arms[o] for o in outputs])
    tables = [*scaled, np.hstack(scaled)]
    return min(1.0, len(tables) * min(_luck(table, known) for table in tables))


def _luck(table: Floats, known: Labels) -> float:
    reached = _hits(table, known)
    drawn = np.random.default_rng(7)
    at_least = sum(_hits(table, drawn.permutation(known)) >= reached for _ in range(PERMUTATIONS))
    return (1 + at_least) / (1 + PERMUTATIONS)


def _hits(table: Floats, known: Labels) -> int:
    """Count right guesses, each output guessed from all others: the arm with the nearer mean."""
    sums = np.array([table[known == arm].sum(axis=0) for arm in (0, 1)])
    sizes = np.array([(known == arm).sum() for arm in (0, 1)])
    own = (sums[known] - table) / (sizes[known] - 1)[:, None]
    other = sums[1 - known] / sizes[1 - known][:, None]
    return int((((table - own) ** 2).sum(axis=1) < ((table - other) ** 2).sum(axis=1)).sum())
