"""The one source of time. Everything that asks what time it is asks here, so that a history can be replayed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

_source: Callable[[], datetime] | None = None


def now() -> datetime:
    """Return the present moment, in UTC."""
    if _source is not None:
        return _source()
    return datetime.now(UTC)


@contextmanager
def frozen_at(moment: datetime) -> Iterator[Callable[[timedelta], None]]:
    """Stand still at `moment` (with a zone) inside the block; the value yielded moves the clock forward."""
    global _source
    before, current = _source, [moment.astimezone(UTC)]
    _source = lambda: current[0]  # noqa: E731

    def advance(step: timedelta) -> None:
        current[0] += step

    try:
        yield advance
    finally:
        _source = before
