"""Every rule of the database refuses who would break it, under its own name; and no rule is without an attempt."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from psycopg import Error as PsycopgError

from tests.clones import cloned_database
from tests.database.broken_rules import DOMAIN
from tests.database.broken_work import WORK
from tests.database.ground import lay_the_ground

pytestmark = pytest.mark.django_db
ATTEMPTS = [*DOMAIN, *WORK]
APPS = ("blinding", "annotation_app", "adjudication")


@pytest.fixture(scope="module")
def ground(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The studies, made once for all attempts, in a database of their own."""
    with cloned_database(django_db_blocker):
        lay_the_ground()
        yield


@pytest.mark.parametrize(
    ("rule", "statements"), ATTEMPTS, ids=[f"{rule}-{number}" for number, (rule, _) in enumerate(ATTEMPTS)]
)
def test_the_rule_refuses_who_would_break_it(ground: None, rule: str, statements: list[str]) -> None:
    assert _refusal(statements) == rule


def test_every_rule_has_an_attempt(ground: None) -> None:
    tried = {rule for rule, _ in ATTEMPTS}
    assert _rules_of_triggers() | _rules_of_models() | _rules_of_the_catalog() <= tried


def test_every_trigger_that_only_refuses_is_tried_with_each_of_its_verbs(ground: None) -> None:
    tried = {(rule, statements[-1].split()[0]) for rule, statements in ATTEMPTS}
    assert _refusing_triggers() <= tried


def _refusal(statements: list[str]) -> str:
    """Return the name of the rule that refused the last statement; empty where nothing did."""
    try:
        with transaction.atomic():
            for statement in statements[:-1]:
                assert _execute(statement), f"this prepares nothing: {statement}"
            with transaction.atomic():
                changed = _execute(statements[-1])
            transaction.set_rollback(True)
    except DatabaseError as fault:
        refused = fault.__cause__
        return str(refused.diag.constraint_name) if isinstance(refused, PsycopgError) else str(fault)
    return f"nothing refused it ({changed} rows)"


def _execute(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.rowcount)


def _rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


_TRIGGERS = """
SELECT t.tgname, t.tgtype, p.proname, p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal
"""
_VERBS = {8: "DELETE", 16: "UPDATE", 32: "TRUNCATE"}


def _rules_of_triggers() -> set[str]:
    """A trigger that only refuses is a rule; any other names its rules in its function."""
    rules: set[str] = set()
    for name, _, function, source in _rows(_TRIGGERS):
        rules |= {name} if function == "refuse" else set(re.findall(r"broken\('(\w+)'\)", source))
    return rules


def _refusing_triggers() -> set[tuple[str, str]]:
    found = [(name, kind) for name, kind, function, _ in _rows(_TRIGGERS) if function == "refuse"]
    return {(name, verb) for name, kind in found for bit, verb in _VERBS.items() if kind & bit}


def _rules_of_models() -> set[str]:
    models = (model for app in APPS for model in apps.get_app_config(app).get_models())
    return {constraint.name for model in models for constraint in model._meta.constraints}


def _rules_of_the_catalog() -> set[str]:
    """Checks and unique keys that somebody named; Django's own names begin with the app's."""
    ours = _rows(
        "SELECT tablename FROM pg_tables WHERE tablename ~ '^(blinding|annotation_app|adjudication)_'"
    )
    tables = {name for (name,) in ours}
    found = _rows(
        "SELECT conname, conrelid::regclass::text FROM pg_constraint WHERE contype IN ('c', 'u', 'x') AND conrelid <> 0"
    )
    return {
        name
        for name, table in found
        if table in tables and not name.startswith(tuple(f"{app}_" for app in APPS))
    }
