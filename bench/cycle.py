"""Prints how many items coders get through, next → submit, over REST and over pages, from a real gunicorn and PostgreSQL.

    python -m bench.cycle [--items 50000] [--clients 1,8,32] [--seconds 10] [--pause 2]

Every client is a coder with a list of their own in one study, and never rests; last, coders over pages read an item for
about `--pause` seconds before they submit, far less than people do. The same clients ask a Django view that does nothing
(no middleware, no database) under the same gunicorn; the ratio to it says what the product adds.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import uniform
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

import orjson

from bench.load import Ask, Script, Times, drive, request
from bench.servers import (
    as_product,
    busy_seconds,
    children_of,
    circumstances,
    own_instance,
    peak_of,
    percentile,
)
from launch import product
from launch.instance import Instance

CODERS = 32
WARM_UP = 2.0
SECRET = "c" * 32
_HIDDEN = re.compile(rb'name="submission_id" value="([^"]+)"')
_UID = re.compile(rb'data-record="([^"]+)"')

MakeScript = Callable[[int, float], Script]  # of coder number n, until a moment


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=2.0)
    options = parser.parse_args()
    levels = [int(number) for number in options.clients.split(",")]
    with own_instance() as (instance, supervisor):
        as_product()
        tokens, cookies = _coders(options.items)
        print(f"{options.items:,} outputs, {CODERS} coders; {circumstances()}")
        database = [
            child.process.pid for child in supervisor.children if child.process and child.name == "PostgreSQL"
        ]
        with _server(instance, bare=True) as web:
            bare = {n: _measure("bare view", _nothing, n, options.seconds, web, []) for n in levels}
        with _server(instance) as web:
            for name, script in (("REST", _over_rest(tokens)), ("pages", _over_pages(cookies))):
                for clients in levels:
                    # Others begin each time, so that nobody's list comes to its end.
                    tokens[:], cookies[:] = (
                        tokens[-clients:] + tokens[:-clients],
                        cookies[-clients:] + cookies[:-clients],
                    )
                    rate = _measure(name, script, clients, options.seconds, web, database)
                    print(
                        f"{'':11}{rate / bare[clients]:.2f} of the bare view; {_memory(web)}; {circumstances()}"
                    )
            reading = _over_pages(cookies, options.pause)
            for clients in levels:
                _measure("pages, read", reading, clients, max(30.0, options.seconds), web, database)


def _coders(items: int) -> tuple[list[str], list[str]]:
    """Make the study; return the coders' tokens and session cookies."""
    from django.conf import settings

    from bench.read_batch import items as rows
    from tests.factories import a_study

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    half = CODERS // 2
    started = perf_counter()
    members = {"primary_A": half, "primary_B": half}
    study = a_study(
        "cycle", protocol={"grace_minutes": 10}, members=members, phase="coding", outputs=list(rows(items))
    )
    print(f"study made in {perf_counter() - started:.0f} s")
    names = [name for name in study.names if name.startswith("primary_")]
    return [study.token(name) for name in names], [
        study.client(name).cookies["sessionid"].value for name in names
    ]


@dataclass(frozen=True)
class Web:
    port: int
    pid: int


@contextmanager
def _server(instance: Instance, *, bare: bool = False) -> Iterator[Web]:
    """Run the product's gunicorn, or the same gunicorn around a view that does nothing, until the block ends."""
    listener = product.listening_socket(0)
    child = product.web(instance, listener)
    if bare:
        command = ["bench.bare" if word == "annotation_app.wsgi" else word for word in child.command]
        child = replace(child, command=command, environment={**child.environment, "TWINBLIND_BARE": "1"})
    child.start()
    try:
        assert child.process is not None
        web = Web(listener.getsockname()[1], child.process.pid)
        _drive(_nothing, 8, 0.0, 0.5, web)  # answered once the workers have started
        yield web
    except BaseException:
        print(child.last_words(20))
        raise
    finally:
        child.stop()
        listener.close()


