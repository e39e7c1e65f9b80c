"""One instance: its data folder, its servers, and the commands of manage.py run against them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launch import venv
from launch.identity import Roles
from launch.places import CHECKOUT, DataFolder, write_private
from launch.processes import complete
from launch.servers import Servers, base_environment, choose_roles, given_addresses
from launch.speech import Trouble
from launch.supervisor import Supervisor


@dataclass(frozen=True)
class Instance:
    """Servers that run, who the product runs as, and the environment it gets."""

    folder: DataFolder
    programs: venv.Programs
    roles: Roles
    environment: dict[str, str]

    def manage(self, arguments: Sequence[str], *, capture: bool = False) -> tuple[int, str]:
        """Run a command of manage.py as the product; return its code and what it printed, when captured."""
        return complete(
            [str(self.programs.python), "manage.py", *arguments],
            environment=self.environment,
            identity=self.roles.product,
            cwd=CHECKOUT,
            capture=capture,
            keep=self.folder.inherited(),
        )

    def must_manage(self, arguments: Sequence[str], failure: str) -> str:
        """Run a command of manage.py that has to succeed; return what it printed."""
        code, output = self.manage(arguments, capture=True)
        if code != 0:
            raise Trouble(f"{failure}\n{output[-4000:]}")
        return output


def start_instance(folder: DataFolder, supervisor: Supervisor, *, volatile: bool = False) -> Instance:
    """Start the servers on a folder that is taken, and return what runs on them."""
    venv.install("runtime")
    programs = venv.find_programs()
    roles = choose_roles(programs, folder)
    folder.furnish(roles.servers)
    environment = base_environment(folder)
    addresses = given_addresses()
    if addresses is None:
        servers = Servers(programs, folder, roles.servers, environment, supervisor, volatile=volatile)
        addresses = servers.start()
    key = environment.get("DJANGO_SECRET_KEY") or folder.secret("secret-key")
    own = addresses.variables() | {"DJANGO_SECRET_KEY": key}
    write_private(folder.instance, json.dumps(own))
    return Instance(folder, programs, roles, environment | own)


def instance_of(data: Path) -> Instance | None:
    """Return the instance that another launcher runs on `data`, None when none does."""
    folder = DataFolder(data.resolve())
    if not folder.is_held():
        return None
    try:
        environment = base_environment(folder) | json.loads(folder.instance.read_text())
    except FileNotFoundError as error:
        raise Trouble("Twinblind is still starting; try again in a moment.") from error
    except PermissionError as error:
        raise Trouble(f"Only the user who started Twinblind on {data} can do this.") from error
    programs = venv.find_programs()
    return Instance(folder, programs, choose_roles(programs, folder), environment)
