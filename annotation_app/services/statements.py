"""Statements of the hot paths, written by hand: composing one from models costs several times what running it does.

PostgreSQL plans each once on a connection. They are counted and logged like any other query of Django's.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.models import JSONField, Model

Row = TypeVar("Row", bound=Model)


class Statement:
    """One SQL statement whose parameters, `%(name)s`, are sent beside it and never become part of its text."""

    def __init__(self, sql: str) -> None:
        self._sql = sql

    def first(self, **given: Any) -> tuple[Any, ...] | None:
        """Run the statement and return its first row, None where there is none; raises Django's database errors."""
        connection.ensure_connection()
        # To be prepared at its first run; cursors of Django's own never are.
        connection.connection.prepare_threshold = 0
        cursor: Any = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]
        logged = connection.queries_logged
        with connection.make_debug_cursor(cursor) if logged else connection.make_cursor(cursor) as running:
            running.execute(self._sql, given)
            row: tuple[Any, ...] | None = running.fetchone()
        if logged:  # psycopg keeps no text of a statement that was prepared
            text = connection.ops.compose_sql(self._sql, given)  # type: ignore[attr-defined]
            connection.queries_log[-1]["sql"] = text
        return row


class Columns(Generic[Row]):
    """The columns of a table that a statement reads, and the rows they make.

    Columns left out are read from the database when they are asked for; `instead` gives an expression for a column.
    """

    def __init__(
        self,
        model: type[Row],
        alias: str,
        *,
        without: Iterable[str] = (),
        instead: Mapping[str, str] | None = None,
    ) -> None:
        fields = [f for f in model._meta.concrete_fields if f.attname not in set(without)]
        self._model = model
        self._names = [f.attname for f in fields]
        self._key = self._names.index(model._meta.pk.attname)
        self._json = [(i, f) for i, f in enumerate(fields) if isinstance(f, JSONField)]
        self.sql = ", ".join((instead or {}).get(f.attname, f"{alias}.{f.column}") for f in fields)

    def __len__(self) -> int:
        return len(self._names)

    def row(self, values: Sequence[Any]) -> Row | None:
        """Return the row with these values; None where an outer join found none."""
        if values[self._key] is None:
            return None
        read = list(values)
        for i, field in self._json:
            read[i] = field.from_db_value(read[i], None, connection)  # type: ignore[arg-type]
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, read)


def rows_of(values: Sequence[Any], *parts: Columns[Any]) -> list[Any]:
    """Cut one row of a result into rows of the tables it was joined from, in the order of their columns."""
    rows, start = [], 0
    for part in parts:
        rows.append(part.row(values[start : start + len(part)]))
        start += len(part)
    return rows


def relate(row: Model, **related: Model | None) -> None:
    """Put rows that were read together in their places, so that no query fetches them again."""
    for name, other in related.items():
        row._meta.get_field(name).set_cached_value(row, other)  # type: ignore[union-attr]
