"""The device pool of a fabric: Nornir with the inventory of this program, and what connects to each device."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from nornir.core import Nornir

from ailb_gen.deploy.credentials import SecretCache, resolve
from ailb_gen.deploy.device_pool import DevicePool, Runner
from ailb_gen.deploy.hostkeys import HostKeys, host_key_error, paramiko_host_keys
from ailb_gen.deploy.inventory import to_nornir
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.servers.ssh import SshServer
from ailb_gen.deploy.switch import DeviceError, Phase
from ailb_gen.errors import AilbError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.deploy.credentials import Credentials
    from ailb_gen.deploy.hostkeys import Endpoint
    from ailb_gen.deploy.inventory import Inventory, Target

# What they log holds whole configurations, and paramiko's threads print their tracebacks where nobody handles them.
LIBRARIES = ("asyncssh", "jnpr", "napalm", "ncclient", "paramiko")


@dataclass(slots=True)
class Access:
    """How devices are reached: the driver for switches, how many at once, host keys, secrets once resolved."""

    driver: str = "napalm"
    jobs: int = 20
    hostkeys: HostKeys = field(default_factory=HostKeys)
    secrets: SecretCache = field(default_factory=SecretCache)


@contextmanager
def fleet(inventory: Inventory, access: Access) -> Iterator[DevicePool]:
    """Give the pool of all managed devices; no connection is left when it is done."""
    _silence()
    makers: dict[str, Callable[[], Any]] = {
        target.name: partial(_Connection, target, access) for target in inventory.managed
    }
    pool = DevicePool(Nornir(to_nornir(inventory), runner=Runner(access.jobs, access.hostkeys.stop)), makers)
    try:
        yield pool
    except Exception as error:
        access.secrets.redactor.clean(error)
        raise
    finally:
        pool.close(makers)


def _silence() -> None:
    """Let what the libraries log go nowhere, unless somebody handles their loggers themselves."""
    for logger in map(logging.getLogger, LIBRARIES):
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


class _Connection:
    """A device that is resolved and connected when it is opened: credentials, host key, driver."""

    def __init__(self, target: Target, access: Access) -> None:
        self.target, self.access = target, access
        self.device: Any = None

    def open(self) -> Any:
        """Connect and return the device. Raises DeviceError."""
        name = self.target.name
        try:
            credentials = resolve(self.target.login, self.access.secrets)
            endpoint = self.access.hostkeys.endpoint(self.target)
        except AilbError as error:
            raise DeviceError(name, Phase.CONNECT, str(error).removeprefix(f"{name}: ")) from error
        device = self._device(credentials, endpoint)
        try:
            device.open()
        except DeviceError as error:
            found = host_key_error(endpoint, error)
            if found is None:
                raise
            raise DeviceError(name, Phase.CONNECT, str(found).removeprefix(f"{name}: ")) from error
        return device

    def _device(self, credentials: Credentials, endpoint: Endpoint) -> Any:
        target, options = self.target, self.target.options
        reach = SshReach(
            target.name,
            endpoint.route.hostname,
            target.port,
            credentials,
            paramiko_host_keys(endpoint),
            options.connect_timeout_s,
            endpoint.route.user,
            endpoint.route.identity_files,
            endpoint.route.proxy_command,
            target.kind,
            endpoint.stop,
        )
        if target.kind == "server":
            return SshServer(reach)
        # Importing the drivers changes `json` and PyYAML for the whole process: only when a switch is connected to.
        from ailb_gen.deploy.drivers import DRIVERS, Reach  # noqa: PLC0415

        return DRIVERS[self.access.driver](Reach(reach, options.timeout_s, options.keepalive_s))
