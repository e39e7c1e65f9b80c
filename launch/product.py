"""The product on its servers: tables, static files, first people, the worker and the web server."""

import hashlib
import os
import signal
import socket
import urllib.error
import urllib.request

from launch.instance import Instance
from launch.places import CHECKOUT, write_private
from launch.processes import Child
from launch.speech import Trouble, say
from launch.supervisor import Supervisor

HOST = "127.0.0.1"


def listening_socket(port: int) -> socket.socket:
    """Return a socket bound to `port` (0: any free one); Trouble when the port is taken.

    The web server inherits it, so nobody can take the port in between and a restart refuses nobody.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise Trouble(f"Port {port} is taken or not allowed; choose another one with --port.") from error
    return listener


def prepare(instance: Instance) -> None:
    """Bring tables and static files up to date."""
    instance.must_manage(["migrate", "--noinput", "-v", "0"], "The tables could not be made.")
    stamp = instance.folder.path / "static-collected"
    wanted = _static_fingerprint()
    if not stamp.exists() or stamp.read_text() != wanted:
        instance.must_manage(
            ["collectstatic", "--noinput", "-v", "0"], "Static files could not be collected."
        )
        write_private(stamp, wanted)


def make_administrator(instance: Instance) -> bool:
    """Make the site administrator whom the environment names; return whether it names one."""
    name = instance.environment.get("DJANGO_SUPERUSER_USERNAME")
    if not name:
        return False
    if not instance.environment.get("DJANGO_SUPERUSER_PASSWORD"):
        raise Trouble("Set DJANGO_SUPERUSER_PASSWORD beside DJANGO_SUPERUSER_USERNAME.")
    instance.environment.setdefault("DJANGO_SUPERUSER_EMAIL", f"{name}@localhost")
    code, output = instance.manage(["createsuperuser", "--noinput"], capture=True)
    if code == 0:
        say(f"Made the site administrator {name}.")
    elif "already taken" not in output:
        raise Trouble(f"The site administrator could not be made.\n{output}")
    return True


def load_demonstration(instance: Instance) -> str:
    """Load the demonstration once; return what it has to tell, again at every later start."""
    told = instance.folder.path / "demonstration"
    if told.exists():
        return told.read_text()
    if not any(CHECKOUT.glob("*/management/commands/load_demonstration.py")):
        return "This version has no demonstration."
    say("Loading the demonstration …")
    text = instance.must_manage(["load_demonstration"], "The demonstration could not be loaded.").strip()
    write_private(told, text)
    return text


def open_doors(instance: Instance, supervisor: Supervisor, listener: socket.socket) -> str:
    """Start the worker and the web server; return the address once every part is well."""
    address = f"http://{HOST}:{listener.getsockname()[1]}/"
    supervisor.start(worker(instance))
    supervisor.start(web(instance, listener))
    supervisor.wait_for(lambda: is_well(address), seconds=90, what="The product")
    return address


def worker(instance: Instance) -> Child:
    """Return the Celery worker with its beat. QUIT makes it drop what it does, and end its pool."""
    command = [str(instance.programs.python), "-m", "celery", "-A", "annotation_app", "worker", "--beat"]
    return Child(
        name="The worker",
        command=[*command, "--without-gossip", "--without-mingle"],
        environment=instance.environment,
        identity=instance.roles.product,
        cwd=CHECKOUT,
        log=instance.folder.logs / "worker.log",
        death_signal=signal.SIGQUIT,
        keep=instance.folder.inherited(),
    )


def web(instance: Instance, listener: socket.socket) -> Child:
    """Return the web server on a socket that is already bound."""
    workers = instance.environment.get("TWINBLIND_WEB_WORKERS", str(min(4, max(2, os.cpu_count() or 2))))
    sizes = ("--workers", workers, "--threads", "4", "--timeout", "120", "--graceful-timeout", "10")
    command = [str(instance.programs.python), "-m", "gunicorn", "annotation_app.wsgi", "--no-control-socket"]
    return Child(
        name="The web server",
        command=[*command, "--bind", f"fd://{listener.fileno()}", *sizes, "--log-level", "warning"],
        environment=instance.environment,
        identity=instance.roles.product,
        cwd=CHECKOUT,
        log=instance.folder.logs / "web.log",
        patience=15,
        keep=(*instance.folder.inherited(), listener.fileno()),
    )


def is_well(address: str) -> bool:
    """Return whether every part of the product answers."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"{address}health/", timeout=5
        ):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _static_fingerprint() -> str:
    """Return a digest that changes whenever the project's or a package's static files may have."""
    digest = hashlib.sha256((CHECKOUT / "requirements" / "runtime.txt").read_bytes())
    for file in sorted((CHECKOUT / "static").rglob("*")):
        if file.is_file():
            digest.update(f"{file}\0{file.stat().st_mtime_ns}\0{file.stat().st_size}\n".encode())
    return digest.hexdigest()
