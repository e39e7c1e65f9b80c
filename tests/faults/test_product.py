"""The whole product under `./run`: its parts are killed one by one, and it comes back each time."""

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Callable

from tests.faults.launcher import Launcher, children_of, command_of, eventually, run

Start = Callable[..., Launcher]

# What each child runs, and what the launcher calls it.
PARTS = {
    "bin/postgres": "PostgreSQL",
    "valkey-server": "Valkey",
    "celery": "The worker",
    "gunicorn": "The web server",
}
ADMINISTRATOR = {
    "DJANGO_SUPERUSER_USERNAME": "ada",
    "DJANGO_SUPERUSER_PASSWORD": "correct horse battery staple",
}
ADMINISTRATORS = (
    "from django.contrib.auth.models import User; "
    "print(*User.objects.values_list('username', 'is_superuser'))"
)


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


def test_the_product_survives_the_death_of_its_parts_and_of_its_launcher(start: Start) -> None:
    first = start("--no-demo", "--port", "0", **ADMINISTRATOR)
    first.says("Made the site administrator ada")
    address = first.says(r"Twinblind:\s+(http://127\.0\.0\.1:\d+/)")
    first.says("Ctrl\\+C stops everything")
    assert set(health(address)) == {"database", "broker", "worker", "migrations"}
    assert is_well(address)
    for program, name in PARTS.items():
        victim = first.child(program)
        family = children_of(victim)
        os.kill(victim, signal.SIGKILL)
        first.says(f"{name} runs again")
        assert eventually(lambda: is_well(address), 60), f"after the death of {name}: {health(address)}"
        assert not [pid for pid in family if command_of(pid)], f"{name} left children behind"
    first.signal(signal.SIGKILL)
    assert first.leaves_nothing()
    assert health(address) == {}

    second = start("--no-demo", "--port", "0", **ADMINISTRATOR)
    second.says("Sign in as the site administrator")
    assert not any("Made the" in line for line in second.lines)
    shell = run("manage", "--data", str(second.data), "shell", "--no-imports", "-c", ADMINISTRATORS)
    assert shell.stdout.strip() == "('ada', True)"
    assert second.signal(signal.SIGTERM) == 0
    assert second.leaves_nothing()