def _drive(script: MakeScript, clients: int, warm_up: float, seconds: float, web: Web) -> Times:
    end = perf_counter() + warm_up + seconds
    return drive([script(number, end) for number in range(clients)], ("127.0.0.1", web.port), warm_up)


def _measure(
    name: str, script: MakeScript, clients: int, seconds: float, web: Web, database: list[int]
) -> float:
    """Print rate, times and what of the processor a cycle takes; return cycles a second."""
    _drive(script, clients, 0.0, WARM_UP, web)
    before = _busy(web, database)
    times = _drive(script, clients, 0.0, seconds, web)
    used = [
        (after - start) / len(times.seconds["submit"]) * 1000
        for start, after in zip(before, _busy(web, database), strict=True)
    ]
    print(
        f"{name:<11} {clients:>2} clients {times.rate('submit'):>7.1f} cycles/s  {_spread(times)};"
        f" processor {used[0]:.2f} (web) + {used[1]:.2f} (database) ms a cycle"
    )
    return times.rate("submit")


def _busy(web: Web, database: list[int]) -> tuple[float, float]:
    sessions = [child for pid in database for child in children_of(pid)]
    return busy_seconds(children_of(web.pid)), busy_seconds(sessions)


def _spread(times: Times) -> str:
    parts = []
    for name, values in times.seconds.items():
        p50, p95 = (percentile(values, share) * 1000 for share in (0.5, 0.95))
        parts.append(f"{name} p50 {p50:.1f} p95 {p95:.1f} ms")
    return ", ".join(parts)


def _memory(web: Web) -> str:
    workers = [peak_of(child) // 1024 for child in children_of(web.pid)]
    return f"peak memory of its workers {' + '.join(map(str, workers))} MB"


def _nothing(number: int, end: float) -> Script:
    while perf_counter() < end:
        yield Ask("next", request("GET", "/", ""))
        yield Ask("submit", request("POST", "/", "", b"{}"))


def _over_rest(tokens: list[str]) -> MakeScript:
    def script(number: int, end: float) -> Script:
        who = f"Authorization: Token {tokens[number]}\r\n"
        base, answers = "/api/v1/studies/cycle/assignments/", None
        while perf_counter() < end:
            reply = yield Ask("next", request("GET", f"{base}next/", who))
            assert reply.status == 200, reply
            item = orjson.loads(reply.body)
            answers = answers or _answers(item)
            body = orjson.dumps({"fields": answers, "submission_id": os.urandom(16).hex()})
            reply = yield Ask("submit", request("POST", f"{base}{item['assignment_uid']}/record/", who, body))
            assert reply.status == 201, reply

    return script


def _over_pages(cookies: list[str], pause: float = 0.0) -> MakeScript:
    def script(number: int, end: float) -> Script:
        who = f"Cookie: sessionid={cookies[number]}; csrftoken={SECRET}\r\n"
        base, form = "/studies/cycle/annotate/", "application/x-www-form-urlencoded"
        answers = {"f1": "1", "f1-cluster": "C1", "f3": "1", "f4": "1", "f5": "1", "f6": "1", "f7": "0.5"}
        while perf_counter() < end:
            reply = yield Ask("next", request("GET", base, who))
            assert reply.status == 200, reply
            uid, submission = _found(_UID, reply.body), _found(_HIDDEN, reply.body)
            fields = answers | {
                "submission_id": submission,
                "base_version": "0",
                "csrfmiddlewaretoken": SECRET,
            }
            submission_of_item = request("POST", f"{base}{uid}/", who, urlencode(fields).encode(), form)
            reply = yield Ask("submit", submission_of_item, pause * uniform(0.5, 1.5))
            assert reply.status == 302, reply

    return script


def _found(pattern: re.Pattern[bytes], page: bytes) -> str:
    match = pattern.search(page)
    assert match is not None, page[:500]
    return match[1].decode()


def _answers(item: dict[str, Any]) -> dict[str, Any]:
    from tests.factories import _answers as answers_of

    return answers_of(item["form"], lambda key, options: 0) | {"f1-cluster": "C1", "f1": "1"}


if __name__ == "__main__":
    main()
