"""The worlds, made once for all tests that look at them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.blinding.worlds.fixture import as_it_is, permuted, renamed
from tests.blinding.worlds.lives import Life, short_life, whole_life


@dataclass(frozen=True)
class Twins:
    """The same history under three sets of labels."""

    first: Life
    renamed: Life
    permuted: Life


@pytest.fixture(scope="session")
def twins(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("twins")
    with django_db_blocker.unblock():
        lives = Twins(
            whole_life(as_it_is(), folder), whole_life(renamed(), folder), short_life(permuted(), folder)
        )
    yield lives
    with django_db_blocker.unblock():
        for life in (lives.first, lives.renamed, lives.permuted):
            life.drop()
