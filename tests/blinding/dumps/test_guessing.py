"""Who learns from lengths, from the order on the disk or from the order of serving guesses no better than chance.

And would guess better if the product were less careful: each carelessness is planted once, and found.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from annotation_app.models import Output
from blinding.allocation import Placement
from tests.blinding.dumps.guesser import CHANCE, ROWS, Hint, hints, luck
from tests.blinding.dumps.house import House, a_house
from tests.blinding.worlds.leaks import wrapped

pytestmark = pytest.mark.django_db
SHUFFLES = 3000


@pytest.fixture(scope="module")
def house(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    with a_house(django_db_blocker, tmp_path_factory.mktemp("careful")) as made:
        yield made


def found(hint: Hint) -> bool:
    return any(by_output for by_output in hint.features.values())


@pytest.mark.parametrize("table", [table for table in ROWS if table != "annotation_app_stagedoutput"])
def test_lengths_and_places_of_a_table_tell_nothing_after_the_release(house: House, table: str) -> None:
    hint = next(hint for hint in hints() if hint.table == table)
    assert found(hint)
    assert luck(hint.features, house.arms()) > CHANCE


def test_lengths_and_places_tell_nothing_after_the_import(django_db_blocker: Any, tmp_path: Path) -> None:
    with a_house(django_db_blocker, tmp_path, released=False) as house:
        told = {hint.table: luck(hint.features, house.arms()) for hint in hints() if found(hint)}
        assert set(told) == {"blinding_sealedoutput", "annotation_app_stagedoutput"}
        assert min(told.values()) > CHANCE


@pytest.mark.parametrize("name", ["primary_A", "primary_B"])
def test_the_order_of_serving_has_nothing_to_do_with_the_order_of_the_upload(house: House, name: str) -> None:
    assert likeness(house.served_order(name)) > CHANCE


def test_codes_of_clusters_have_nothing_to_do_with_the_order_of_the_upload(house: House) -> None:
    assert codes_likeness(house.cluster_codes()) > CHANCE


def likeness(order: list[int]) -> float:
    """Return how likely chance alone brings a random order as close to 0, 1, 2 …, or to its reverse, as `order` is."""
    ranks, drawn = np.arange(len(order)), np.random.default_rng(11)
    close = abs(np.corrcoef(order, ranks)[0, 1])
    as_close = sum(abs(np.corrcoef(drawn.permutation(order), ranks)[0, 1]) >= close for _ in range(SHUFFLES))
    return float(1 + as_close) / (1 + SHUFFLES)


def codes_likeness(codes: list[list[str]]) -> float:
    """Return how likely chance alone puts as many codes C1, C2 … in the place that they count."""
    drawn = np.random.default_rng(13)
    numbers = [[int(code[1:]) - 1 for code in task] for task in codes]

    def hits(tasks: list[list[int]]) -> int:
        return sum(place == number for task in tasks for place, number in enumerate(task))

    reached = hits(numbers)
    as_many = sum(
        hits([list(drawn.permutation(len(task))) for task in numbers]) >= reached for _ in range(SHUFFLES)
    )
    return (1 + as_many) / (1 + SHUFFLES)


# The carelessnesses: what is planted, and what then is found.


def unpadded_boxes() -> AbstractContextManager[Any]:
    return wrapped("blinding.sealing.pad_to", lambda pad_to, data, size: pad_to(data, len(data) + 64))


def serial_keys() -> AbstractContextManager[Any]:
    """Keys of outputs that count upwards, as serial ones, ULIDs and UUIDs of version 7 do."""
    counted = iter(range(1, 1_000_000))

    def around(draw: Any, purpose: str, subject: Any, n: int) -> bytes:
        drawn = bytes(draw(purpose, subject, n))
        if "staged" not in purpose:
            return drawn
        head = b"".join(next(counted).to_bytes(16, "big") for _ in range(n // 16))
        return head + drawn[len(head) :]

    return wrapped("blinding.entropy.draw", around)


def rows_as_they_came() -> AbstractContextManager[Any]:
    """No order when rows are moved into their tables: they lie as the upload had them."""
    from annotation_app.services.batches import staging

    plain = staging._INTO_TABLES.replace(" ORDER BY id", "").replace(" ORDER BY digest", "")
    return patch("annotation_app.services.batches.staging._INTO_TABLES", plain)


def order_of_the_upload() -> AbstractContextManager[Any]:
    """Items served in the order of the upload."""

    def around(allocate: Any, *args: Any) -> list[Placement]:
        texts = dict(Output.objects.values_list("blinded_output_id", "text"))
        turn = {text: number for number, text in enumerate(row["text"] for row in an_upload_rows())}
        placements = allocate(*args)
        who = sorted(placements, key=lambda p: (p.slot, p.member, turn[texts[p.blinded_id]]))
        places = sorted(placements, key=lambda p: (p.slot, p.member, p.position))
        return [
            Placement(a.blinded_id, a.slot, a.member, p.position) for a, p in zip(who, places, strict=True)
        ]

    return wrapped("annotation_app.services.batches.allocation.allocate", around)


def codes_as_they_came() -> AbstractContextManager[Any]:
    def around(shuffled: Any, items: Any, purpose: str, subject: Any) -> Any:
        return list(items) if purpose == "cluster codes" else shuffled(items, purpose, subject)

    return wrapped("blinding.entropy.shuffled", around)


def an_upload_rows() -> list[dict[str, Any]]:
    from tests.blinding.dumps.upload import an_upload

    return an_upload().rows


def by_table(table: str) -> Callable[[House], float]:
    return lambda house: luck(next(hint for hint in hints() if hint.table == table).features, house.arms())


CARELESS: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Callable[[House], float]]] = {
    "boxes that are not padded": (unpadded_boxes, by_table("blinding_sealedoutput")),
    "keys that count upwards": (serial_keys, by_table("annotation_app_output")),
    "rows that lie as they came": (rows_as_they_came, by_table("blinding_sealedoutput")),
    "an order that is the upload's": (
        order_of_the_upload,
        lambda house: likeness(house.served_order("primary_A")),
    ),
    "codes of clusters that count as they came": (
        codes_as_they_came,
        lambda house: codes_likeness(house.cluster_codes()),
    ),
}


@pytest.mark.parametrize("carelessness", CARELESS)
def test_a_carelessness_would_be_found(django_db_blocker: Any, tmp_path: Path, carelessness: str) -> None:
    plant, told = CARELESS[carelessness]
    with ExitStack() as stack:
        house = stack.enter_context(a_house(django_db_blocker, tmp_path, planted=plant()))
        assert told(house) < CHANCE
