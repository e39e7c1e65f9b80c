"""The whole product under `./run`: its parts are killed one by one, and it comes back each time."""

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Callable

from tests.faults.launcher import Launcher, children_of, command_of, eventually, run

Start = Callable[..., Launcher]


def health(address: str) -> dict[str, str]:
    """Return what /health/ says about each part, empty when nobody answers."""
    try:
        with urllib.request.urlopen(f"{address}health/", timeout=15) as response:
            answer: dict[str, str] = json.load(response)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
    except (urllib.error.URLError, TimeoutError):
        return {}
    return answer


def is_well(address: str) -> bool:
    parts = health(address)
    return bool(parts) and set(parts.values()) == {"ok"}


def test_the_product_survives_the_death_of_its_parts(start: Start) -> None:
    launcher = start("--no-demo", "--port", "0")
    address = launcher.says(r"Twinblind:\s+(http://127\.0\.0\.1:\d+/)")
    launcher.says("Nobody can sign in yet")
    launcher.says("Ctrl\\+C stops everything")
    assert set(health(address)) == {"database", "broker", "worker", "migrations"}
    assert is_well(address)
    for program, name in (
        ("bin/postgres", "PostgreSQL"),
        ("valkey-server", "Valkey"),
        ("celery", "The worker"),
        ("gunicorn", "The web server"),
    ):
        victim = launcher.child(program)
        family = children_of(victim)
        os.kill(victim, signal.SIGKILL)
        launcher.says(f"{name} runs again")
        assert eventually(lambda: is_well(address), 60), (
            f"not well after the death of {name}: {health(address)}"
        )
        assert not [pid for pid in family if command_of(pid)], f"{name} left children behind"
    launcher.signal(signal.SIGKILL)
    assert launcher.leaves_nothing()
    assert health(address) == {}


def test_an_administrator_is_made_once_and_a_signal_ends_in_order(start: Start) -> None:
    who = {"DJANGO_SUPERUSER_USERNAME": "ada", "DJANGO_SUPERUSER_PASSWORD": "correct horse battery staple"}
    first = start("--no-demo", "--port", "0", **who)
    first.says("Made the site administrator ada")
    first.says("Sign in as the site administrator")
    query = (
        "from django.contrib.auth.models import User; "
        "print(*User.objects.values_list('username', 'is_superuser'))"
    )
    shell = run("manage", "--data", str(first.data), "shell", "--no-imports", "-c", query)
    assert shell.stdout.strip() == "('ada', True)"
    assert first.signal(signal.SIGTERM) == 0
    assert first.leaves_nothing()
    second = start("--no-demo", "--port", "0", **who)
    second.says("Sign in as the site administrator")
    assert not any("Made the" in line for line in second.lines)
