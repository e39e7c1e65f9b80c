"""Where the servers are: addresses from the environment become what Django and Celery expect."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ


def database_config(url: str, *, pool_size: int, test_name: str | None = None) -> dict[str, Any]:
    """Return Django's settings of one PostgreSQL database; a pool of `pool_size` connections unless it is 0.

    The address may carry options of its own (a socket folder as `?host=/folder`), which are kept.
    """
    config: dict[str, Any] = environ.Env.db_url_config(url)
    options = dict(config.get("OPTIONS", {}))
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 5}
    test = {"NAME": test_name} if test_name else {}
    return config | {"OPTIONS": options, "CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True, "TEST": test}


def broker_url(url: str) -> str:
    """Return Celery's spelling of a Redis address: it names unix sockets differently than redis-py does."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"
