"""The worlds, made once for all tests that look at them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.blinding.worlds.fixture import as_it_is, permuted, renamed
from tests.blinding.worlds.lives import Life, short_life, whole_life
from tests.blinding.worlds.peers import PEER_OF, Beside


@dataclass(frozen=True)
class Twins:
    """The same history under three sets of labels."""

    first: Life
    renamed: Life
    permuted: Life


@pytest.fixture(scope="session")
def twins(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("twins")
    with django_db_blocker.unblock():
        made = Twins(
            whole_life(as_it_is(), folder), whole_life(renamed(), folder), short_life(permuted(), folder)
        )
    yield made
    with django_db_blocker.unblock():
        for life in (made.first, made.renamed, made.permuted):
            life.drop()


@pytest.fixture(scope="session")
def peers(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Beside]]:
    folder = tmp_path_factory.mktemp("peers")
    with django_db_blocker.unblock():
        made = {watched: Beside.of(watched, folder) for watched in PEER_OF}
    yield made
    with django_db_blocker.unblock():
        for beside in made.values():
            beside.drop()


@pytest.fixture(scope="session")
def trainees(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Beside]]:
    """As `peers`, while they are trained."""
    folder = tmp_path_factory.mktemp("trainees")
    with django_db_blocker.unblock():
        made = {watched: Beside.in_training(watched, folder) for watched in PEER_OF}
    yield made
    with django_db_blocker.unblock():
        for beside in made.values():
            beside.drop()
