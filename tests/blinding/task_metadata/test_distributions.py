from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.task_metadata import distributions, publish, tally
from blinding.task_metadata.distributions import LABELS, suppressed_cells
from tests.blinding.task_metadata.packages import metadata


def tasks(n: int, changes: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [metadata(changes) for _ in range(n)]


def counts_of(label: str, trees: list[dict[str, Any]]) -> tuple[dict[str, int], bool]:
    (family,) = distributions(trees).families
    marginal = next(marginal for marginal in family.marginals if marginal.label == label)
    return marginal.counts, marginal.suppressed


def tables(cells: int, total: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to spread `total` over so many cells."""
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in tables(cells - 1, total - first):
            yield (first, *rest)


def as_published(table: tuple[int, ...]) -> tuple[tuple[int | None, ...], bool]:
    """Return what a reader sees: an absent value and a suppressed one look the same."""
    counts = {str(cell): n for cell, n in enumerate(table)}
    hidden = suppressed_cells(counts)
    return tuple(n if n and str(cell) not in hidden else None for cell, n in enumerate(table)), bool(hidden)


@pytest.mark.parametrize(("cells", "largest"), [(3, 26), (4, 20), (5, 15)])
def test_no_suppressed_cell_follows_from_what_is_published_and_the_total(cells: int, largest: int) -> None:
    for total in range(5, largest + 1):
        possible: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
        for table in tables(cells, total):
            possible[as_published(table)].append(table)
        for (seen, is_suppressed), candidates in possible.items():
            if is_suppressed:
                for cell, n in enumerate(seen):
                    values = {table[cell] for table in candidates}
                    assert n is not None or len(values) > 1, (seen, candidates)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 40), max_size=8))
def test_what_is_suppressed_is_neither_small_nor_alone(counts: dict[str, int]) -> None:
    hidden = suppressed_cells(counts)
    present = {cell: n for cell, n in counts.items() if n}
    assert all(n >= 5 for cell, n in present.items() if cell not in hidden)
    assert bool(hidden) == any(n < 5 for n in present.values())
    if hidden and hidden != present.keys():
        assert len(hidden) >= 2
        assert sum(counts[cell] for cell in hidden) >= 5


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ({}, ""),
        ({"a": 5, "b": 9}, ""),
        ({"a": 5, "b": 9, "c": 0}, ""),
        ({"a": 4, "b": 9, "c": 20}, "ab"),
        ({"a": 1, "b": 2, "c": 9, "d": 8}, "abd"),
        ({"a": 2, "b": 4, "c": 9}, "ab"),
        ({"a": 3, "b": 3, "c": 9, "d": 10}, "abc"),
        ({"a": 4, "b": 6, "c": 6, "d": 7}, "abc"),
        ({"a": 3}, "a"),
        ({"a": 3, "b": 5}, "ab"),
    ],
)
def test_the_smallest_others_go_too(counts: dict[str, int], hidden: str) -> None:
    assert suppressed_cells(counts) == set(hidden)


def test_a_family_has_a_marginal_for_every_label() -> None:
    (family,) = distributions(tasks(6)).families
    assert (family.family, family.tasks) == ("bm-menus", 6)
    assert [marginal.label for marginal in family.marginals] == list(LABELS)
    assert {label.split("_")[0] for label in LABELS} == {f"t{number}" for number in range(1, 11)}


def test_values_are_counted() -> None:
    trees = [*tasks(7), *tasks(5, {"labels.t1_horizon": "medium"})]
    assert counts_of("t1_horizon", trees) == ({"medium": 5, "short": 7}, False)


def test_a_small_value_is_left_out_with_the_next_larger() -> None:
    trees = [
        *tasks(9),
        *tasks(6, {"labels.t10_risk": "medium"}),
        *tasks(2, {"labels.t10_risk": "high", "veto_categories": ["unsafe_advice"]}),
    ]
    assert counts_of("t10_risk", trees) == ({"low": 9}, True)


def test_a_task_counts_for_each_of_its_modalities_and_standards() -> None:
    standards = {"labels.t8_jurisdiction.standards": ["menu-code-2", "other", "other"]}
    trees = [*tasks(5), *tasks(6, {"labels.t4_modalities": ["text"], **standards})]
    assert counts_of("t4_modalities", trees) == ({"imaging": 5, "text": 11}, False)
    assert counts_of("t8_jurisdiction.standards", trees) == ({"menu-code-2": 11, "other": 6}, False)


def test_small_families_are_left_out_with_the_next_larger() -> None:
    sizes = {"bm-a": 4, "bm-b": 8, "bm-c": 7}
    published = distributions([tree for family, n in sizes.items() for tree in tasks(n, {"family": family})])
    assert [(family.family, family.tasks) for family in published.families] == [("bm-b", 8)]
    assert published.suppressed


def test_no_family_is_left_out_where_none_is_small() -> None:
    published = distributions([*tasks(5), *tasks(6, {"family": "bm-wines"})])
    assert [family.family for family in published.families] == ["bm-menus", "bm-wines"]
    assert not published.suppressed


def test_nothing_of_a_small_family_alone_is_published() -> None:
    published = distributions(tasks(4))
    assert (published.families, published.suppressed) == ((), True)
    assert distributions([]).as_json() == {"threshold": 5, "families_suppressed": False, "families": []}


def test_tallies_of_batches_add_up() -> None:
    first, second = tasks(3), tasks(4, {"labels.t9_scale": "small_batch"})
    assert publish(tally(first) + tally(second)) == distributions([*first, *second])


def test_the_json_names_what_was_suppressed() -> None:
    trees = [
        *tasks(8),
        *tasks(6, {"labels.t9_scale": "small_batch"}),
        *tasks(1, {"labels.t9_scale": "large_batch"}),
    ]
    json = distributions(trees).as_json()
    assert json["threshold"] == 5
    assert json["families"][0]["tasks"] == 15
    labels = json["families"][0]["labels"]
    assert labels["t9_scale"] == {"counts": {"single_case": 8}, "suppressed": True}
    assert labels["t3_specialties"] == {"counts": {"one": 15}, "suppressed": False}
