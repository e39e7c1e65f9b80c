"""The commands of `./run`."""

import argparse
import contextlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from launch import product, venv
from launch.instance import instance_of, start_instance
from launch.places import DEFAULT_DATA, taken
from launch.speech import Trouble, say, warn
from launch.supervisor import Stopped, Supervisor, stoppable
from launch.testing import run_tests

USAGE = """\
  ./run [--port N] [--data DIR] [--no-demo]   start Twinblind
  ./run test [pytest's arguments]             run the tests on servers of their own
  ./run services [--data DIR]                 start only PostgreSQL and Valkey, and print their addresses
  ./run manage [--data DIR] COMMAND …         run a command of manage.py on the instance of a data folder
  ./run install [--test]                      only make .venv

DATABASE_URL and REDIS_URL name servers to use instead. DJANGO_SUPERUSER_USERNAME, _PASSWORD and _EMAIL make
a site administrator, who may create studies."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code. A trouble is a plain message and code 1."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    chosen = {"test": run_tests, "services": _services, "manage": _manage, "install": _install}.get(command)
    try:
        with stoppable():
            return chosen(rest) if chosen else _serve(arguments)
    except Trouble as trouble:
        warn(str(trouble))
        return 1
    except Stopped as stopped:
        # To be stopped is how serving ends; for everything else it is a failure, told as shells tell it.
        return 128 + stopped.number if chosen else 0


def _parser(
    *, formatter: type[argparse.HelpFormatter] = argparse.RawDescriptionHelpFormatter
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run",
        usage="./run [test | services | manage | install] [options]",
        epilog=USAGE,
        formatter_class=formatter,
    )
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, metavar="DIR", help="the data folder (var/)"
    )
    return parser


def _serve(arguments: Sequence[str]) -> int:
    parser = _parser()
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="the port on 127.0.0.1 (8000)")
    parser.add_argument("--no-demo", action="store_true", help="start empty")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(taken(options.data))
        listener = stack.enter_context(product.listening_socket(options.port))
        supervisor = stack.enter_context(Supervisor())
        instance = start_instance(folder, supervisor)
        product.prepare(instance)
        administrator = product.make_administrator(instance)
        story = "" if options.no_demo else product.load_demonstration(instance)
        address = product.open_doors(instance, supervisor, listener)
        say(f"\nTwinblind:  {address}\n")
        say(story or how_to_begin(administrator=administrator))
        say(f"\nLogs are in {folder.logs}. Ctrl+C stops everything.")
        supervisor.watch()
    return 0


def how_to_begin(*, administrator: bool) -> str:
    """Return what to do first on an empty instance."""
    if administrator:
        return "Sign in as the site administrator to create a study."
    return (
        "Nobody can sign in yet. Make a site administrator with\n"
        "  DJANGO_SUPERUSER_USERNAME=… DJANGO_SUPERUSER_PASSWORD=… ./run --no-demo\n"
        "or, while this runs, with\n"
        "  ./run manage createsuperuser"
    )


def _services(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    with taken(options.data) as folder, Supervisor() as supervisor:
        instance = start_instance(folder, supervisor)
        for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SECRET_KEY", "TWINBLIND_DATA"):
            say(f"export {name}={shlex.quote(instance.environment[name])}")
        supervisor.watch()
    return 0


def _manage(arguments: Sequence[str]) -> int:
    parser = _parser()
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    instance = instance_of(options.data)
    if instance is not None:
        return instance.manage(options.command)[0]
    with taken(options.data) as folder, Supervisor() as supervisor:
        return start_instance(folder, supervisor).manage(options.command)[0]


def _install(arguments: Sequence[str]) -> int:
    parser = _parser()
    parser.add_argument("--test", action="store_true", help="what the tests need, too")
    venv.install("test" if parser.parse_args(arguments).test else "runtime")
    return 0
